import { once } from 'node:events';

import { describe, expect, it } from '@jest/globals';
import { type McpServer, NoInput } from '@decorum/core';
import { type Auth, type Denial, type ListenOptions } from '@decorum/http';

import { EventReader } from './events.js';
import {
  call,
  type Fields,
  INITIALIZE,
  json,
  kernelOf,
  modernCall,
  modernHeaders,
  openSession,
  post,
  serve,
} from './fixture.js';

const NEEDED = ['mcp', 'files:write'];
const READY = { jsonrpc: '2.0', method: 'notifications/initialized' };

/** The headers of a caller with these scopes. */
const as = (...scopes: string[]): Fields => ({ authorization: `Bearer ${scopes.join(' ')}` });
const ANN = as('mcp');
const POOR = as('other');

/** Serves a probe, a tool that needs more scopes, and one whose access function answers when it is let. */
async function serveScopes(options: Omit<ListenOptions, 'auth'> = {}, isOpen = false) {
  const denials: Denial[] = [];
  const auth: Auth = {
    scopes: ['mcp'],
    authenticate: ({ headers: { authorization } }) =>
      authorization === undefined ? undefined : { subject: 'ann', scopes: authorization.slice(7).split(' ') },
    challenge(denial) {
      denials.push(denial);
      return { status: 403, headers: { 'x-scopes': denial.scopes.join(' ') } };
    },
  };
  const served = await serve({ ...options, auth });
  const { server, probe } = served;
  const access = async () => {
    const letGo = once(probe, 'go');
    probe.emit('asked');
    await letGo;
    return true;
  };
  server.addTool({ name: 'write', scopes: ['files:write'], input: NoInput }, () => 'written');
  if (isOpen) server.addTool({ name: 'about', public: true, input: NoInput }, () => 'about');
  server.addTool({ name: 'guarded', scopes: ['files:write'], input: NoInput, access }, () => 'written');
  return { ...served, denials };
}

/** Status, scopes of the challenge, and the id and message of the error. */
async function refusal(response: Response) {
  const { id, error } = await json(response);
  return [response.status, response.headers.get('x-scopes')?.split(' '), id, error?.message];
}

const LACKING = 'The caller lacks scopes that this request needs.';

describe('a POST of a caller who lacks scopes', () => {
  it('is denied with all of them if it is a request, also those of every request', async () => {
    const { url } = await serveScopes();
    const session = await openSession(url, ANN);
    for (const [headers, message] of [
      [{ ...session, ...POOR }, call(1, 'write')],
      [session, call(1, 'write')],
      [{ ...modernHeaders('tools/call', 'write'), ...POOR }, modernCall(1, 'write')],
    ] as const) {
      expect(await refusal(await post(url, message, headers))).toEqual([403, NEEDED, 1, LACKING]);
    }
  });

  it('is denied with those of every request if it is a notification or a response', async () => {
    const { url, denials } = await serveScopes();
    const session = await openSession(url, ANN);
    for (const message of [READY, { jsonrpc: '2.0', id: 1, result: {} }]) {
      expect(await refusal(await post(url, message, { ...session, ...POOR }))).toEqual([
        403,
        ['mcp'],
        undefined,
        LACKING,
      ]);
      expect(await refusal(await post(url, message, POOR))).toEqual([403, ['mcp'], undefined, LACKING]);
    }
    expect(denials.map(({ inSession }) => inSession)).toEqual([true, false, true, false]);
    expect((await post(url, READY, session)).status).toBe(202);
  });

  it('is denied to anonymous callers too where others may use what is public', async () => {
    const { url } = await serveScopes({}, true);
    const of = (name: string) => post(url, modernCall(1, name), modernHeaders('tools/call', name));
    expect(await refusal(await of('write'))).toEqual([403, NEEDED, 1, 'Authorization is required.']);
    expect((await of('about')).status).toBe(200);
  });

  it('is denied without the option `auth` too, if `principal` tells who calls', async () => {
    const { url, server } = await serve({ principal: () => ({ subject: 'ann', scopes: ['mcp'] }) });
    server.addTool({ name: 'write', scopes: ['files:write'], input: NoInput }, () => 'written');
    const response = await post(url, modernCall(1, 'write'), modernHeaders('tools/call', 'write'));
    const { error } = await json(response);
    expect([response.status, error?.data]).toEqual([403, { scopes: ['files:write'] }]);
    expect(response.headers.get('www-authenticate')).toBe('Bearer error="insufficient_scope", scope="files:write"');
  });

  it('gets one error without an id if it is a batch', async () => {
    const { url } = await serveScopes();
    const session = await openSession(url, ANN, '2025-03-26');
    const answer = await post(url, [call(1, 'add'), call(2, 'write')], session);
    expect(await refusal(answer)).toEqual([403, NEEDED, undefined, LACKING]);
  });

  it('is in a session if it names one, or would if sessions were kept, but not if it starts one', async () => {
    const { url, denials } = await serveScopes();
    const session = await openSession(url, ANN);
    const started = await post(url, INITIALIZE, POOR);
    expect([started.status, started.headers.get('mcp-session-id')]).toEqual([403, null]);
    await post(url, call(1, 'write'), session);
    await post(url, modernCall(1, 'write'), { ...modernHeaders('tools/call', 'write'), ...ANN });
    const alone = await serveScopes({ sessions: false });
    await post(alone.url, call(1, 'write'), { ...ANN, 'mcp-protocol-version': '2025-11-25' });
    expect([...denials, ...alone.denials].map(({ inSession }) => inSession)).toEqual([false, true, false, true]);
  });
});

describe('keep-alive with scopes', () => {
  /** Fires the keep-alive timer of the endpoint with a call in flight. */
  async function clockOf(server: McpServer): Promise<() => void> {
    const { inFlight } = await kernelOf(server);
    const { exchanges } = inFlight as unknown as {
      readonly exchanges: readonly { readonly wire: { owner: object } }[];
    };
    return () => inFlight.keepAlive(exchanges[0]?.wire.owner as object);
  }

  it('starts no stream for a call that may still be denied', async () => {
    const { url, server, probe } = await serveScopes();
    const asked = once(probe, 'asked');
    const pending = post(url, modernCall(1, 'guarded'), { ...modernHeaders('tools/call', 'guarded'), ...ANN });
    await asked;
    const tick = await clockOf(server);
    for (let n = 0; n < 3; n += 1) tick();
    probe.emit('go');
    expect(await refusal(await pending)).toEqual([403, NEEDED, 1, LACKING]);
  });

  it('starts one for a call that was admitted', async () => {
    const { url, server, probe } = await serveScopes();
    const began = once(probe, 'began');
    const pending = post(url, modernCall(1, 'wait'), { ...modernHeaders('tools/call', 'wait'), ...ANN });
    await began;
    const tick = await clockOf(server);
    for (let n = 0; n < 2; n += 1) tick();
    const reader = new EventReader(await pending);
    expect((await reader.next())?.comment).toBe('keep-alive');
    probe.emit('go');
    expect((await reader.rest()).map(({ message }) => message)).toMatchObject([{ id: 1, result: {} }]);
  });
});
