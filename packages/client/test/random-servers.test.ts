// Servers that send anything at all: each call ends, and nothing is thrown elsewhere.
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connectClient, ConnectionError } from '@decorum/client';
import { McpError } from '@decorum/core';
import { revisions } from '@decorum/testing';
import fc from 'fast-check';

const [SESSION, STATELESS] = revisions.slice(-2) as [string, string];

/** The id of the request that is answered takes its place. */
const ID = 'the id';

/** JSON that is nearly a message. */
const value = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom(ID, 'input_required', 'elicitation/create'));
const NAMES = [
  'resultType',
  'inputRequests',
  'requestState',
  'content',
  'progressToken',
  'progress',
  'requestId',
  '_meta',
];
const members = fc.dictionary(fc.oneof(fc.constantFrom(...NAMES, '__proto__'), fc.string()), value, { maxKeys: 4 });
const asking = fc.record({
  resultType: fc.constant('input_required'),
  inputRequests: fc.dictionary(
    fc.string(),
    fc.oneof(value, fc.record({ method: fc.constantFrom('elicitation/create', 'ping'), params: members })),
    { maxKeys: 3 },
  ),
});
const METHODS = ['ping', 'elicitation/create', 'roots/list', 'notifications/progress', 'notifications/cancelled'];
const nearly = fc.record(
  {
    jsonrpc: fc.constantFrom('2.0', '1.0'),
    id: fc.oneof(fc.constant(ID), value),
    method: fc.oneof(fc.constantFrom(...METHODS), value),
    params: fc.oneof(members, value),
    result: fc.oneof(asking, members, value),
    error: fc.oneof(fc.record({ code: value, message: value, data: value }), value),
  },
  { requiredKeys: ['jsonrpc'] },
);
const message = fc.oneof(nearly, fc.array(nearly, { maxLength: 3 }), value).map((sent) => JSON.stringify(sent));
const bytes = fc.uint8Array({ maxLength: 200 }).map((sent) => Buffer.from(sent).toString('latin1'));
const event = fc
  .tuple(fc.constantFrom('data', 'event', 'id', 'retry', '', 'other'), fc.oneof(message, bytes))
  .map(([field, data]) => `${field}: ${data}\n`);
const stream = fc.array(fc.oneof(event, fc.constant('\n')), { maxLength: 8 }).map((lines) => `${lines.join('')}\n\n`);
const response = fc.record({
  status: fc.constantFrom(200, 200, 200, 202, 204, 400, 401, 403, 404, 500),
  type: fc.constantFrom('application/json', 'text/event-stream', 'text/html', ''),
  body: fc.oneof(message, stream, bytes),
});

/** What the server answers next. */
let next = { status: 200, type: '', body: '' };
const server = createHttpServer((request, answer) => {
  void text(request).then((body) => {
    if (request.method !== 'POST') return answer.writeHead(405).end();
    const { id, method } = JSON.parse(body) as { id?: number; method: string };
    if (id === undefined) return answer.writeHead(202).end();
    const hello = { supportedVersions: [STATELESS], protocolVersion: SESSION, capabilities: {}, serverInfo: {} };
    if (method === 'server/discover' || method === 'initialize') {
      answer.writeHead(200, { 'content-type': 'application/json' });
      return answer.end(JSON.stringify({ jsonrpc: '2.0', id, result: hello }));
    }
    answer.writeHead(next.status, next.type === '' ? {} : { 'content-type': next.type });
    return answer.end(next.body.replaceAll(JSON.stringify(ID), String(id)));
  });
});
// jest fails a test during which anything is thrown outside of it
beforeAll(async () => {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const isKnown = (error: unknown) => error instanceof ConnectionError || error instanceof McpError;

const handlers = { onElicit: () => ({ action: 'decline' as const }), onRoots: () => [], onNotification() {} };

describe.each([SESSION, STATELESS])('a client in %s', (revision) => {
  it('ends each call, whatever a URL answers', async () => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
    await fc.assert(
      fc.asyncProperty(response, async (answer) => {
        next = answer;
        const client = await connectClient(url, { revision, ...handlers });
        const calls = [
          client.callTool('x', {}, { timeoutMs: 200, onProgress() {} }),
          client.listTools({ timeoutMs: 200 }),
        ];
        for (const { status, ...outcome } of await Promise.allSettled<unknown>(calls)) {
          if (status === 'rejected')
            expect([answer, isKnown((outcome as { reason: unknown }).reason)]).toEqual([answer, true]);
        }
        await client.close();
      }),
      // an id that no header can carry
      { numRuns: 150, examples: [[{ status: 200, type: 'text/event-stream', body: 'id: \0\n\n\n' }]] },
    );
    expect(({} as Record<string, unknown>)['resultType']).toBeUndefined();
  }, 60_000);

  it('ends each call, whatever a program prints', async () => {
    const program = `const hello = ${JSON.stringify({ supportedVersions: [STATELESS], protocolVersion: SESSION, capabilities: {}, serverInfo: {} })};
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method, params } = JSON.parse(line);
      if (id === undefined) return;
      if (method === 'initialize' || method === 'server/discover') console.log(JSON.stringify({ jsonrpc: '2.0', id, result: hello }));
      else if (params?.arguments) process.stdout.write(Buffer.from(params.arguments.print.replaceAll('"the id"', id) + '\\n', 'latin1'));
    });`;
    const client = await connectClient({ command: process.execPath, args: ['-e', program] }, { revision, ...handlers });
    await fc.assert(
      fc.asyncProperty(fc.oneof(message, bytes), async (print) => {
        const [outcome] = await Promise.allSettled([client.callTool('x', { print }, { timeoutMs: 20 })]);
        if (outcome?.status === 'rejected') expect(isKnown(outcome.reason)).toBe(true);
      }),
      { numRuns: 100 },
    );
    await client.close();
  }, 60_000);
});
