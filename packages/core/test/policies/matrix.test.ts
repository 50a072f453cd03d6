// `timeoutMs` on each kind of member: each two of kind, style, revision and transport meet at least once.
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Completion, type Context, type McpError, McpServer, NoInput, Prompt, Resource, Tool } from '@decorum/core';
import { connect, revisions, type TestClient, type Via } from '@decorum/testing';
import { IsString } from 'class-validator';

import { SILENT, turn } from '../kernel/serving.js';

class Item {
  @IsString() id!: string;
}

let act: (ctx: Context) => unknown = () => '';

class Work {
  @Tool() tool(_input: NoInput, ctx: Context) {
    return act(ctx);
  }

  @Prompt() prompt(_input: NoInput, ctx: Context) {
    return act(ctx);
  }

  @Resource('work://fixed') resource(_input: NoInput, ctx: Context) {
    return act(ctx);
  }

  @Resource('work://items/{id}') template(_input: Item, ctx: Context) {
    return act(ctx);
  }

  @Completion({ for: 'template', argument: 'id' }) completion(_typed: string, ctx: Context): string[] {
    return act(ctx) as string[];
  }
}

const CALLS = {
  tool: async (client: TestClient) => await client.callTool('tool'),
  prompt: async (client: TestClient) => await client.getPrompt('prompt'),
  resource: async (client: TestClient) => await client.readResource('work://fixed'),
  template: async (client: TestClient) => await client.readResource('work://items/7'),
  completion: async (client: TestClient) =>
    await client.complete({ resource: 'work://items/{id}' }, { name: 'id', value: '7' }),
};

const STYLES = ['sync', 'async', 'generator', 'question'] as const;
const TRANSPORTS: readonly Via[] = ['memory', 'stdio', 'http'];
type Kind = keyof typeof CALLS;
type Case = readonly [kind: Kind, style: (typeof STYLES)[number], revision: string, via: Via];

/** Completions are neither generators, nor do they ask. */
const fits = ([kind, style]: Case) => kind !== 'completion' || style === 'sync' || style === 'async';

const ALL = (Object.keys(CALLS) as Kind[]).flatMap((kind) =>
  revisions.flatMap((revision) =>
    STYLES.flatMap((style) => TRANSPORTS.map((via): Case => [kind, style, revision, via])),
  ),
);

/** The pairs of values in a case. */
const pairsOf = (values: Case) =>
  values.flatMap((one, i) => values.slice(i + 1).map((other, j) => `${i} ${one} ${i + j + 1} ${other}`));

/** Takes the case with the most new pairs, until all pairs are there. */
function pairwise(all: readonly Case[]): Case[] {
  const left = new Set(all.flatMap(pairsOf));
  const taken: Case[] = [];
  const gain = (each: Case) => pairsOf(each).filter((pair) => left.has(pair)).length;
  while (left.size > 0) {
    const best = all.reduce((one, other) => (gain(other) > gain(one) ? other : one));
    taken.push(best);
    for (const pair of pairsOf(best)) left.delete(pair);
  }
  return taken;
}

function deferred() {
  let resolve = () => {};
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}

const never = () => new Promise<never>(() => {});

const opened: { close(options?: object): Promise<unknown> }[] = [];

afterEach(async () => {
  jest.useRealTimers();
  for (const each of opened.splice(0)) await each.close({ deadlineMs: 1 });
});

describe('timeoutMs', () => {
  it.each(pairwise(ALL.filter(fits)))('limits a %s, %s, in %s over %s', async (kind, style, revision, via) => {
    const begun = deferred();
    const asked = deferred();
    const hang = async () => (begun.resolve(), await never());
    const acts: Record<Case[1], typeof act> = {
      sync: () => (kind === 'completion' ? ['at once'] : 'at once'),
      async: hang,
      async *generator() {
        yield 'part';
        await hang();
      },
      async question(ctx) {
        await ctx.sample({ messages: [], maxTokens: 9 });
        return await hang();
      },
    };
    act = acts[style];
    const onSample = async () => {
      asked.resolve();
      await new Promise((resolve) => setTimeout(resolve, 5000));
      return { role: 'assistant' as const, content: { type: 'text' as const, text: 'yes' }, model: 'test' };
    };
    const server = new McpServer({ name: 'test', version: '1', logger: SILENT, providers: [Work], timeoutMs: 1000 });
    const client = await connect(server, { via, revision, onSample });
    opened.push(client, server);
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    let isAnswered = false;
    const answer = CALLS[kind](client)
      .then(
        (result) => JSON.stringify(result),
        ({ code, message }: McpError) => `${code} ${message}`,
      )
      .finally(() => (isAnswered = true));
    if (style !== 'sync') {
      if (style === 'question') {
        await asked.promise;
        await jest.advanceTimersByTimeAsync(5000);
      }
      await begun.promise;
      await jest.advanceTimersByTimeAsync(style === 'question' ? 990 : 999);
      await turn();
      expect(isAnswered).toBe(false);
      await jest.advanceTimersByTimeAsync(style === 'question' ? 10 : 1);
    }
    const name = kind === 'template' ? 'resource' : kind;
    const late =
      kind === 'tool' ? `The ${name} did not finish within 1 s` : `-32603 The ${name} did not finish within 1 s`;
    expect(await answer).toContain(style === 'sync' ? 'at once' : late);
  });
});
