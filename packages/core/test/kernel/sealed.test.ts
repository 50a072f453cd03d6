import { describe, expect, it } from '@jest/globals';
import {
  Completion,
  type Context,
  type JsonObject,
  McpServer,
  type McpServerOptions,
  NoInput,
  Resource,
} from '@decorum/core';
import { definePlugin, type RequestOutcome } from '@decorum/core/plugin';
import { connect } from '@decorum/testing';

const SECRET = 'x'.repeat(32);
const OTHER_SECRET = 'y'.repeat(32);
const TEXT = { type: 'object', properties: { text: { type: 'string' } } } as const;
const ACCEPTED = { action: 'accept', content: {} };

class Documents {
  @Resource('doc://{id}', { input: { type: 'object', properties: { id: { type: 'string' } } } })
  async document({ id }: { id?: string }, ctx: Context) {
    return (await ctx.confirm('Read it?')) ? `content of ${id}` : 'no';
  }

  @Completion({ for: 'document', argument: 'id' }) ids() {
    return ['a'];
  }
}

/** A server with tools that ask for a text and for a URL visit. */
async function node(options: Partial<McpServerOptions> = {}) {
  const warnings: string[] = [];
  const logger = { warn: (_details: object, message: string) => void warnings.push(message), error: () => {} };
  const server = new McpServer({ name: 'shop', version: '1', secret: SECRET, pageSize: 1, logger, ...options });
  server.addTool({ name: 'tell', input: NoInput }, async (_input, ctx) => {
    await ctx.elicit(TEXT, { message: 'What?' });
    return (await ctx.elicit(TEXT, { message: 'What else?' })).action;
  });
  const tickets: string[] = [];
  server.addTool({ name: 'visit', input: NoInput }, async (_input, ctx) => {
    const url = ({ ticket }: { ticket: string }) => (tickets.push(ticket), 'https://example.com');
    return (await ctx.elicitUrl({ message: 'Go', url })).action;
  });
  const capabilities = { elicitation: { form: {}, url: {} } };
  const client = await connect(server, { era: 'stateless', capabilities, onElicit: () => ACCEPTED as never });
  const call = (name: string, more: JsonObject = {}) => client.request('tools/call', { name, ...more });
  return { server, client, call, tickets, warnings };
}

const REFUSED = { code: -32602 };
const inputResponses = { '#1': ACCEPTED };

describe('sealed data', () => {
  it('is rejected by a server with another name, even with the same secret', async () => {
    const [ours, theirs] = [await node({ name: 'staging' }), await node({ name: 'production' })];
    const { requestState } = await ours.call('tell');
    await expect(theirs.call('tell', { requestState, inputResponses })).rejects.toMatchObject(REFUSED);
    const { nextCursor: cursor } = await ours.client.request('tools/list');
    await expect(theirs.client.request('tools/list', { cursor })).rejects.toMatchObject(REFUSED);
    await ours.call('visit');
    const [ticket] = ours.tickets as [string];
    expect(() => theirs.server.openTicket(ticket, undefined)).toThrow('ticket');
    expect(ours.server.openTicket(ticket, undefined)).toMatchObject({ id: expect.any(String) });
  });

  it('is accepted by another version of the server', async () => {
    const name = 'n'.repeat(2000);
    const [old, next] = [await node({ name, version: '1' }), await node({ name, version: '2' })];
    const { requestState } = await old.call('tell');
    expect(await next.call('tell', { requestState, inputResponses })).toMatchObject({ resultType: 'input_required' });
    const { nextCursor: cursor } = await old.client.request('tools/list');
    expect(await next.client.request('tools/list', { cursor })).toMatchObject({ tools: [{ name: 'visit' }] });
  });

  it('is accepted during key rotation', async () => {
    const [old, both] = [await node(), await node({ secret: [OTHER_SECRET, SECRET] })];
    const next = await node({ secret: OTHER_SECRET });
    const pageOf = async (from: typeof old, by: typeof old) => {
      const { nextCursor: cursor } = await from.client.request('tools/list');
      return await by.client.request('tools/list', { cursor });
    };
    expect(await pageOf(old, both)).toMatchObject({ tools: [{ name: 'visit' }] });
    expect(await pageOf(both, next)).toMatchObject({ tools: [{ name: 'visit' }] });
    await expect(pageOf(both, old)).rejects.toMatchObject(REFUSED);
    await expect(pageOf(old, next)).rejects.toMatchObject(REFUSED);
  });
});

describe('a state', () => {
  it('that is sent with a request without questions is not remembered', async () => {
    const claimed: string[] = [];
    const singleUse = { claim: (id: string) => claimed.push(id) > 0 };
    const { client } = await node({ providers: [Documents], singleUse });
    const ref = { type: 'ref/resource', uri: 'doc://{id}' };
    const params = { ref, argument: { name: 'id', value: '' }, requestState: 'made up' };
    const result = await client.request('completion/complete', params);
    expect(result).toMatchObject({ completion: { values: ['a'] } });
    expect(claimed).toEqual([]);
  });

  it('is rejected for another resource, whatever else the request names', async () => {
    const { client } = await node({ providers: [Documents] });
    const read = (params: JsonObject) => client.request('resources/read', { name: 'any', ...params });
    const { requestState } = await read({ uri: 'doc://public' });
    const retry = { requestState, inputResponses };
    await expect(read({ uri: 'doc://secret', ...retry })).rejects.toMatchObject(REFUSED);
    expect(await read({ uri: 'doc://public', ...retry })).toMatchObject({ contents: [{ text: 'content of public' }] });
  });

  it('that would be too large is an error and a warning', async () => {
    const { call, warnings } = await node();
    const { requestState } = await call('tell');
    const answer = (length: number) =>
      call('tell', {
        requestState,
        inputResponses: { '#1': { action: 'accept', content: { text: 'x'.repeat(length) } } },
      });
    const message = 'The answers are too large to continue this request.';
    await expect(answer(70_000)).rejects.toMatchObject({ code: -32603, message });
    const rest = Number(/is (\d+) bytes/.exec(warnings[0] ?? '')?.[1]) - 70_000;
    expect(await answer(65_536 - rest)).toMatchObject({ resultType: 'input_required' });
    await expect(answer(65_537 - rest)).rejects.toMatchObject({ code: -32603, message });
    expect(warnings).toEqual([
      expect.stringMatching(/"tell"/),
      'The state of the handler of "tell" is 65537 bytes, more than 65536. ' +
        'Ask for less at once, and return references from ctx.once instead of data.',
    ]);
  });

  it('that would be too large is an internal error to plugins as well', async () => {
    const seen: unknown[] = [];
    const ended = (_request: unknown, { error }: RequestOutcome) => void seen.push(error);
    const plugin = definePlugin(() => ({ name: 'seen', ended }));
    const { call } = await node({ plugins: [plugin()] });
    const { requestState } = await call('tell');
    const large = { action: 'accept', content: { text: 'x'.repeat(70_000) } };
    await call('tell', { requestState, inputResponses: { '#1': large } }).catch(() => {});
    expect(seen.at(-1)).toMatchObject({ kind: 'internal-error', message: expect.stringContaining('too large') });
  });

  it('does not hide from the client that a method is unknown', async () => {
    const { client } = await node();
    const got = client.request('prompts/get', { name: 'any', requestState: 'no state' });
    await expect(got).rejects.toMatchObject({ code: -32601 });
  });
});

describe('a capability that is not an object', () => {
  it.each([{ elicitation: null }, { elicitation: true }])('is ignored: %j', async (capabilities) => {
    const { server } = await node();
    const client = await connect(server, { era: 'stateless', capabilities: capabilities as never });
    const call = client.request('tools/call', { name: 'tell' });
    await expect(call).rejects.toMatchObject({ code: -32021, data: { requiredCapabilities: { elicitation: {} } } });
  });
});
