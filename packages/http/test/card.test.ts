// Server Cards and AI Catalogs: the documents that clients read before they connect.
import { describe, expect, it } from '@jest/globals';
import type { McpServerOptions } from '@decorum/core';
import { REVISIONS } from '@decorum/core/internal';
import { definePlugin } from '@decorum/core/plugin';
import { type CardOptions, type ListenOptions, mcp, type McpPluginOptions } from '@decorum/http';
import { fetchHandler } from '@decorum/http/fetch';
import { nodeHandler } from '@decorum/http/node';
import express from 'express';
import { fastify, type FastifyInstance } from 'fastify';

import { cardMistakes } from '../../../test/support/discovery-schemas.js';
import { afterwards, createServer, Probe, raw, serve, serveNode } from './fixture.js';

const CATALOG = '/.well-known/ai-catalog.json';

const ABOUT: Partial<McpServerOptions> = {
  name: 'Weather Service',
  title: 'Weather',
  description: 'Forecasts for all of Norway.',
  version: '1.2.3',
  websiteUrl: 'https://weather.example.com/about',
  icons: [{ src: 'https://weather.example.com/icon.png', mimeType: 'image/png', sizes: ['48x48'] }],
};

interface Document {
  readonly name: string;
  readonly remotes: readonly { readonly type: string; readonly url: string; readonly headers?: readonly object[] }[];
  readonly entries: readonly { readonly identifier: string; readonly url: string }[];
}

const documentAt = async (url: string, headers: Record<string, string> = {}): Promise<Document> =>
  JSON.parse((await raw(url, 'GET', headers))[1]) as Document;

const statusAt = async (url: string, method = 'GET', headers: Record<string, string> = {}) =>
  (await raw(url, method, headers))[0].statusCode;

const serveCard = async (card: boolean | CardOptions = true, options: ListenOptions = {}, about = ABOUT) =>
  await serve({ card, ...options }, about);

const originOf = (url: string) => new URL(url).origin;

/** A server of the same kind for each endpoint. */
function described(about: Partial<McpServerOptions> = {}) {
  const { server } = createServer(new Probe(), { ...ABOUT, ...about });
  afterwards(() => server.close());
  return server;
}

async function serveApp(...endpoints: Partial<McpPluginOptions & { prefix: string }>[]) {
  const app: FastifyInstance = fastify();
  afterwards(() => app.close());
  for (const [index, options] of endpoints.entries()) {
    await app.register(mcp, { server: described({ name: `weather-${index}` }), card: true, ...options });
  }
  return { app, origin: await app.listen({ port: 0, host: '127.0.0.1' }) };
}

describe('a Server Card', () => {
  it('is valid by the schema of the extension, and says what the server says of itself', async () => {
    const { url } = await serveCard({
      name: 'com.example/weather',
      repository: { url: 'https://github.com/example/weather', source: 'github', subfolder: 'server' },
    });
    const card = await documentAt(`${url}/server-card`);
    expect(cardMistakes(card)).toEqual([]);
    expect(card).toEqual({
      $schema: 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json',
      name: 'com.example/weather',
      version: ABOUT.version,
      description: ABOUT.description,
      title: ABOUT.title,
      websiteUrl: ABOUT.websiteUrl,
      repository: { url: 'https://github.com/example/weather', source: 'github', subfolder: 'server' },
      icons: ABOUT.icons,
      remotes: [
        { type: 'streamable-http', url, supportedProtocolVersions: REVISIONS.map(({ id }) => id).toReversed() },
      ],
    });
  });

  it('has the media type, the CORS headers and the cache headers of the extension', async () => {
    const { url } = await serveCard();
    const [{ statusCode, headers }] = await raw(`${url}/server-card`, 'GET', { origin: 'https://anywhere.example' });
    expect({ statusCode, ...headers }).toMatchObject({
      statusCode: 200,
      'content-type': 'application/mcp-server-card+json',
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET',
      'access-control-allow-headers': 'Content-Type, If-None-Match',
      'access-control-expose-headers': 'ETag',
      'cache-control': 'public, max-age=3600',
      etag: expect.stringMatching(/^"[\w-]{22}"$/),
    });
  });

  it.each([
    ['the same ETag', (etag: string) => etag],
    ['a weak one', (etag: string) => `W/${etag}`],
    ['one of several', (etag: string) => `"other", ${etag}`],
    ['any', () => '*'],
  ])('is not sent again to a client that has it, by %s', async (_by, conditionOf) => {
    const { url } = await serveCard();
    const [first] = await raw(`${url}/server-card`, 'GET', {});
    const { etag = '' } = first.headers;
    const [second, text] = await raw(`${url}/server-card`, 'GET', { 'if-none-match': conditionOf(etag) });
    expect([second.statusCode, second.headers.etag, second.headers['content-length'], text]).toEqual([
      304,
      etag,
      undefined,
      '',
    ]);
    expect(await statusAt(`${url}/server-card`, 'GET', { 'if-none-match': '"another"' })).toBe(200);
  });

  it('answers HEAD and preflight requests, and no other methods', async () => {
    const { url } = await serveCard();
    const [head, text] = await raw(`${url}/server-card`, 'HEAD', {});
    expect([head.statusCode, text]).toEqual([200, '']);
    expect(Number(head.headers['content-length'])).toBeGreaterThan(100);
    const [preflight] = await raw(`${url}/server-card`, 'OPTIONS', { origin: 'https://anywhere.example' });
    expect([preflight.statusCode, preflight.headers['access-control-allow-origin']]).toEqual([204, '*']);
    const [post] = await raw(`${url}/server-card`, 'POST', { 'content-type': 'application/json' }, '{}');
    expect([post.statusCode, post.headers.allow]).toEqual([405, 'GET, HEAD']);
  });

  it.each([
    ['[fe80::1]', 'fe80-1/Weather-Service'],
    ['my_host.example', 'example.my-host/Weather-Service'],
    [`${'a'.repeat(60)}.${'b'.repeat(60)}.example.com`, /^com\.example\.b{60}\.a+\/Weather-Service$/],
  ])('has a valid name on the host %s', async (host, name) => {
    const { url } = await serveCard(true, { allowedHosts: [host] });
    const [{ statusCode }, text] = await raw(`${url}/server-card`, 'GET', { host });
    const card = JSON.parse(text) as { readonly name: string };
    expect([statusCode, cardMistakes(card)]).toEqual([200, []]);
    expect(card.name).toEqual(typeof name === 'string' ? name : expect.stringMatching(name));
  });

  it.each(['/server-card?v=1', '/%73erver-card', '/server-card/'])('leads to the endpoint from %s', async (sent) => {
    const app = fastify({ routerOptions: { ignoreTrailingSlash: true } });
    afterwards(() => app.close());
    await app.register(mcp, { server: described(), card: true });
    const origin = await app.listen({ port: 0, host: '127.0.0.1' });
    expect((await documentAt(`${origin}/mcp${sent}`)).remotes[0]?.url).toBe(`${origin}/mcp`);
  });

  it('is refused for a host that is not allowed, and says where the endpoint is for one that is', async () => {
    const { url } = await serveCard(true, { allowedHosts: ['mcp.example.com'] });
    const card = `${url}/server-card`;
    expect(await statusAt(card, 'GET', { host: 'evil.example' })).toBe(403);
    expect(await statusAt(card, 'GET', { host: 'mcp.example.com:a' })).toBe(400);
    const found = await documentAt(card, { host: 'mcp.example.com:8443' });
    expect(found.name).toBe('com.example.mcp/Weather-Service');
    expect(found.remotes[0]?.url).toBe('https://mcp.example.com:8443/mcp');
    expect((await documentAt(card)).remotes[0]?.url).toBe(url);
  });

  it('has the URL of the option, whatever the host of the request', async () => {
    const { url } = await serveCard({ url: 'https://example.com/tools/mcp' });
    const card = await documentAt(`${url}/server-card`);
    expect([card.name, card.remotes[0]?.url]).toEqual(['com.example/Weather-Service', 'https://example.com/tools/mcp']);
    const [entry] = (await documentAt(originOf(url) + CATALOG)).entries;
    expect(entry?.url).toBe('https://example.com/tools/mcp/server-card');
  });

  it('is public although the endpoint is not, and names the credentials that clients need', async () => {
    const auth = { authenticate: () => ({ status: 401 }), credentialHeaders: ['x-api-key'] };
    const { url } = await serveCard(true, { auth });
    expect(await statusAt(url, 'POST', { 'content-type': 'application/json' })).toBe(401);
    const card = await documentAt(`${url}/server-card`);
    expect(cardMistakes(card)).toEqual([]);
    expect(card.remotes[0]?.headers).toEqual([
      { name: 'x-api-key', description: expect.any(String), isRequired: true, isSecret: true },
    ]);
  });

  it('leaves credentials to OAuth if `auth` has documents, and to the option `headers`', async () => {
    const documents = [{ path: '/.well-known/oauth-protected-resource', answer: () => ({ status: 200 }) }];
    const auth = { authenticate: () => undefined, documents };
    const oauth = await serveCard(true, { auth });
    expect((await documentAt(`${oauth.url}/server-card`)).remotes[0]?.headers).toBeUndefined();
    const headers = [{ name: 'X-Tenant', description: 'Your tenant.', isRequired: true }];
    const tenants = await serveCard({ headers }, { auth });
    expect((await documentAt(`${tenants.url}/server-card`)).remotes[0]?.headers).toEqual(headers);
  });

  it('lists HTTP+SSE if the endpoint serves it', async () => {
    const { url } = await serveCard(true, { legacySse: true });
    const { remotes } = await documentAt(`${url}/server-card`);
    expect(remotes.map((remote) => [remote.type, remote.url])).toEqual([
      ['streamable-http', url],
      ['sse', `${originOf(url)}/sse`],
    ]);
  });

  it('has no tools, resources, prompts or instructions', async () => {
    const { url } = await serveCard(true, {}, { ...ABOUT, instructions: 'Call add first.' });
    const [, text] = await raw(`${url}/server-card`, 'GET', {});
    for (const secret of ['Adds', 'docs://guide', 'greet', 'Call add']) expect(text).not.toContain(secret);
  });

  it('is not served without the option', async () => {
    const { url } = await serve({}, ABOUT);
    expect(await statusAt(`${url}/server-card`)).toBe(404);
    expect(await statusAt(originOf(url) + CATALOG)).toBe(404);
  });
});

describe('an AI Catalog', () => {
  it('lists the card of `listen`, for pages of any origin', async () => {
    const { url } = await serveCard({ name: 'com.example/weather' });
    const [{ headers }, text] = await raw(originOf(url) + CATALOG, 'GET', { origin: 'https://anywhere.example' });
    expect(headers['content-type']).toBe('application/ai-catalog+json');
    expect(headers['access-control-allow-origin']).toBe('*');
    expect(JSON.parse(text)).toEqual({
      specVersion: '1.0',
      entries: [
        {
          identifier: 'urn:air:example.com:mcp:weather',
          type: 'application/mcp-server-card+json',
          url: `${url}/server-card`,
        },
      ],
    });
    const { etag = '' } = headers;
    expect(await statusAt(originOf(url) + CATALOG, 'GET', { 'if-none-match': etag })).toBe(304);
    expect(await statusAt(originOf(url) + CATALOG, 'GET', { host: 'evil.example' })).toBe(403);
  });

  it('lists all endpoints of an application, those below a prefix too, and leads to their cards', async () => {
    const { origin } = await serveApp({ path: '/a' }, { prefix: '/v1' }, { path: '/c', card: { catalog: false } });
    const { entries } = await documentAt(origin + CATALOG);
    expect(entries.map(({ url }) => url)).toEqual([`${origin}/a/server-card`, `${origin}/v1/mcp/server-card`]);
    for (const path of ['/a', '/v1/mcp', '/c']) {
      const card = await documentAt(`${origin}${path}/server-card`);
      expect([cardMistakes(card), card.remotes[0]?.url]).toEqual([[], origin + path]);
    }
  });

  it('lists only endpoints that accept the host of the request', async () => {
    const { origin } = await serveApp({ path: '/a', allowedHosts: ['a.example'] }, { path: '/b' });
    const { entries } = await documentAt(origin + CATALOG, { host: 'a.example' });
    expect(entries.map(({ url }) => url)).toEqual(['https://a.example/a/server-card']);
  });

  it("is left to the application's own route", async () => {
    const app = fastify();
    afterwards(() => app.close());
    app.get(CATALOG, () => ({ specVersion: '1.0', entries: [] }));
    await app.register(mcp, { server: described(), card: true });
    const origin = await app.listen({ port: 0, host: '127.0.0.1' });
    expect((await documentAt(origin + CATALOG)).entries).toEqual([]);
  });

  it('is missed in the log if every endpoint is below a prefix', async () => {
    const warnings: string[] = [];
    const server = described({ logger: { warn: (_context, message) => void warnings.push(message), error: () => {} } });
    const { origin } = await serveApp({ server, prefix: '/v1' });
    expect(await statusAt(origin + CATALOG)).toBe(404);
    expect(warnings).toEqual([expect.stringMatching(/\.well-known.*prefix "\/v1".*`path`/)]);
  });

  it('can be left out', async () => {
    const { url } = await serveCard({ catalog: false });
    expect(await statusAt(originOf(url) + CATALOG)).toBe(404);
    expect(await statusAt(`${url}/server-card`)).toBe(200);
  });
});

describe('a card of a handler', () => {
  it('is served by nodeHandler at the root, with the catalog', async () => {
    const handler = nodeHandler(described(), { path: '/mcp', card: true });
    const origin = await serveNode(handler as never);
    const card = await documentAt(`${origin}/mcp/server-card`);
    expect([cardMistakes(card), card.remotes[0]?.url]).toEqual([[], `${origin}/mcp`]);
    expect((await documentAt(origin + CATALOG)).entries[0]?.url).toBe(`${origin}/mcp/server-card`);
  });

  it('is served by nodeHandler mounted in Express, with the path that clients use', async () => {
    const app = express();
    app.use('/tools/mcp', nodeHandler(described(), { card: true }));
    const origin = await serveNode(app);
    const card = await documentAt(`${origin}/tools/mcp/server-card`);
    expect(card.remotes[0]?.url).toBe(`${origin}/tools/mcp`);
    expect(await statusAt(origin + CATALOG)).toBe(404);
  });

  it('is served by fetchHandler, which needs `url` for the catalog if a router chooses the path', async () => {
    const warnings: string[] = [];
    const logger = { warn: (_context: unknown, message: string) => void warnings.push(message), error: () => {} };
    const allowedHosts = ['mcp.example.com'];
    const bare = fetchHandler(described({ logger }), { allowedHosts, card: true });
    const found = await bare(new Request('https://mcp.example.com/api/mcp/server-card'));
    const card = (await found.json()) as Document;
    expect([cardMistakes(card), card.remotes[0]?.url]).toEqual([[], 'https://mcp.example.com/api/mcp']);
    for (let times = 0; times < 2; times++) {
      expect((await bare(new Request(`https://mcp.example.com${CATALOG}`))).status).toBe(404);
    }
    expect(warnings).toEqual([expect.stringContaining("card: { url: 'https://mcp.example.com/mcp' }")]);
    const url = 'https://mcp.example.com/api/mcp';
    const handler = fetchHandler(described(), { allowedHosts, card: { url } });
    const catalog = (await (await handler(new Request(`https://mcp.example.com${CATALOG}`))).json()) as Document;
    expect(catalog.entries[0]?.url).toBe(`${url}/server-card`);
    expect((await handler(new Request(`${url}/server-card`, { method: 'HEAD' }))).body).toBeNull();
  });
});

describe('a wrong card', () => {
  it('fails at startup for two endpoints of one name in an application, and for a path that is taken', async () => {
    const app = fastify();
    afterwards(() => app.close());
    await app.register(mcp, { server: described(), path: '/a', card: true });
    await expect(async () => await app.register(mcp, { server: described(), path: '/b', card: true })).rejects.toThrow(
      /card\.name.*Weather-Service.*two endpoints.*catalog: false/,
    );
    const taken = fastify();
    afterwards(() => taken.close());
    taken.get('/mcp/server-card', () => 'mine');
    await expect(async () => await taken.register(mcp, { server: described(), card: true })).rejects.toThrow(
      /GET \/mcp\/server-card/,
    );
    const handle = () => ({ status: 200 });
    const routes = definePlugin(() => ({ name: 'own', routes: [{ method: 'GET', path: '/mcp/server-card', handle }] }));
    expect(() => nodeHandler(described({ plugins: [routes()] }), { path: '/mcp', card: true })).toThrow(
      /`card`.*the plugin "own"/,
    );
  });
});
