import { EventEmitter, once } from 'node:events';

import { describe, expect, it } from '@jest/globals';
import { type Interceptor, type JsonObject, McpServer, type McpServerOptions, MemorySingleUse } from '@decorum/core';
import { listen } from '@decorum/http';

import { afterwards, type Fields, json, modern, modernHeaders, post } from './fixture.js';

const CAPABILITIES = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } };
const REGION = { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } };
const inputResponses = { '#1': { action: 'accept' } };

/** Serves a tool that asks a question. Returns a function that calls it with extra params and headers. */
async function asking(options: Partial<McpServerOptions> = {}, access = () => true) {
  const ran: string[] = [];
  const logger = { warn: () => {}, error: () => {} };
  const server = new McpServer({ name: 'test', version: '1', secret: 'x'.repeat(32), logger, ...options });
  server.addTool({ name: 'ask', input: REGION, access }, async (_input, ctx) => {
    const sure = await ctx.confirm('Sure?');
    ran.push(`sure: ${sure}`);
    return 'done';
  });
  const listening = await listen(server, { port: 0, signals: false });
  afterwards(() => listening.close());
  const call = async (more: JsonObject = {}, headers: Fields = {}, signal?: AbortSignal) => {
    const params = { name: 'ask', arguments: { region: 'eu' }, ...more };
    const fields = { ...modernHeaders('tools/call', 'ask'), 'mcp-param-region': 'eu', ...headers };
    const response = await post(listening.url, modern('x', 'tools/call', params, CAPABILITIES), fields, signal);
    const { result, error } = await json(response);
    return { status: response.status, result, error };
  };
  const begin = async () => String((await call()).result?.['requestState']);
  return { server, call, begin, ran };
}

describe('a state', () => {
  it('that is foreign or used is rejected with 400', async () => {
    const { call, begin } = await asking({ singleUse: new MemorySingleUse() });
    const requestState = await begin();
    expect(await call({ requestState: `${requestState}A`, inputResponses })).toMatchObject({
      status: 400,
      error: { code: -32602 },
    });
    expect(await call({ requestState, inputResponses })).toMatchObject({ status: 200, result: {} });
    expect(await call({ requestState, inputResponses })).toMatchObject({ status: 400, error: { code: -32602 } });
  });

  it('for one use is not used up by a call that is rejected before it runs', async () => {
    let admits = true;
    let allows = true;
    const busy: Interceptor = async (_call, next) => {
      if (!allows) throw new Error('busy');
      return await next();
    };
    const singleUse = new MemorySingleUse();
    const { call, begin, ran } = await asking({ singleUse, interceptors: [busy] }, () => admits);
    const retry = { requestState: await begin(), inputResponses };
    expect((await call(retry, { 'mcp-param-region': 'us' })).error).toMatchObject({ code: -32020 });
    admits = false;
    expect((await call(retry)).error).toMatchObject({ code: -32602 });
    admits = true;
    allows = false;
    expect((await call(retry)).result).toMatchObject({ isError: true });
    allows = true;
    expect((await call(retry)).result).toMatchObject({ content: [{ text: 'done' }] });
    expect(ran).toEqual(['sure: true']);
  });
});

describe('an effect that never ends', () => {
  it('is not waited for once the client has disconnected', async () => {
    const begun = new EventEmitter();
    const { server, call } = await asking();
    server.addTool({ name: 'stuck', input: REGION }, async (_input, ctx) => {
      const effect = () => {
        // emitted in the next turn, when the handler has asked its question
        setImmediate(() => begun.emit('effect'));
        return new Promise<void>(() => {});
      };
      await Promise.all([ctx.once('stuck', effect), ctx.confirm('Sure?')]);
      return 'never';
    });
    const gone = new AbortController();
    const stuck = call({ name: 'stuck' }, { 'mcp-name': 'stuck' }, gone.signal);
    await Promise.all([once(begun, 'effect').then(() => gone.abort()), expect(stuck).rejects.toThrow('aborted')]);
    const since = performance.now();
    await server.close({ deadlineMs: 4000 });
    expect(performance.now() - since).toBeLessThan(2000);
  });
});
