import { once } from 'node:events';

import { describe, expect, it } from '@jest/globals';
import { Context, NoInput, Tool } from '@decorum/core';
import { FAILURES } from '@decorum/core/internal';
import { definePlugin } from '@decorum/core/plugin';
import { type LambdaHandler, lambdaHandler, type LambdaResult } from '@decorum/http/lambda';

import { endingIn } from '../../../../test/support/lambda/runtime.js';
import { afterwards, createServer, Probe, whenBegun } from '../fixture.js';
import { ADD, call, calling, initialize, INITIALIZED, modern, modernHeaders, request, TOKEN } from '../messages.js';
import { createFunction, FORMATS, messageOf, posting, recorded, requesting } from './recorded.js';

const OLD = { 'mcp-protocol-version': '2025-11-25' };

/** Sends back as much as it is told to. */
class Sizes {
  @Tool({ description: 'Large', input: { type: 'object', properties: { size: { type: 'integer' } } } })
  large({ size }: { size: number }, ctx: Context) {
    ctx.progress(1);
    // in JSON, and in the JSON of the response, it takes twice and four times as much
    return '"'.repeat(size);
  }

  @Tool({ description: 'Reports a lot of progress' })
  async chatter(_input: NoInput, ctx: Context) {
    for (let n = 1; n <= 100; n += 1) {
      ctx.progress(n, 100, 'x'.repeat(100_000));
      await new Promise(setImmediate);
    }
    return 'said';
  }
}

describe('a function whose responses are complete', () => {
  it('sends progress together with the result', async () => {
    const { send } = createFunction();
    const result = await send(posting(...calling('steps', {}, TOKEN)));
    expect(result.headers).toMatchObject({ 'content-type': 'text/event-stream' });
    const messages = result.body.match(/(?<=^data: ).*$/gm)?.map((data) => JSON.parse(data) as { method?: string });
    expect(messages).toHaveLength(4);
    expect(messages?.map(({ method }) => method)).toEqual([...Array(3).fill('notifications/progress'), undefined]);
  });

  it('has no body if there is nothing to say', async () => {
    const { send } = createFunction();
    expect(await send(posting(INITIALIZED, OLD))).toEqual({
      statusCode: 202,
      headers: {},
      body: '',
      isBase64Encoded: false,
    });
  });

  it('keeps no sessions, so each event may reach another instance', async () => {
    const [first, second] = [createFunction(), createFunction()];
    const begun = await first.send(posting(initialize('2025-11-25')));
    expect(begun.headers).not.toHaveProperty('mcp-session-id');
    expect(messageOf(begun).result?.['capabilities']).toEqual({ tools: {}, prompts: {}, resources: {} });
    const added = await second.send(posting(call(1, 'add', { a: 1, b: 2 }), OLD));
    expect(messageOf(added)).toMatchObject({ id: 1, result: { content: [{ text: '3' }] } });
    expect((await second.send(requesting('DELETE', OLD))).statusCode).toBe(405);
  });

  it('opens no streams: GET gets 405, and subscriptions are neither declared nor found', async () => {
    const { send } = createFunction();
    const accept = 'text/event-stream';
    for (const headers of [OLD, modernHeaders('ping'), {}]) {
      const { statusCode, headers: answered } = await send(requesting('GET', { ...headers, accept }));
      expect([statusCode, answered?.['allow']]).toEqual([405, 'POST']);
    }
    const listening = modern(1, 'subscriptions/listen', { notifications: { toolsListChanged: true } });
    const listened = await send(posting(listening, modernHeaders('subscriptions/listen')));
    expect([listened.statusCode, messageOf(listened).error?.code]).toEqual([404, FAILURES['method-not-found'].code]);
    const discovered = await send(posting(modern(1, 'server/discover'), modernHeaders('server/discover')));
    expect(messageOf(discovered).result?.['capabilities']).toMatchObject({ tools: {}, resources: {} });
    expect(discovered.body).not.toMatch(/listChanged|subscribe/);
  });

  it.each(FORMATS)('answers an error instead of more than Lambda sends, in the format %s', async (name) => {
    const warnings: string[] = [];
    const logger = { warn: (_details: object, message: string) => void warnings.push(message), error() {} };
    const { send } = createFunction({}, { logger, providers: [new Sizes()] });
    const limit = name === 'load-balancer' ? 1_048_576 : 6_291_456;
    const event = (size: number, meta = {}) => ({
      ...recorded(name),
      ...(name === 'load-balancer' && {
        multiValueHeaders: null,
        headers: { host: 'localhost', 'content-type': 'application/json', ...OLD },
      }),
      body: JSON.stringify(call(5, 'large', { size }, meta)),
      isBase64Encoded: false,
    });
    const small = await send(event(Math.floor(limit / 4) - 1000));
    expect(messageOf(small).result).toBeDefined();
    expect(Buffer.byteLength(JSON.stringify(small))).toBeLessThan(limit);
    for (const meta of [{}, TOKEN]) {
      const { error, id } = messageOf(await send(event(limit / 4, meta)));
      expect([id, error?.code]).toEqual([5, -32_603]);
      expect(error?.message).toContain(`but Lambda sends at most ${limit.toLocaleString('en')}. Ask for less.`);
    }
    expect(warnings.at(-1)).toContain('Return less');
  });

  it('leaves out progress that would take the room of the result', async () => {
    const { send } = createFunction({}, { providers: [new Sizes()] });
    const result = await send(posting(...calling('chatter', {}, TOKEN)));
    expect(messageOf(result).result).toMatchObject({ content: [{ text: 'said' }] });
    expect(result.body.length).toBeLessThan(2_000_000);
  });

  it.each([
    ['Server Card', '/prod/mcp/server-card', 'https://mcp.example.com/mcp'],
    ['catalog', '/prod/.well-known/ai-catalog.json', 'https://mcp.example.com/mcp/server-card'],
  ])('has a %s with the host that its gateway knows', async (_what, rawPath, url) => {
    const { send } = createFunction({ path: '/mcp', card: { description: 'Tests' } });
    const { statusCode, body } = await send({ ...requesting('GET'), rawPath });
    expect([statusCode, body]).toEqual([200, expect.stringContaining(`"url":"${url}"`)]);
  });

  it('answers 503 once it is closed', async () => {
    const { send, handler } = createFunction();
    await handler.close();
    expect((await send(posting(...ADD))).statusCode).toBe(503);
  });
});

describe('the end of the time of an invocation', () => {
  const MESSAGE = 'The server ran out of time. A part of the work may be done: check that before you try again.';
  const STOPPED = { code: -32_603, message: MESSAGE };

  it.each([
    ['a call of a revision with sessions', () => posting(call(3, 'wait'), OLD)],
    ['a stateless call', () => posting(...calling('wait'))],
    ['a call with progress', () => posting(...calling('stream', {}, TOKEN))],
  ])('cancels %s, and tells its caller', async (_kind, event) => {
    const { send, probe } = createFunction({ deadlineMarginMs: 200 });
    const aborted = once(probe, 'aborted');
    const result = await send(event(), 250);
    await aborted;
    expect(result.statusCode).toBe(200);
    expect(messageOf(result).error).toEqual(STOPPED);
    expect((probe.contexts[0] as Context).signal.reason).toMatchObject({
      message: 'The host of the server gives the request no more time.',
    });
  });

  it('is a timeout for plugins', async () => {
    const causes: unknown[] = [];
    const watch = definePlugin(() => ({
      name: 'watch',
      ended: (_request, { status, cause }) => causes.push(status, cause),
    }));
    const { send } = createFunction({ deadlineMarginMs: 0 }, { plugins: [watch()] });
    await send(posting(...calling('wait')), 1);
    expect(causes).toEqual(['cancelled', 'timeout']);
  });

  it('leaves the results of a batch that are there', async () => {
    const { send } = createFunction({ deadlineMarginMs: 200 });
    const older = { 'mcp-protocol-version': '2025-03-26' };
    const { body } = await send(posting([request(1, 'ping'), call(2, 'wait')], older), 250);
    expect(JSON.parse(body)).toEqual([
      { jsonrpc: '2.0', id: 1, result: {} },
      { jsonrpc: '2.0', id: 2, error: STOPPED },
    ]);
  });

  it('concerns only its own request', async () => {
    const { send, probe } = createFunction({ deadlineMarginMs: 0 });
    const [other] = await whenBegun(probe, send(posting(...calling('wait')), 600_000));
    expect(messageOf(await send(posting(...calling('wait')), 1)).error).toEqual(STOPPED);
    probe.emit('go');
    expect(messageOf(await other).result).toBeDefined();
  });

  it('is waited for by nothing if the caller has its answer', async () => {
    const { send } = createFunction();
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const before = timers();
    expect((await send(posting(...ADD))).statusCode).toBe(200);
    expect(timers()).toBe(before);
  });

  it('gets 503 if the server has not started, or `auth` is not done', async () => {
    const never = new Promise<never>(() => {});
    const slow = createServer(new Probe(), { plugins: [{ name: 'slow', onStart: () => never }] });
    const starting = lambdaHandler(slow.server, { closeDeadlineMs: 1 });
    afterwards(() => starting.close());
    const asking = createFunction({ auth: { authenticate: () => never } });
    for (const handler of [starting, asking.handler] as LambdaHandler[]) {
      const result: LambdaResult = await handler(posting(...ADD), endingIn(1));
      expect([result.statusCode, messageOf(result).error?.message]).toEqual([
        503,
        'The server ran out of time. Try again.',
      ]);
    }
  });

  it('is not known without a context, as in tests', async () => {
    const { handler } = createFunction();
    expect((await handler(posting(...ADD))).statusCode).toBe(200);
  });
});
