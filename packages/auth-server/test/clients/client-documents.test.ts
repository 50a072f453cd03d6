import { Buffer } from 'node:buffer';
import { gzipSync } from 'node:zlib';

import { describe, expect, it } from '@jest/globals';

import { ClientDocuments } from '../../src/clients/client-documents.js';
import type { ClientError } from '../../src/clients/client-error.js';
import type { ClientMetadata } from '../../src/clients/client-metadata.js';
import { PublicFetch } from '../../src/clients/public-fetch.js';
import { HOST, networkOfNames, openOrigin, standingClock } from './origin.js';
import { seenByProvider } from './provider.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const REDIRECT = 'https://client.example/cb';
const PATH = '/client.json';

async function open({ allowLoopback = true, names = { [HOST]: ['127.0.0.1'] } as Record<string, string[]> } = {}) {
  const origin = await openOrigin();
  const clock = standingClock();
  const network = { ...networkOfNames(names), timeout: clock.timeout };
  const fetcher = new PublicFetch(clock, { allowLoopback, network });
  const documents = new ClientDocuments({ clock, fetcher, schemes: [] });
  const id = origin.url(PATH);
  const document = { client_id: id, client_name: 'Editor', redirect_uris: [REDIRECT] };
  origin.sends(document);
  const problem = (of = id, from?: string) =>
    documents.find(of, from).then(
      () => 'none',
      (error: ClientError) => `${error.code}: ${error.message}`,
    );
  return { origin, clock, network, documents, id, document, problem, find: () => documents.find(id) };
}

describe('a client whose id is a URL', () => {
  it('is described by the document there [AUTHAS-06]', async () => {
    const { origin, document, find, id } = await open();
    origin.sends({ ...document, scope: 'mcp', logo_uri: 'https://client.example/logo', unknown: 1 });
    const metadata = await find();
    expect(metadata).toEqual({
      client_id: id,
      client_name: 'Editor',
      redirect_uris: [REDIRECT],
      application_type: 'web',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    } satisfies ClientMetadata);
    expect(seenByProvider(metadata).redirectUriAllowed(REDIRECT)).toBe(true);
    expect(seenByProvider(metadata).redirectUriAllowed('https://evil.example/cb')).toBe(false);
  });

  it('may prove who it is with a key, but not with a secret [AUTHAS-07]', async () => {
    const { origin, document, find, id, problem } = await open();
    const keyed = { ...document, token_endpoint_auth_method: 'private_key_jwt', jwks_uri: `${id}.keys` };
    for (const wrong of ['client_secret_basic', 'client_secret_post', 'client_secret_jwt', 7]) {
      origin.sends({ ...document, token_endpoint_auth_method: wrong });
      expect(await problem()).toMatch(/^invalid_client_metadata: token_endpoint_auth_method must be one of/);
    }
    for (const secret of [{ client_secret: 'x' }, { client_secret_expires_at: 0 }]) {
      origin.sends({ ...document, ...secret });
      expect(await problem()).toContain('must not have a client_secret');
    }
    origin.sends(keyed);
    expect(seenByProvider(await find()).metadata()).toMatchObject({ jwks_uri: `${id}.keys` });
  });

  it.each<[string, string, unknown]>([
    ['another client_id', 'its own URL', { client_id: 'https://client.example/other', redirect_uris: [REDIRECT] }],
    ['no client_id', 'its own URL', { redirect_uris: [REDIRECT] }],
    ['no redirect URIs', 'invalid_redirect_uri', {}],
    ['a foreign http redirect', 'invalid_redirect_uri', { redirect_uris: ['http://evil.example/cb'] }],
    ['an http page', 'https URL as client_uri', { redirect_uris: [REDIRECT], client_uri: 'http://client.example' }],
    ['a script as logo', 'https URL as logo_uri', { redirect_uris: [REDIRECT], logo_uri: 'javascript:alert(1)' }],
    ['an array', 'JSON object', []],
    ['no JSON', 'JSON object', '{"client_id":'],
    ['nothing', 'JSON object', ''],
  ])('is unknown if its document has %s [AUTHAS-07]', async (_name, why, json) => {
    const { origin, id, problem } = await open();
    const isFields = typeof json === 'object' && !Array.isArray(json) && !(why === 'its own URL');
    origin.sends(isFields ? { client_id: id, ...(json as object) } : json);
    expect(await problem()).toContain(why);
  });

  it.each([
    ['http://client.example/c', 'must be an https URL'],
    ['HTTPS://client.example/c', 'normal form'],
    ['https://client.example', 'must have a path'],
    ['https://client.example:443/c', 'normal form'],
    ['https://CLIENT.example/c', 'normal form'],
    ['https://client.example/a/../c', 'normal form'],
    ['https://client.example/./c', 'normal form'],
    ['https://client.example/%2e%2E/c', 'normal form'],
    ['https://client.example/c#x', 'fragment'],
    ['https://client.example/c#', 'fragment'],
    ['https://me@client.example/c', 'user name'],
    ['https://@client.example/c', 'normal form'],
    ['https://client.example\\c', 'normal form'],
    ['https://client.example/c ', 'normal form'],
    ['https://127.1/c', 'normal form'],
    ['https://2130706433/c', 'normal form'],
  ])('is unknown, and nothing is fetched, if the URL is %s [AUTHAS-07]', async (id, why) => {
    const { problem, network } = await open();
    expect(await problem(id)).toContain(why);
    expect(network.asked).toEqual([]);
  });

  it('is unknown if the URL has more than 1,000 characters', async () => {
    const { problem, network } = await open();
    expect(await problem(`https://client.example/${'c'.repeat(1000)}`)).toContain('1000 characters');
    expect(network.asked).toEqual([]);
  });
});

describe('documents of clients that are fetched', () => {
  it.each([
    ['127.0.0.1'],
    ['169.254.169.254'],
    ['10.0.0.1'],
    ['::1'],
    ['::ffff:127.0.0.1'],
    ['64:ff9b::7f00:1'],
    ['0.0.0.0'],
    ['8.8.8.8', '127.0.0.1'],
  ])('never come from an address that is not public: %s [AUTHAS-08] [SEC-18]', async (...addresses) => {
    const { origin, problem } = await open({ allowLoopback: false, names: { [HOST]: addresses } });
    expect(await problem()).toContain('not public');
    expect(origin.connections()).toBe(0);
  });

  it('never come from such an address in the URL itself, or from localhost [SEC-18]', async () => {
    const { origin, problem, network } = await open({ allowLoopback: false });
    for (const host of ['127.0.0.1', '[::1]', '[::ffff:7f00:1]', 'localhost', 'a.localhost']) {
      expect(await problem(origin.url(PATH, host))).toContain('not public');
    }
    expect(network.asked).toEqual([]);
    expect(origin.connections()).toBe(0);
  });

  it('come from the address that was checked: the name is looked up once [AUTHAS-08]', async () => {
    const { network, find, documents, origin } = await open();
    await find();
    expect(network.asked).toEqual([HOST]);
    // an address and localhost need no DNS
    for (const host of ['127.0.0.1', 'localhost']) {
      const id = origin.url(PATH, host);
      origin.sends({ client_id: id, redirect_uris: [REDIRECT] });
      expect((await documents.find(id)).client_id).toBe(id);
    }
    expect(network.asked).toEqual([HOST]);
  });

  it('come from a server with a certificate for this name', async () => {
    const { origin, problem } = await open({ names: { 'other.example': ['127.0.0.1'] } });
    expect(await problem(origin.url(PATH, 'other.example'))).toContain('could not be fetched');
    expect(origin.requests).toEqual([]);
  });

  it('are not behind redirects [SEC-18]', async () => {
    const { origin, problem } = await open();
    for (const status of [301, 302, 303, 307, 308]) {
      origin.answers((_, response) => response.writeHead(status, { location: '/other' }).end());
      expect(await problem()).toContain('must not be a redirect');
    }
    expect(new Set(origin.requests)).toEqual(new Set([PATH]));
  });

  it('are JSON with status 200', async () => {
    const { origin, problem, document } = await open();
    for (const status of [201, 204, 400, 401, 404, 410]) {
      origin.sends(document, {}, status);
      expect(await problem()).toContain(`status ${status}`);
    }
    for (const type of ['text/html', 'text/plain', 'application/javascript', 'application/json+x', '']) {
      origin.sends(document, { 'content-type': type });
      expect(await problem()).toContain('must be application/json');
    }
    origin.sends(document, { 'content-type': 'application/oauth-client+JSON; charset=utf-8' });
    expect(await problem()).toBe('none');
  });

  it('have at most 5 KiB, and are never unpacked', async () => {
    const { origin, problem, document } = await open();
    const size = JSON.stringify({ ...document, pad: '' }).length;
    origin.sends({ ...document, pad: 'x'.repeat(5121 - size) });
    expect(await problem()).toContain('more than 5120 bytes');
    for (const encoding of ['gzip', 'br', 'x']) {
      origin.answers((_, response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': encoding });
        response.end(gzipSync(JSON.stringify(document)));
      });
      expect(await problem()).toContain('compressed');
    }
    origin.sends({ ...document, pad: 'x'.repeat(5120 - size) });
    expect(await problem()).toBe('none');
  });

  it('are given up after 5 seconds, whether DNS, the connection or the body is slow', async () => {
    const { origin, problem, clock } = await open();
    const arrived = new Promise<void>((resolve) => {
      origin.answers((_, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.write('{');
        resolve();
      });
    });
    const body = problem();
    await arrived;
    clock.pass(4999);
    clock.pass(1);
    expect(await body).toContain('did not answer within 5 s');
    const resolve = () => new Promise<readonly string[]>(() => {});
    const stuck = new PublicFetch(clock, { allowLoopback: false, network: { resolve, timeout: clock.timeout } });
    const dns = stuck.get('https://slow.example/c', { maxBytes: 1 });
    clock.pass(5000);
    await expect(dns).rejects.toThrow('did not answer within 5 s');
  });

  it('that end too early, or whose server is gone, leave the client unknown', async () => {
    const { origin, problem } = await open();
    origin.answers((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
      response.write('{}', () => response.destroy());
    });
    expect(await problem()).toContain('ended too early');
    origin.close();
    expect(await problem()).toContain('could not be fetched');
  });
});

describe('the cache of documents', () => {
  it.each<[string, Record<string, string>, number]>([
    ['no headers', {}, 30_000],
    ['max-age', { 'cache-control': 'public, max-age=600' }, 600_000],
    ['a quoted max-age', { 'cache-control': 'Max-Age="600"' }, 600_000],
    ['an Age', { 'cache-control': 'max-age=600', age: '200' }, 400_000],
    ['s-maxage', { 'cache-control': 'max-age=600, s-maxage=60' }, 60_000],
    ['two values of max-age', { 'cache-control': 'max-age=60, max-age=600' }, 60_000],
    ['a short max-age', { 'cache-control': 'max-age=1' }, 30_000],
    ['a max-age of a year', { 'cache-control': 'max-age=31536000' }, 24 * HOUR],
    ['a wrong max-age', { 'cache-control': 'max-age=-1', expires: 'Tue, 01 Jan 2030 05:00:00 GMT' }, 30_000],
    ['no-store', { 'cache-control': 'no-store, max-age=600' }, 30_000],
    ['no-cache', { 'cache-control': 'no-cache', expires: 'Tue, 01 Jan 2030 05:00:00 GMT' }, 30_000],
    ['Expires', { expires: 'Tue, 01 Jan 2030 01:00:00 GMT', date: 'Tue, 01 Jan 2030 00:00:00 GMT' }, HOUR],
    [
      'Expires with another clock',
      { expires: 'Tue, 01 Jan 2030 13:00:00 GMT', date: 'Tue, 01 Jan 2030 12:00:00 GMT' },
      HOUR,
    ],
    ['an invalid Expires', { expires: '0' }, 30_000],
  ])('keeps one with %s as long as it should [AUTHAS-08]', async (_name, headers, ms) => {
    const { origin, clock, find, document } = await open();
    origin.sends(document, headers);
    await find();
    clock.pass(ms - 1);
    await find();
    expect(origin.requests).toHaveLength(1);
    clock.pass(1);
    await find();
    expect(origin.requests).toHaveLength(2);
  });

  it('fetches a document once for simultaneous requests', async () => {
    const { origin, find } = await open();
    await Promise.all([find(), find(), find()]);
    expect(origin.requests).toHaveLength(1);
  });

  it('keeps no errors', async () => {
    const { origin, problem, document } = await open();
    origin.sends({ ...document, client_id: 'x' });
    expect(await problem()).toContain('its own URL');
    origin.sends(document);
    expect(await problem()).toBe('none');
  });

  it('uses an expired document only while the origin is down, and for at most 24 hours', async () => {
    const { origin, clock, find, document, problem } = await open();
    origin.sends(document, { 'cache-control': 'max-age=3600' });
    await find();
    clock.pass(HOUR);
    origin.sends('', {}, 503);
    expect((await find()).client_name).toBe('Editor');
    clock.pass(29_999);
    await find();
    // the origin isn't asked for each of them
    expect(origin.requests).toHaveLength(2);
    origin.close();
    clock.pass(23 * HOUR - 30_000);
    expect((await find()).client_name).toBe('Editor');
    clock.pass(30_000);
    expect(await problem()).toContain('could not be fetched');
  });

  it.each<[string, Record<string, string>, number]>([
    ['the origin says that it is gone', { 'cache-control': 'max-age=3600' }, 404],
    ['it must be revalidated', { 'cache-control': 'max-age=3600, must-revalidate' }, 503],
    ['it must not be stored', { 'cache-control': 'no-store' }, 503],
  ])('drops an expired document if %s', async (_name, headers, status) => {
    const { origin, clock, find, document, problem } = await open();
    origin.sends(document, headers);
    await find();
    clock.pass(HOUR);
    origin.sends('', {}, status);
    expect(await problem()).toContain(`status ${status}`);
  });

  it('drops an expired document whose successor is invalid, or whose host is no longer public', async () => {
    const names: Record<string, string[]> = { [HOST]: ['127.0.0.1'] };
    const { origin, clock, find, document, problem } = await open({ names });
    origin.sends(document, { 'cache-control': 'max-age=60' });
    await find();
    clock.pass(MINUTE);
    names[HOST] = ['10.0.0.1'];
    expect(await problem()).toContain('not public');
    names[HOST] = [];
    expect(await problem()).toContain('without an address');
  });

  it('has at most 1,000 documents, and evicts the one that was not used for longest', async () => {
    const fetched: string[] = [];
    const get = (id: string) => {
      fetched.push(id);
      const body = Buffer.from(JSON.stringify({ client_id: id, redirect_uris: [REDIRECT] }));
      const headers = { 'content-type': 'application/json', 'cache-control': 'max-age=3600' };
      return Promise.resolve({ status: 200, headers, body });
    };
    const documents = new ClientDocuments({ clock: standingClock(), fetcher: { get }, schemes: [] });
    const find = (n: number) => documents.find(`https://client.example/${n}`);
    await Promise.all(Array.from({ length: 1000 }, (_, n) => find(n)));
    await find(0);
    await find(1000);
    expect(fetched).toHaveLength(1001);
    await find(0);
    expect(fetched).toHaveLength(1001);
    await find(1);
    expect(fetched).toHaveLength(1002);
  });
});

describe('fetching for strangers', () => {
  it('is limited for each caller, who can still use what is known', async () => {
    const { documents, id, problem, clock, network } = await open();
    await documents.find(id, '192.0.2.1');
    for (let n = 1; n < 30; n += 1) {
      // oxlint-disable-next-line no-await-in-loop
      expect(await problem(`https://none.example/${n}`, '192.0.2.1')).toContain('temporarily_unavailable');
    }
    expect(await problem('https://none.example/30', '192.0.2.1')).toContain('slow_down');
    expect(network.asked).toHaveLength(30);
    expect(await problem(id, '192.0.2.1')).toBe('none');
    expect(await problem('https://none.example/30', '192.0.2.2')).toContain('temporarily_unavailable');
    clock.pass(MINUTE);
    expect(await problem('https://none.example/30', '192.0.2.1')).toContain('temporarily_unavailable');
  });

  it('never floods a host, whatever its names and addresses are', async () => {
    let asked = 0;
    let controller = new AbortController();
    const resolve = () => {
      asked += 1;
      // nothing may leave this machine: the request is cancelled before it connects
      if (asked <= 30) controller.abort();
      return Promise.resolve([`2606:4700::${asked.toString(16)}`]);
    };
    const fetcher = new PublicFetch(standingClock(), { allowLoopback: false, network: { resolve } });
    for (let n = 0; n < 30; n += 1) {
      controller = new AbortController();
      const { signal } = controller;
      // oxlint-disable-next-line no-await-in-loop
      await expect(fetcher.get(`https://${n}.example/c`, { maxBytes: 1, signal })).rejects.toThrow('did not answer');
    }
    await expect(fetcher.get('https://30.example/c', { maxBytes: 1 })).rejects.toThrow('asked too often');
  });

  it('happens at most 64 times at once', async () => {
    const clock = standingClock();
    const resolve = () => new Promise<readonly string[]>(() => {});
    const fetcher = new PublicFetch(clock, { allowLoopback: false, network: { resolve, timeout: clock.timeout } });
    const get = (n: number) =>
      fetcher.get(`https://${n}.example/c`, { maxBytes: 1 }).catch((error: Error) => error.message);
    const slow = Array.from({ length: 64 }, (_, n) => get(n));
    expect(await get(64)).toContain('has to wait');
    clock.pass(5000);
    expect(new Set(await Promise.all(slow))).toEqual(new Set(['did not answer within 5 s']));
    const again = get(65);
    clock.pass(5000);
    expect(await again).toBe('did not answer within 5 s');
  });

  it('serves oidc-provider for keys, with an abort signal and a cap', async () => {
    const { origin, clock, network } = await open();
    const { fetch } = new PublicFetch(clock, {
      allowLoopback: true,
      network: networkOfNames({ [HOST]: ['127.0.0.1'] }),
    });
    origin.sends({ keys: [] }, { 'cache-control': 'max-age=60' });
    const response = await fetch(origin.url('/keys'));
    expect([response.status, response.headers.get('cache-control'), await response.json()]).toEqual([
      200,
      'max-age=60',
      { keys: [] },
    ]);
    origin.sends('x'.repeat(64 * 1024 + 1));
    await expect(fetch(origin.url('/keys'))).rejects.toThrow('more than');
    await expect(fetch('http://client.example/keys')).rejects.toThrow('https');
    origin.answers(() => {});
    const controller = new AbortController();
    const waiting = fetch(origin.url('/keys'), { signal: controller.signal });
    controller.abort();
    await expect(waiting).rejects.toThrow('did not answer');
    await expect(
      new PublicFetch(clock, { allowLoopback: false, network }).fetch('https://127.0.0.1/k'),
    ).rejects.toThrow('not public');
  });
});
