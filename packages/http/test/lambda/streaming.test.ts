import { once } from 'node:events';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type LambdaEvent, streamingLambdaHandler, type StreamingLambdaHandlerOptions } from '@decorum/http/lambda';

import { endingIn, installRuntime, invokeStreaming, textOf } from '../../../../test/support/lambda/runtime.js';
import { MemoryCluster } from '../../../../test/support/memory-cluster.js';
import { afterwards, createServer, Probe } from '../fixture.js';
import { ADD, call, calling, initialize, INITIALIZED, modernHeaders, TOKEN } from '../messages.js';
import { messageOf, posting, recorded, requesting } from './recorded.js';

const OLD = { 'mcp-protocol-version': '2025-11-25' };

let uninstall: () => void;
beforeEach(() => {
  uninstall = installRuntime();
});
afterEach(() => uninstall());

function createFunction(options: StreamingLambdaHandlerOptions = {}, more: Parameters<typeof createServer>[1] = {}) {
  const probe = new Probe();
  const created = createServer(probe, more);
  const handler = streamingLambdaHandler(created.server, options);
  afterwards(async () => {
    probe.emit('go');
    await handler.close();
    await created.server.close();
  });
  const send = async (event: LambdaEvent, ms = 10_000) => await invokeStreaming(handler, event, endingIn(ms));
  return { probe, handler, send, ...created };
}

describe('a function whose responses are streamed', () => {
  it('sends progress before there is a result', async () => {
    const { send, probe } = createFunction();
    const response = await send(posting(...calling('stream', {}, TOKEN)));
    expect([response.statusCode, response.headers['content-type']]).toEqual([200, 'text/event-stream']);
    let text = '';
    for await (const chunk of response.body) {
      text += String(chunk);
      if (text.includes('notifications/progress')) probe.emit('go');
    }
    await response.done;
    expect(messageOf({ body: text }).result).toMatchObject({ content: [{ text: 'let go' }] });
  });

  it('sends the status and the headers of answers with and without a body', async () => {
    const { send } = createFunction();
    const added = await send(posting(...ADD));
    expect(added).toMatchObject({ statusCode: 200, headers: { 'content-type': 'application/json; charset=utf-8' } });
    expect(messageOf({ body: await textOf(added) }).result).toMatchObject({ content: [{ text: '3' }] });
    const noted = await send(posting(INITIALIZED, OLD));
    expect([noted.statusCode, await textOf(noted)]).toEqual([202, '']);
    const refused = await send(requesting('GET', { ...modernHeaders('ping'), accept: 'text/event-stream' }));
    expect([refused.statusCode, refused.headers['allow']]).toEqual([405, 'POST']);
    await textOf(refused);
  });

  it('sends a large result as it is', async () => {
    const { send } = createFunction();
    const text = await textOf(await send(posting(...calling('flood', { count: 1000 }, TOKEN))));
    expect(text.length).toBeGreaterThan(6_291_456);
    expect(messageOf({ body: text }).result).toMatchObject({ content: [{ text: 'flooded' }] });
  });

  it('ends with an error before Lambda ends the invocation', async () => {
    const { send, probe } = createFunction({ deadlineMarginMs: 200 });
    const aborted = once(probe, 'aborted');
    const response = await send(posting(...calling('stream', {}, TOKEN)), 250);
    const { error } = messageOf({ body: await textOf(response) });
    expect(error?.message).toMatch(/^The server ran out of time/);
    await aborted;
  });

  it('fails for an event that is no HTTP request', async () => {
    const { handler } = createFunction();
    await expect(invokeStreaming(handler, recorded('others'), {})).rejects.toThrow(
      'The handler of `streamingLambdaHandler` takes HTTP requests',
    );
  });

  it('can be created elsewhere, where it tells what it needs', async () => {
    uninstall();
    const { handler } = createFunction();
    await expect(handler(posting(...ADD), undefined as never)).rejects.toThrow(
      'runs only in the Node.js runtime of AWS Lambda',
    );
  });

  it('aborts the handler if the response can no longer be sent', async () => {
    const { send, probe } = createFunction();
    const response = await send(posting(...calling('stream', {}, TOKEN)));
    const aborted = once(probe, 'aborted');
    response.break();
    await aborted;
    await response.done.catch(() => {});
  });
});

describe('sessions of a function whose responses are streamed', () => {
  it('live in shared stores: one instance asks the user, and another gets the answer', async () => {
    const cluster = new MemoryCluster();
    const instance = () =>
      createFunction({ sessions: true }, { cluster: cluster.node(), secret: 'the same for all instances, 32 bytes' });
    const [first, second] = [instance(), instance()];
    const begun = await first.send(posting(initialize('2025-11-25')));
    const session = { ...OLD, 'mcp-session-id': begun.headers['mcp-session-id'] as string };
    await textOf(begun);
    await textOf(await second.send(posting(INITIALIZED, session)));
    const asking = await first.send(posting(call(1, 'ask'), session));
    let text = '';
    for await (const chunk of asking.body) {
      text += String(chunk);
      const id =
        /"id":("[^"]+"|\d+),"method":"elicitation/.exec(text)?.[1] ??
        /"method":"elicitation.*"id":("[^"]+"|\d+)/.exec(text)?.[1];
      if (id === undefined || text.includes('Hello')) continue;
      const result = { action: 'accept', content: { name: 'Ada' } };
      const answer = await second.send(posting({ jsonrpc: '2.0', id: JSON.parse(id), result }, session));
      expect([answer.statusCode, await textOf(answer)]).toEqual([202, '']);
    }
    await asking.done;
    expect(messageOf({ body: text }).result).toMatchObject({ content: [{ text: 'Hello, Ada' }] });
    const stream = await second.send(requesting('GET', { ...session, accept: 'text/event-stream' }));
    expect(stream.statusCode).toBe(405);
    await textOf(stream);
  });
});
