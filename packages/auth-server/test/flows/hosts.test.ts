// Whole flows in each kind of host, with parsed bodies and over HTTP/2, and with clients that are documents.
import { once } from 'node:events';
import { createServer as createHttp2Server, connect as connectHttp2, type IncomingHttpHeaders } from 'node:http2';
import { text as textOf } from 'node:stream/consumers';

import { beforeAll, describe, expect, it } from '@jest/globals';
import { listen, mcp } from '@decorum/http';
import { nodeHandler } from '@decorum/http/node';
import { McpModule } from '@decorum/nestjs';
import { Tool } from '@decorum/core';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import express from 'express';
import fastify from 'fastify';

import { eachRevision } from '../../../../test/support/requirements.js';
import { AuthorizationServer } from '../../src/authorization-server.js';
import { HOST, networkOfNames, openOrigin } from '../clients/origin.js';
import { Browser } from './browser.js';
import { Client, register, REDIRECT } from './client.js';
import {
  caller,
  closeAfterwards,
  createAuth,
  freePort,
  mcpServer,
  pass,
  serve,
  type Site,
  type SiteOptions,
  stopClock,
} from './site.js';

stopClock();

/** Opens a host on a port, whose origin the authorization server needs to know before. */
async function hosted(
  open: (auth: AuthorizationServer, port: number) => Promise<() => unknown>,
  options: SiteOptions = {},
): Promise<Site> {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const { auth, events } = createAuth(origin, options);
  const close = await open(auth, port);
  closeAfterwards(async () => void (await close()));
  return {
    auth,
    events,
    logged: [],
    origin,
    issuer: origin,
    resource: `${origin}/mcp`,
    call: caller(origin),
    close: async () => void (await close()),
  };
}

const LOOPBACK = '127.0.0.1';

const inListen = () =>
  hosted(async (auth, port) => (await listen(mcpServer([]), { auth, port, host: LOOPBACK, signals: false })).close);

const inFastify = () =>
  hosted(async (auth, port) => {
    const app = fastify({ forceCloseConnections: true });
    await app.register(auth.routes);
    await app.register(mcp, { server: mcpServer([]), auth });
    await app.listen({ port, host: LOOPBACK });
    return () => app.close();
  });

const inExpress = () =>
  hosted(async (auth, port) => {
    const app = express();
    app.use(express.json(), express.urlencoded());
    app.use(nodeHandler(mcpServer([]), { auth, path: '/mcp' }));
    const server = app.listen(port, LOOPBACK);
    await once(server, 'listening');
    return () => {
      server.closeAllConnections();
      server.close();
    };
  });

@Injectable()
class Notes {
  @Tool() whoami() {
    return 'somebody';
  }
}

const inNest = (adapter: ExpressAdapter | FastifyAdapter) => () =>
  hosted(async (auth, port) => {
    class AppModule {}
    Module({ imports: [McpModule.forRoot({ name: 'notes', version: '1.0.0', auth })], providers: [Notes] })(AppModule);
    const app = await NestFactory.create(AppModule, adapter as ExpressAdapter, { logger: false, abortOnError: false });
    await app.listen(port, LOOPBACK);
    return () => app.close();
  });

describe.each([
  ['listen', inListen],
  ['Nest on Express', inNest(new ExpressAdapter())],
  ['Nest on Fastify', inNest(new FastifyAdapter())],
  ['Fastify', inFastify],
  ['Express, whose parsers have read the bodies', inExpress],
])('a whole flow in %s', (_name, open) => {
  let site: Site;
  beforeAll(async () => {
    site = await open();
  });

  it('works, and a form that was sent twice stays a mistake', async () => {
    const client = await Client.register(site);
    const tokens = await client.connect({ scope: 'mcp notes:write' });
    const { body } = await client.refresh(tokens.refresh_token);
    expect(body['scope']).toBe('mcp notes:write');
    expect(await client.call(body['access_token'] as string)).toBe(200);
    expect((await client.revoke(body['refresh_token'] as string)).status).toBe(200);
    expect(await client.call(body['access_token'] as string)).toBe(401);
    const twice = await fetch(`${site.issuer}/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `client_id=${client.id}&client_id=other&grant_type=refresh_token&refresh_token=x`,
    });
    expect([twice.status, await twice.json()]).toMatchObject([400, { error: 'invalid_request' }]);
    expect((await register(site, { redirect_uris: [REDIRECT], client_name: 'x'.repeat(20_000) })).status).toBe(413);
  });
});

it('a whole flow over HTTP/2 works, also where a body is too long', async () => {
  let port = 0;
  const site = await hosted(async (auth, given) => {
    port = given;
    const server = createHttp2Server(nodeHandler(mcpServer([]), { auth, path: '/mcp' }) as never);
    server.listen(port, LOOPBACK);
    await once(server, 'listening');
    return () => server.close();
  });
  const session = connectHttp2(site.origin);
  closeAfterwards(async () => void session.destroy());
  const send = async (path: string, body?: string, headers: Record<string, string> = {}) => {
    const stream = session.request({ ':path': path, ':method': body === undefined ? 'GET' : 'POST', ...headers });
    stream.end(body);
    const [received] = (await once(stream, 'response')) as [IncomingHttpHeaders];
    return {
      status: received[':status'],
      location: received.location,
      cookies: received['set-cookie'] ?? [],
      text: await textOf(stream),
    };
  };
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const registered = await send(
    '/register',
    JSON.stringify({ redirect_uris: [REDIRECT], token_endpoint_auth_method: 'none' }),
  );
  const client = new Client(site, (JSON.parse(registered.text) as { client_id: string }).client_id);
  const jar = new Map<string, string>();
  const visit = async (path: string, body?: string) => {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await send(path, body, { cookie, ...form });
    for (const each of answer.cookies) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(each) ?? [];
      jar.set(name, value);
    }
    return answer;
  };
  const pathOf = (location = '') => location.slice(site.origin.length);
  const { pathname, search } = new URL(client.url());
  const page = pathOf((await visit(pathname + search)).location);
  const csrf = async (path: string) => /name="csrf" value="([^"]+)"/.exec((await visit(path)).text)?.[1];
  const resume = pathOf((await visit(page, `csrf=${await csrf(page)}&username=alice&password=correct+horse`)).location);
  const consent = pathOf((await visit(resume)).location);
  const done = pathOf((await visit(consent, `csrf=${await csrf(consent)}&decision=allow`)).location);
  const code = new URL((await visit(done)).location as string).searchParams.get('code');
  const fields = {
    client_id: client.id,
    grant_type: 'authorization_code',
    code: String(code),
    code_verifier: client.verifier,
    redirect_uri: REDIRECT,
  };
  const { status, text } = await send('/token', new URLSearchParams(fields).toString(), form);
  expect([status, JSON.parse(text)]).toMatchObject([200, { token_type: 'Bearer', scope: 'mcp' }]);
  expect((await send('/token', 'x'.repeat(20_000), form)).status).toBe(413);
  expect((await send('/jwks')).status).toBe(200);
});

describe('a client that is a document', () => {
  let origin: Awaited<ReturnType<typeof openOrigin>>;
  let site: Site;
  let id: string;
  const document = (more = {}) => ({
    client_id: id,
    client_name: 'Documented',
    redirect_uris: [REDIRECT],
    token_endpoint_auth_method: 'none',
    ...more,
  });
  beforeAll(async () => {
    origin = await openOrigin();
    const names = { [HOST]: ['127.0.0.1'], 'metadata.example': ['169.254.169.254'], 'intern.example': ['10.0.0.1'] };
    site = await serve({ platform: { network: networkOfNames(names) } });
  });
  let count = 0;
  const fresh = (more = {}, headers = {}) => {
    id = origin.url(`/${++count}.json`);
    origin.sends(document(more), headers);
    return new Client(site, id);
  };
  const refused = async (client: Client) => {
    const { status, headers } = await new Browser().open(client.url());
    return [status, headers.get('location')];
  };
  const REFUSED = [400, null];

  eachRevision(['AUTHAS-06', 'AUTHAS-09'], 'gets tokens, and the pages name its host', async () => {
    const client = fresh();
    const page = await client.signIn(new Browser());
    expect(page.text).toContain(`It calls itself Documented Comes from ${HOST}`);
    const { access_token: token, refresh_token: next } = await client.connect();
    expect(await client.call(token)).toBe(200);
    expect((await client.refresh(next)).status).toBe(200);
    const metadata = await (await fetch(`${site.issuer}/.well-known/oauth-authorization-server`)).json();
    expect(metadata).toMatchObject({ client_id_metadata_document_supported: true });
  });

  eachRevision('AUTHAS-07', 'gets a page if its document is wrong, or lists another redirect', async () => {
    for (const wrong of [
      { client_id: 'https://other.example/c.json' },
      { client_id: undefined },
      { redirect_uris: undefined },
      { redirect_uris: ['https://other.example/callback'] },
      { redirect_uris: ['http://evil.example/callback'] },
      { client_secret: 'secret' },
      { token_endpoint_auth_method: 'client_secret_post' },
    ])
      expect([wrong, ...(await refused(fresh(wrong)))]).toEqual([wrong, ...REFUSED]);
    const client = fresh();
    origin.sends('no json');
    expect(await refused(client)).toEqual(REFUSED);
    expect(await client.refresh('x')).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
  });

  eachRevision(
    'AUTHAS-08',
    'is fetched as often as its headers say, and never from private addresses (defence 11)',
    async () => {
      const client = fresh({}, { 'cache-control': 'max-age=600' });
      const before = origin.requests.length;
      await client.connect();
      await client.connect();
      expect(origin.requests.length - before).toBe(1);
      const connections = origin.connections();
      for (const host of [
        'metadata.example',
        'intern.example',
        'unknown.example',
        '169.254.169.254',
        '10.0.0.1',
        '[::ffff:a00:1]',
      ])
        expect([host, ...(await refused(new Client(site, origin.url('/c.json', host))))]).toEqual([host, ...REFUSED]);
      expect(origin.connections()).toBe(connections);
      const moved = fresh();
      origin.answers((_request, response) => response.writeHead(302, { location: origin.url('/other.json') }).end());
      expect(await refused(moved)).toEqual(REFUSED);
      const long = fresh({ client_name: 'x'.repeat(5 * 1024) });
      expect(await refused(long)).toEqual(REFUSED);
    },
  );

  it('keeps its tokens while its origin is down, also if this server has been started since', async () => {
    const client = fresh({}, { 'cache-control': 'no-store' });
    const { refresh_token: token } = await client.connect();
    pass(60_000);
    origin.answers((_request, response) => response.writeHead(503).end());
    const before = origin.requests.length;
    expect((await client.refresh(token)).body).toMatchObject({ error: 'temporarily_unavailable' });
    expect(origin.requests.length - before).toBe(1);
    expect(await refused(client)).toEqual(REFUSED);
    expect(origin.requests.length - before).toBe(2);
    origin.sends(document());
    expect((await client.refresh(token)).status).toBe(200);
  });

  it('can prove who it is with a key that its document has, and each proof counts once', async () => {
    const { exportJWK, generateKeyPair, SignJWT } = await import('jose');
    const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
    const jwks = { keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256', use: 'sig', kid: 'k' }] };
    const client = fresh({ token_endpoint_auth_method: 'private_key_jwt', jwks }, { 'cache-control': 'max-age=3600' });
    const prove = async (jti: string) => ({
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: await new SignJWT({ jti })
        .setProtectedHeader({ alg: 'ES256', kid: 'k' })
        .setIssuer(client.id)
        .setSubject(client.id)
        .setAudience(site.issuer)
        .setIssuedAt()
        .setExpirationTime('1m')
        .sign(privateKey),
    });
    const codeOf = async () => (await client.authorize()).answer['code'] as string;
    const proof = await prove('one');
    expect((await client.exchange('wrong', proof)).body['error']).toBe('invalid_grant');
    const replayed = await client.exchange(await codeOf(), proof);
    expect([replayed.status, replayed.body['error']]).toEqual([401, 'invalid_client']);
    const code = await codeOf();
    expect((await client.exchange(code)).body['error']).toBe('invalid_client');
    expect((await client.exchange(code, await prove('two'))).status).toBe(200);
  });
});

describe('An authorization server whose last endpoint was closed', () => {
  it('says at the start of another one that its store opens once', async () => {
    const { auth, close } = await inListen();
    await close();
    const again = listen(mcpServer([]), { auth, port: await freePort(), host: LOOPBACK, signals: false });
    await expect(again).rejects.toThrow(/`store` was closed with the last endpoint/);
  });
});
