// Headers of stateless requests in every round of questions, for members of every kind, however they are served.
import { describe, expect } from '@jest/globals';
import { type Context, type JsonObject, McpServer, NoInput, Prompt, Resource, Tool } from '@decorum/core';
import { listen, type ListenOptions } from '@decorum/http';

import { afterwards, json } from '../../packages/http/test/fixture.js';
import type { Message } from '../support/raw-client.js';
import { eachRevision, STATELESS } from '../support/requirements.js';
import { HttpClient } from '../support/http-client.js';

type Changes = Record<string, string | undefined>;

const base64 = (text: string) => `=?base64?${Buffer.from(text).toString('base64')}?=`;

const INPUT = { type: 'object', properties: { x: { type: 'string' } } };
const MIRRORED = { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } };

const ask = async (context: Context) => ((await context.confirm('Sure?')) ? 'done' : 'left');
const access = async () => await Promise.resolve(true);

/** Members whose handlers ask the client. */
class Asking {
  @Tool({ input: MIRRORED })
  tool(_input: object, context: Context) {
    return ask(context);
  }

  @Tool({ input: MIRRORED, access })
  guarded(_input: object, context: Context) {
    return ask(context);
  }

  @Prompt({ input: INPUT, access })
  prompt(_input: object, context: Context) {
    return ask(context);
  }

  @Resource('ask://fixed')
  fixed(_input: NoInput, context: Context) {
    return ask(context);
  }

  @Resource('ask://in/{x}', { input: INPUT, access })
  template(_input: object, context: Context) {
    return ask(context);
  }
}

/** The requests, with the headers that they need besides those of every request. */
const REQUESTS: readonly (readonly [method: string, params: JsonObject, headers: Changes])[] = [
  ['tools/call', { name: 'tool', arguments: { region: 'eu' } }, { 'mcp-name': 'tool', 'mcp-param-region': 'eu' }],
  [
    'tools/call',
    { name: 'guarded', arguments: { region: 'ö' } },
    { 'mcp-name': 'guarded', 'mcp-param-region': base64('ö') },
  ],
  ['prompts/get', { name: 'prompt', arguments: { x: 'ö' } }, { 'mcp-name': base64('prompt') }],
  ['resources/read', { uri: 'ask://fixed' }, { 'mcp-name': 'ask://fixed' }],
  ['resources/read', { uri: 'ask://in/any' }, { 'mcp-name': base64('ask://in/any') }],
];

/** The ways to serve them. */
const WAYS: readonly ListenOptions[] = [
  { legacySse: true },
  { sessions: false, auth: { authenticate: async () => await Promise.resolve({ subject: 'ann' }) } },
];

/** Serves the members in one way. */
async function serve(options: ListenOptions) {
  const logger = { warn: () => {}, error: () => {} };
  const server = new McpServer({ name: 'asking', version: '1', providers: [Asking], logger, secret: 'x'.repeat(32) });
  const listening = await listen(server, { port: 0, ...options });
  afterwards(async () => {
    await listening.close();
    await server.close();
  });
  const client = await HttpClient.open(listening.url, STATELESS);
  return async (message: Message, headers: Changes) => {
    const response = await client.post(message, headers);
    const { id, result, error } = await json(response);
    return { status: response.status, id, code: error?.code, result };
  };
}

const META = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} }, progressToken: 0 };

/**
 * Sends each request, and then what it asks for, with wrong values of a header. They are rejected in each round, and the
 * right value is still accepted then.
 */
async function inEachRound(header: string, wrong: (right: string, method: string) => readonly (string | undefined)[]) {
  for (const way of WAYS) {
    const send = await serve(way);
    const client = HttpClient.alone('', STATELESS);
    for (const [method, params, needed] of REQUESTS) {
      let more: JsonObject = {};
      const usual = client.headersOf(client.buildMessage('x', method, params));
      const right = needed[header] ?? usual[header];
      if (right === undefined) continue;
      for (const round of [1, 2]) {
        const message = { ...client.buildMessage('x', method, { ...params, ...more, _meta: META }), id: round };
        const told = [method, params, round];
        const values = wrong(right, method);
        const found = await Promise.all(values.map((value) => send(message, { ...needed, [header]: value })));
        const rejected = { status: 400, id: round, code: -32020, result: undefined };
        expect([...told, values, found]).toEqual([...told, values, values.map(() => rejected)]);
        const { status, result = {} } = await send(message, needed);
        expect([...told, status, result['resultType']]).toEqual([
          ...told,
          200,
          round === 1 ? 'input_required' : 'complete',
        ]);
        const asked = Object.keys(result['inputRequests'] ?? {});
        const inputResponses = Object.fromEntries(asked.map((key) => [key, { action: 'accept', content: {} }]));
        more = { requestState: result['requestState'], inputResponses };
      }
    }
  }
}

/** The text of a header, decoded. */
const plain = (text: string) =>
  text.startsWith('=?') ? Buffer.from(text.slice('=?base64?'.length, -2), 'base64').toString() : text;

/** Wrong values of each header, by its right value. */
const WRONG: Readonly<Record<string, (right: string, method: string) => readonly (string | undefined)[]>> = {
  'mcp-protocol-version': (right) => [undefined, `${right}x`, '2025-11-25', base64(right)],
  'mcp-method': (right, method) => [
    undefined,
    right.toUpperCase(),
    base64(right),
    method === 'tools/call' ? 'prompts/get' : 'tools/call',
  ],
  'mcp-name': (right) => [
    undefined,
    `${plain(right)}x`,
    base64(`${plain(right)}x`),
    base64(plain(right).toUpperCase()),
    plain(right) === 'tool' ? 'guarded' : 'tool',
  ],
  'mcp-param-region': (right) => [
    undefined,
    `${right}, ${right}`,
    base64(`${plain(right)}x`),
    base64(plain(right).toUpperCase()),
  ],
};

describe('a request that asks', () => {
  eachRevision(
    ['HDR-01', 'HDR-05', 'HDR-06', 'HDR-07', 'HDR-09', 'HDR-17'],
    'must mirror the version, the method, the name and the arguments in each round',
    async () => {
      for (const [header, wrong] of Object.entries(WRONG)) await inEachRound(header, wrong);
    },
  );
});
