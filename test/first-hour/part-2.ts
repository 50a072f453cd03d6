import { PassThrough } from 'node:stream';

import { expect } from '@jest/globals';

import { Context, type ErrorRules, McpServer, NoInput, Prompt, Resource, serveStdio, user } from '@decorum/core';
import { fetchHandler, type FetchHandlerOptions } from '@decorum/http/fetch';
import { connect, type ConnectOptions } from '@decorum/testing';
import { IsString } from 'class-validator';

import { type Behaviour, codeOf, serverOf, untyped } from './table.js';

type Handler = (input: NoInput, ctx: Context) => unknown;

const quiet = { logger: { warn() {}, error() {} } };

function serverWith(handler: Handler, options: object = {}): McpServer {
  const server = serverOf([], { ...quiet, ...options });
  server.addTool({ name: 'run' }, (input, ctx) => handler(input, ctx));
  return server;
}

/** The result of a tool that returns what this function returns. */
async function resultOf(handler: Handler, options: object = {}, client: ConnectOptions = {}) {
  return await (await connect(serverWith(handler, options), client)).callTool('run');
}

const textOf = async (...args: Parameters<typeof resultOf>) => {
  const [block] = (await resultOf(...args)).content;
  return block?.type === 'text' ? block.text : block;
};

const text = (value: string) => ({ type: 'text', text: value });

/** A server's responses to these lines over stdio. */
async function piped(lines: readonly string[], count: number): Promise<unknown[]> {
  const streams = { input: new PassThrough(), output: new PassThrough().setEncoding('utf8') };
  const { close } = await serveStdio(
    serverWith(() => 'done'),
    streams,
  );
  streams.input.write(lines.map((line) => `${line}\n`).join(''));
  const answers: unknown[] = [];
  for await (const chunk of streams.output) {
    answers.push(
      ...String(chunk)
        .trim()
        .split('\n')
        .flatMap((line) => JSON.parse(line) as unknown),
    );
    if (answers.length >= count) break;
  }
  await close();
  return answers;
}

/** Calls the tool over HTTP, without a session. */
async function posted(server: McpServer, options: FetchHandlerOptions = {}, headers: Record<string, string> = {}) {
  const prefix = 'io.modelcontextprotocol/';
  const meta = {
    [`${prefix}protocolVersion`]: '2026-07-28',
    [`${prefix}clientInfo`]: { name: 'test', version: '1.0.0' },
    [`${prefix}clientCapabilities`]: {},
  };
  const handle = fetchHandler(server, options);
  const response = await handle(
    new Request('http://localhost:3000/mcp', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': 'run',
        ...headers,
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'run', arguments: {}, _meta: meta },
      }),
    }),
  );
  return { handle, response };
}

class NotFoundError extends Error {}

/** Part 2: results of handlers. */
export const PART_2: readonly Behaviour[] = [
  [
    '1. A result as users of the official SDK write it is sent as it is.',
    () => resultOf(() => ({ content: [{ type: 'text', text: 'none left' }], isError: true })),
    { content: [text('none left')], isError: true },
  ],
  [
    '1. An error that is returned is masked, as one that is thrown.',
    () => textOf(() => new Error('secret')),
    expect.stringMatching(/^Internal error \(reference \w+\)$/),
  ],
  ['1. A Map is an object.', () => textOf(() => new Map([['a', 1]])), '{"a":1}'],
  ['1. A Set is a list.', () => textOf(() => new Set([1, 2])), '[1,2]'],
  ['1. A URL is its text.', () => textOf(() => new URL('https://example.com/a')), 'https://example.com/a'],
  ['1. A nested bigint is its digits.', () => textOf(() => ({ count: 10n })), '{"count":"10"}'],
  ['1. A Response is its body.', () => textOf(() => new Response('body')), 'body'],
  ['1. A Blob is its text.', () => textOf(() => new Blob(['blob'], { type: 'text/plain' })), 'blob'],
  [
    '1. A generator is drained, and what it returns is the result.',
    () =>
      textOf(function* run() {
        yield 1;
        return 'drained';
      }),
    'drained',
  ],
  [
    '1. A cycle is an error, and never `{}`.',
    async () => {
      const cycle: { self?: object } = {};
      cycle.self = cycle;
      return (await resultOf(() => cycle)).isError;
    },
    true,
  ],
  [
    '2. A resource that is null is not found.',
    () => {
      class Notes {
        @Resource('notes://one') one() {
          return null;
        }
      }
      return codeOf(async () => await (await connect(serverOf([Notes]))).readResource('notes://one'));
    },
    -32002,
  ],
  [
    '2. A `list` method may return URIs and entries, and a bad entry is left out.',
    async () => {
      class NoteId {
        @IsString() id!: string;
      }
      class Notes {
        @Resource('notes://{id}', { list: 'all' }) note({ id }: NoteId) {
          return id;
        }
        all() {
          return ['notes://one', { uri: 'notes://two', name: 'Two' }, 5];
        }
      }
      const listed = await (await connect(serverOf([Notes], quiet))).listResources();
      return listed.map(({ uri, name }) => [uri, name]);
    },
    [
      ['notes://one', 'notes://one'],
      ['notes://two', 'Two'],
    ],
  ],
  [
    '3. A prompt message may have a text as content.',
    async () => {
      class Shop {
        @Prompt() ask() {
          return [{ role: 'user', content: 'Which book?' }, user('Any.')];
        }
      }
      return (await (await connect(serverOf([Shop]))).getPrompt('ask')).messages;
    },
    [
      { role: 'user', content: text('Which book?') },
      { role: 'user', content: text('Any.') },
    ],
  ],
  [
    '3. A prompt message of another role is not sent.',
    () => {
      class Shop {
        @Prompt() ask() {
          return [{ role: 'system', content: 'Be brief.' }];
        }
      }
      return codeOf(async () => await (await connect(serverOf([Shop], quiet))).getPrompt('ask'));
    },
    -32603,
  ],
  [
    '4. `ctx.once` gives what JSON keeps, in sessions too.',
    () => textOf(async (_input, ctx) => typeof (await ctx.once('now', () => new Date(0)))),
    'string',
  ],
  [
    '4. `ctx.once` gives what JSON keeps, without a session.',
    () => textOf(async (_input, ctx) => typeof (await ctx.once('now', () => new Date(0))), {}, { era: 'stateless' }),
    'string',
  ],
  [
    '5. `errors` maps a class of errors to a message.',
    () => {
      const errors: ErrorRules<[NotFoundError]> = [[NotFoundError, ({ message }) => `There is no ${message}.`]];
      return textOf(
        () => {
          throw new NotFoundError('book');
        },
        { errors },
      );
    },
    'There is no book.',
  ],
  [
    '5. An error with `expose` shows its message.',
    () => textOf(() => Object.assign(new Error('Sold out'), { expose: true })),
    'Sold out',
  ],
  [
    '6. A long call that says nothing becomes a stream with comments.',
    async () => {
      let finish: (value: string) => void = () => {};
      const server = serverWith(() => new Promise((resolve) => (finish = resolve)));
      const { handle, response } = await posted(server, { keepAliveMs: 5 });
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
      const first = await reader?.read();
      finish('done');
      await handle.close();
      return [response.headers.get('content-type'), first?.value?.startsWith(':')];
    },
    ['text/event-stream', true],
  ],
  // Answer and notification in one chunk: packages/core/test/kernel/roots.test.ts.
  [
    '7. `ctx.roots()` asks each time where the client does not say when roots change.',
    async () => {
      let asked = 0;
      const roots = () => [{ uri: `file:///${++asked}` }];
      const server = serverWith(async (_input, ctx) => (await ctx.roots()).map(({ uri }) => uri));
      const client = await connect(server, { onRoots: roots, capabilities: { roots: {} } });
      await client.callTool('run');
      await client.callTool('run');
      return asked;
    },
    2,
  ],
  // In sessions: packages/http/test/close.test.ts.
  [
    '8. A streaming call past the deadline of a close gets an error before its stream ends.',
    async () => {
      const server = serverWith(async (_input, ctx) => {
        ctx.progress(1);
        await new Promise(() => {});
      });
      const { response } = await posted(server, { keepAliveMs: 5 });
      await server.close({ deadlineMs: 1 });
      return (await response.text()).includes('"error"');
    },
    true,
  ],
  [
    '9. An invalid answer of the client is an error of the client.',
    async () => {
      const answer = () => ({ role: 'root', content: { type: 'text', text: 'hi' } });
      const run: Handler = async (_input, ctx) => await ctx.sample({ messages: [], maxTokens: 5 });
      const { isError } = await resultOf(run, {}, { onSample: untyped(answer) as never });
      return isError;
    },
    true,
  ],
  [
    '10. A message with an id and without a method is answered without the id.',
    () => piped(['{"jsonrpc":"2.0","id":5}'], 1),
    [expect.objectContaining({ jsonrpc: '2.0', error: expect.objectContaining({ code: -32600 }) })],
  ],
  [
    '10. Of two requests of one batch with the same id, the first is served, and the other gets an error.',
    async () => {
      const ping = { jsonrpc: '2.0', id: 2, method: 'ping' };
      const params = { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
      const hello = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
      const [, ...answers] = await piped([hello, JSON.stringify([ping, ping])], 3);
      return answers;
    },
    [
      expect.objectContaining({ id: 2, result: {} }),
      expect.objectContaining({ error: expect.objectContaining({ code: -32600 }) }),
    ],
  ],
  [
    '11. Credentials are not among the headers that a handler sees.',
    async () => {
      const server = serverWith((_input, ctx) => Object.keys(ctx.transport.headers ?? {}));
      const secret = { 'x-api-key': 'secret', 'x-my-token': 'secret', 'x-other': 'public' };
      const { response } = await posted(server, { credentialHeaders: ['x-my-token'] }, secret);
      const body = await response.text();
      return ['x-api-key', 'x-my-token', 'x-other'].map((name) => body.includes(name));
    },
    [false, false, true],
  ],
  [
    '12. `text: false` sends structured content without a text.',
    async () => {
      const output = { type: 'object', properties: { count: { type: 'integer' } } };
      const server = serverOf([]);
      server.addTool({ name: 'run', output, text: false }, () => ({ count: 1 }));
      return await (await connect(server)).callTool('run');
    },
    { content: [], structuredContent: { count: 1 } },
  ],
];
