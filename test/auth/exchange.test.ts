// Tokens of callers exchanged at an issuer of others, by tools of a real server.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { entra, ExchangeError, type IssuerOptions, oauth } from '@decorum/auth';
import { Context, McpServer, NoInput, Tool, ToolError } from '@decorum/core';
import { nodeHandler } from '@decorum/http/node';
import { connect } from '@decorum/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import { decodeJwt } from 'jose';

import { HostileIssuer, sendJson } from './hostile-issuer.js';
import { Program } from './processes.js';

const API = 'https://calendar.example.com';
const SECRET = 'hush+hush/1~% and more';
const CLIENT = { clientId: 'files', clientSecret: SECRET };

const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A server whose tool exchanges the token of its caller, and what its `ctx` and log held. */
async function serve(issuer: IssuerOptions, request = { audience: API, scopes: ['events:read'] }) {
  const seen: string[] = [];
  const http: Server = createServer().listen(0, '127.0.0.1');
  await once(http, 'listening');
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
  const auth = oauth({
    issuer,
    audience: url,
    allowLoopbackHttp: true,
    reportGranted: true,
    onEvent: (event) => void seen.push(JSON.stringify(event)),
  });

  class Calendar {
    @Tool({ description: 'Exchanges the token' })
    async events(_input: NoInput, ctx: Context) {
      const { principal, transport } = ctx;
      seen.push(JSON.stringify({ principal, transport }));
      try {
        return (await auth.exchange(principal, request)).accessToken;
      } catch (error) {
        if (!(error instanceof ExchangeError)) throw error;
        throw new ToolError(`${error.code}: ${error.message}`);
      }
    }
  }

  const log = (...told: unknown[]) => void seen.push(JSON.stringify(told));
  const server = new McpServer({
    name: 'files',
    version: '1.0.0',
    providers: [Calendar],
    logger: { warn: log, error: log },
  });
  const handler = nodeHandler(server, { path: '/mcp', auth });
  await handler.ready;
  http.on('request', handler);
  closing.push(async () => {
    await handler.close();
    await server.close();
    http.closeAllConnections();
    http.close();
  });
  const call = async (token: string) => {
    const client = await connect(url, { era: 'stateless', headers: { authorization: `Bearer ${token}` } });
    const { content, isError } = await client.callTool('events');
    await client.close();
    return {
      text: (content as readonly object[] as readonly { text: string }[])[0]?.text ?? '',
      ...(isError && { isError }),
    };
  };
  return { url, call, seen };
}

async function startIssuer(...args: string[]): Promise<Program> {
  const issuer = await Program.start('exchange-issuer.js', args);
  closing.push(() => issuer.stop());
  return issuer;
}

const tokenFor = async (issuer: Program, audience: string): Promise<string> =>
  await (await fetch(`${issuer.url}/token-of-alice?aud=${encodeURIComponent(audience)}`)).text();

describe('with oidc-provider', () => {
  it.each([
    ['in the Authorization header', 'files', []],
    ['in the body, if the issuer takes it only there', 'posting', ['--post']],
  ])('a tool gets a token for another API, with the secret %s (#23)', async (_title, clientId, args) => {
    const issuer = await startIssuer(...args);
    const { url, call, seen } = await serve({ issuer: issuer.url, ...CLIENT, clientId });
    const token = await tokenFor(issuer, url);
    const { text } = await call(token);
    expect(decodeJwt(text)).toMatchObject({ iss: issuer.url, sub: 'alice', aud: API, scope: 'events:read' });
    // the second call gets the same token
    expect((await call(token)).text).toBe(text);
    expect(seen.length).toBeGreaterThan(3);
    for (const secret of [token, text, SECRET]) expect(seen.join()).not.toContain(secret);
  });

  it('a tool learns why there is no token (#23)', async () => {
    const issuer = await startIssuer();
    const wrongTarget = await serve(
      { issuer: issuer.url, ...CLIENT },
      { audience: 'https://other.example.com', scopes: [] },
    );
    const wrongSecret = await serve({ issuer: issuer.url, ...CLIENT, clientSecret: 'wrong' });
    expect(await wrongTarget.call(await tokenFor(issuer, wrongTarget.url))).toEqual({
      isError: true,
      text: expect.stringMatching(/^invalid-target: .*unknown audience/),
    });
    expect(await wrongSecret.call(await tokenFor(issuer, wrongSecret.url))).toEqual({
      isError: true,
      text: expect.stringMatching(/^invalid-client: /),
    });
  });
});

describe('with an imitation of Entra', () => {
  it('a tool acts on behalf of the user, and learns when the user has to consent (#23)', async () => {
    const tenant = '6babcaad-604b-40ac-a9d7-9fd97c0b779f';
    const issuer = await HostileIssuer.open(undefined, `/${tenant}/v2.0`);
    closing.push(() => issuer.stop());
    const consented = new Set<string>();
    issuer.handlers.set(`/${tenant}/v2.0/token`, ({ headers }, response, text) => {
      const form = new URLSearchParams(text);
      const [id, secret] = Buffer.from(headers.authorization?.slice(6) ?? '', 'base64')
        .toString()
        .split(':');
      const refuse = (status: number, error: object) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(error));
      if (id !== 'files' || decodeURIComponent(secret?.replaceAll('+', ' ') ?? '') !== SECRET) {
        return refuse(401, { error: 'invalid_client', error_description: 'AADSTS7000215: Invalid client secret.' });
      }
      const isOnBehalf =
        form.get('requested_token_use') === 'on_behalf_of' && form.get('grant_type')?.endsWith(':jwt-bearer');
      if (!isOnBehalf) return refuse(400, { error: 'unsupported_grant_type' });
      const { sub = '' } = decodeJwt(form.get('assertion') ?? '');
      if (!consented.has(sub)) {
        const error_description = 'AADSTS65001: The user or administrator has not consented to use the application.';
        return refuse(400, { error: 'invalid_grant', suberror: 'consent_required', error_description });
      }
      sendJson(response, { token_type: 'Bearer', expires_in: 4000, access_token: `${sub} at ${form.get('scope')}` });
    });
    const request = { audience: 'https://graph.microsoft.com', scopes: ['User.Read'] };
    const { url, call } = await serve(
      { ...entra({ tenant, applicationIdUri: 'api://files' }), issuer: issuer.url, ...CLIENT },
      request,
    );
    const claims = { aud: url, ver: '2.0', tid: tenant, azp: 'editor', scp: 'mcp' };
    const token = issuer.sign(claims, { header: { typ: 'JWT' } });
    const refused = await call(token);
    expect(refused.text).toMatch(/^interaction-required: .*AADSTS65001.*The user must sign in or consent/);
    consented.add('ada');
    expect(await call(token)).toEqual({ text: 'ada at https://graph.microsoft.com/User.Read' });
  });
});
