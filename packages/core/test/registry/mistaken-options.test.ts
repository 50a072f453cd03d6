import { PassThrough } from 'node:stream';

import { describe, expect, it } from '@jest/globals';
import {
  connectMemory,
  health,
  McpServer,
  rateLimit,
  sanitize,
  serveStdio,
  type StdioOptions,
  Tool,
} from '@decorum/core';
import { connect } from '@decorum/testing';

class Shop {
  @Tool()
  search() {
    return '';
  }
}

const INVALID = expect.objectContaining({ code: 'DECORUM_INVALID_OPTION' }) as unknown as Error;
const start = (options: object) => () => new McpServer({ name: 'shop', version: '1.0.0', ...options });

describe('options of a server', () => {
  it.each([
    ['provider', 'providers'],
    ['Providers', 'providers'],
    ['instruction', 'instructions'],
    ['interceptor', 'interceptors'],
    ['onerror', 'onError'],
    ['resolver', 'resolve'],
    ['pagesize', 'pageSize'],
    ['secrets', 'secret'],
  ])('that are misspelt fail at startup with a suggestion: %s', (wrong, meant) => {
    expect(start({ [wrong]: [] })).toThrow(INVALID);
    expect(start({ [wrong]: [] })).toThrow(`McpServer: \`${wrong}\` is not an option. Write \`${meant}\`.`);
  });

  it('that are unknown fail at startup with the valid ones', () => {
    expect(start({ tools: [] })).toThrow(
      'McpServer: `tools` is not an option. Remove it, or use one of name, version, ',
    );
    expect(start({ tools: [] })).toThrow('providers, ');
  });

  it('cannot be left out', () => {
    const untyped = McpServer as unknown as new (options?: unknown) => McpServer;
    const remedy = "Write `new McpServer({ name: 'shop', version: '1.0.0', providers: [Shop] })`.";
    for (const options of [undefined, null, 'shop', [], {}, { name: 'shop' }, { version: '1' }]) {
      expect(() => new untyped(options)).toThrow(INVALID);
      expect(() => new untyped(options)).toThrow(remedy);
    }
  });

  it('require `resolve` to be a function', () => {
    const ending = 'Write `resolve: (cls) => container.resolve(cls)`.';
    expect(start({ providers: [Shop], resolve: new Map() })).toThrow(ending);
  });
});

describe('options of `health`', () => {
  it.each([
    ['livePath', 'alive', '/alive'],
    ['readyPath', 'ready', '/ready'],
    ['livePath', '/:any', '/healthz'],
    ['readyPath', '/a?b', '/readyz'],
  ])('that are no path of a route are named: %s %j (#22)', (option, path, meant) => {
    const message = `health: \`${option}\` is "${path}". A path begins with "/"`;
    expect(() => health({ [option]: path })).toThrow(message);
    expect(() => health({ [option]: path })).toThrow(`Write "${meant}". [DECORUM_INVALID_OPTION]`);
  });
});

describe('options of an extension', () => {
  it.each([
    ['method', 'methods'],
    ['setting', 'settings'],
  ])('that are misspelt fail at startup with a suggestion: %s (#22)', (wrong, meant) => {
    const extensions = [{ id: 'com.example/tasks', [wrong]: {} }];
    const message = `The extension "com.example/tasks": \`${wrong}\` is not an option. Write \`${meant}\`.`;
    expect(start({ extensions })).toThrow(INVALID);
    expect(start({ extensions })).toThrow(message);
    expect(start({ plugins: [{ name: 'tasks', extensions }] })).toThrow(message);
  });
});

describe('options of `addTool`', () => {
  const server = new McpServer({ name: 'shop', version: '1.0.0' });
  const add = server.addTool.bind(server) as unknown as (options?: unknown, handler?: unknown) => void;

  it('that are misspelt fail with a suggestion', () => {
    const run = () => add({ name: 'search', descripton: 'Searches' }, () => '');
    expect(run).toThrow('addTool.search: `descripton` is not an option. Write `description`.');
  });

  it('require a name and a handler', () => {
    for (const args of [[], ['search', () => ''], [{}, () => ''], [{ name: 'search' }], [{ name: 'search' }, 'text']]) {
      expect(() => add(...args)).toThrow(INVALID);
      expect(() => add(...args)).toThrow("Write `addTool({ name: 'lookup' }, (input, ctx) => …)`.");
    }
  });
});

describe('options of interceptors', () => {
  it('that are misspelt fail with a suggestion', () => {
    const consume = () => Promise.resolve();
    expect(() => rateLimit({ consume }, { off: () => '' } as object)).toThrow(
      'rateLimit: `off` is not an option. Write `of`.',
    );
    expect(() => sanitize({ txt: String } as object)).toThrow('sanitize: `txt` is not an option. Write `text`.');
  });
});

describe('options of the client for tests', () => {
  it('that are misspelt fail with a suggestion', async () => {
    const connected = connect(start({})(), { onRoot: () => [] } as object);
    await expect(connected).rejects.toThrow('connect: `onRoot` is not an option. Write `onRoots`.');
  });
});

describe('options of `serveStdio`', () => {
  it('that are misspelt fail with a suggestion, and leave stdout alone', async () => {
    const { write } = process.stdout;
    const options = { input: new PassThrough(), output: new PassThrough(), drainMS: 5 } as StdioOptions;
    const started = serveStdio(start({})(), options);
    await expect(started).rejects.toThrow('serveStdio: `drainMS` is not an option. Write `drainMs`.');
    expect(process.stdout.write).toBe(write);
  });
});

describe('a transport', () => {
  it('requires a server', async () => {
    const streams = { input: new PassThrough(), output: new PassThrough() };
    for (const given of [undefined, null, {}, McpServer]) {
      for (const opened of [
        serveStdio(given as unknown as McpServer, streams),
        connectMemory(given as unknown as McpServer, { receive: () => {} }),
      ]) {
        await expect(opened).rejects.toThrow(INVALID);
        await expect(opened).rejects.toThrow('Pass what `new McpServer({ … })` returns.');
      }
    }
  });
});
