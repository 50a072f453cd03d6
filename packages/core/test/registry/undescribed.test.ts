import { afterEach, expect, it } from '@jest/globals';
import { McpServer, NoInput, Prompt, Resource, Tool } from '@decorum/core';
import { connect } from '@decorum/testing';

class Shop {
  @Tool({ description: 'Finds an article' }) find() {}

  @Tool() buy() {}

  @Tool({ description: 'TODO: say what it does' }) sell() {}

  @Prompt({ description: 'todo' }) ask() {
    return '';
  }

  @Prompt() greet() {
    return '';
  }

  @Resource('docs://readme') readme() {
    return '';
  }
}

const { NODE_ENV } = process.env;
afterEach(() => {
  process.env['NODE_ENV'] = NODE_ENV;
});

/** What a server tells its author when its transports open. */
async function warnings(environment: string | undefined, providers = [Shop], more: readonly string[] = []) {
  if (environment === undefined) delete process.env['NODE_ENV'];
  else process.env['NODE_ENV'] = environment;
  const warned: string[] = [];
  const logger = { warn: (_: object, message: string) => warned.push(message), error: () => {} };
  const server = new McpServer({ name: 'test', version: '1', logger, providers });
  for (const name of more) server.addTool({ name, input: NoInput }, () => {});
  await connect(server);
  await connect(server);
  await server.close();
  return warned;
}

it('warns once of tools without a description, and of descriptions to do (#23)', async () => {
  const warning =
    'Members with no description: Shop.buy; with a description that begins with TODO: Shop.sell, Shop.ask. Models choose tools by their descriptions. Set `description` in the decorator.';
  expect(await warnings(undefined)).toEqual([warning]);
  expect(await warnings('development')).toEqual([warning]);
});

it('names a few of many (#23)', async () => {
  const [warning] = await warnings('development', [], ['a', 'b', 'c', 'd', 'e', 'f', 'g']);
  expect(warning).toMatch(/no description: addTool\.a, addTool\.b, .*addTool\.e and 2 more\./);
});

it.each(['production', 'test'])('is silent in %s (#23)', async (environment) => {
  expect(await warnings(environment)).toEqual([]);
});

it('is silent if all is described (#23)', async () => {
  class Clock {
    @Tool({ description: 'Tells the time' }) now() {}
  }
  expect(await warnings('development', [Clock as never])).toEqual([]);
});
