// Requests for members with scopes, whose access functions answer later.
import { afterEach, describe, expect, it } from '@jest/globals';
import { connectMemory, McpServer, type McpServerOptions, Resource, Tool } from '@decorum/core';
import { connect } from '@decorum/testing';

const ADA = { subject: 'ada', scopes: ['pay'] };
const HELLO = { capabilities: {}, clientInfo: { name: 'c', version: '1' } };

const call = (id: number, name: string) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name } });

/** Answers access functions when the test says so. */
class Gate {
  asked = 0;
  letIn = (_isIn: boolean) => {};

  readonly access = async () => {
    this.asked += 1;
    return await new Promise<boolean>((resolve) => (this.letIn = resolve));
  };
}

let gate = new Gate();

class Till {
  readonly ran: string[] = [];

  @Tool({ scopes: ['pay'], access: () => gate.access() }) pay() {
    this.ran.push('pay');
    return 'paid';
  }

  @Tool() count() {
    this.ran.push('count');
    return '1';
  }

  @Resource('till://today', { scopes: ['audit'], access: () => gate.access() }) today() {
    return '';
  }
}

const servers: McpServer[] = [];

function serve(options: Partial<McpServerOptions> = {}) {
  gate = new Gate();
  const till = new Till();
  const logger = { warn() {}, error() {} };
  const server = new McpServer({ name: 'shop', version: '1.0.0', providers: [till], logger, ...options });
  servers.push(server);
  return { server, till };
}

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close({ deadlineMs: 1 })));
});

describe('A request that waits for an access function', () => {
  it.each([
    ['alone', '2025-11-25', call(2, 'pay'), []],
    ['in a batch with it', '2025-03-26', [call(2, 'count'), call(3, 'pay')], ['pay']],
  ])('never runs if its client cancels it in the meantime, %s (#22)', async (_how, protocolVersion, message, ran) => {
    const { server, till } = serve();
    const { send } = await connectMemory(server, { principal: ADA, receive() {} });
    await send({ jsonrpc: '2.0', id: 1, method: 'initialize', params: { ...HELLO, protocolVersion } });
    const called = send(message);
    await send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 2 } });
    gate.letIn(true);
    await called;
    await new Promise(setImmediate);
    expect([gate.asked, till.ran]).toEqual([1, ran]);
  });

  it('does not run with an invalid state, even if its handler never asks (#22)', async () => {
    const { server, till } = serve();
    const client = await connect(server, { era: 'stateless', principal: ADA });
    const called = client.request('tools/call', { name: 'pay', requestState: 'forged' });
    await new Promise(setImmediate);
    gate.letIn(true);
    const message = 'The requestState is invalid for this request, or has expired.';
    await expect(called).rejects.toMatchObject({ code: -32602, message });
    expect(till.ran).toEqual([]);
  });
});

describe('`subscriptions/listen` with too many URIs', () => {
  it('is rejected before an access function is asked about them (#22)', async () => {
    const { server } = serve({ limits: { maxSubscriptions: 1 } });
    const client = await connect(server, { era: 'stateless', principal: ADA });
    const notifications = { resourceSubscriptions: ['till://today', 'till://today'] };
    await expect(client.request('subscriptions/listen', { notifications })).rejects.toThrow(/at most 1/i);
    expect(gate.asked).toBe(0);
  });
});
