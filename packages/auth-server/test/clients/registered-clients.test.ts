import { Buffer } from 'node:buffer';

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import type { ClientError } from '../../src/clients/client-error.js';
import { RegisteredClients } from '../../src/clients/registered-clients.js';
import { MemoryStore } from '../../src/store/memory-store.js';
import { standingClock } from './origin.js';
import { seenByProvider } from './provider.js';

const HOUR = 60 * 60_000;
const REDIRECT = 'https://client.example/cb';
const VALID = { redirect_uris: [REDIRECT] };

/** Not a cipher: tests only need to see that it was called. */
const sealer = {
  seal: (purpose: string, text: string) => Buffer.from(`${purpose} ${text}`).toString('hex'),
  open(purpose: string, sealed: string) {
    const text = Buffer.from(sealed, 'hex').toString();
    return text.startsWith(`${purpose} `) ? text.slice(purpose.length + 1) : undefined;
  },
};

function open({ schemes = [] as string[] } = {}) {
  const clock = standingClock();
  const store = new MemoryStore({}, clock);
  const create = (more: Partial<ConstructorParameters<typeof RegisteredClients>[0]> = {}) =>
    new RegisteredClients({ store, clock, sealer, schemes, ...more });
  const clients = create();
  let caller = 0;
  /** Registers a client, by default from an address of its own. */
  const register = (sent: unknown = VALID, from = `10.0.${(caller += 1) >> 8}.${caller & 255}`) =>
    clients.register({ sent, from, accept: (metadata) => void seenByProvider(metadata) });
  const problem = (...args: Parameters<typeof register>) =>
    register(...args).then(
      () => 'none',
      (error: ClientError) => `${error.code}: ${error.message}`,
    );
  const ids = async () => (await store.list('client')).map(({ key }) => key.slice('client:'.length));
  return { clock, store, create, clients, register, problem, ids };
}

describe('a client that registers itself', () => {
  it('is found by its id from then on, also after a restart [AUTHAS-04]', async () => {
    const { register, create, clock } = open();
    const client = await register({ ...VALID, client_name: 'Editor', token_endpoint_auth_method: 'none' });
    expect(client).toEqual({
      client_id: expect.stringMatching(/^[\w-]{22}$/),
      client_id_issued_at: clock.now() / 1000,
      client_name: 'Editor',
      redirect_uris: [REDIRECT],
      application_type: 'web',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    });
    expect(await create().find(client.client_id)).toEqual(client);
    for (const id of ['', 'x', 'a'.repeat(22), 'https://client.example/c', `${client.client_id} `]) {
      expect(await create().find(id)).toBeUndefined();
    }
  });

  it('gets a secret if it needs one, which the store never has in clear text', async () => {
    const { register, create, store } = open();
    for (const method of [undefined, 'client_secret_basic', 'client_secret_post']) {
      const client = await register({ ...VALID, ...(method && { token_endpoint_auth_method: method }) });
      expect(client.token_endpoint_auth_method).toBe(method ?? 'client_secret_basic');
      expect(client).toMatchObject({
        client_secret: expect.stringMatching(/^[\w-]{43}$/),
        client_secret_expires_at: 0,
      });
      expect(await create().find(client.client_id)).toEqual(client);
      const written = JSON.stringify([...(await store.list('client')), ...(await store.list('client-use'))]);
      expect(written).not.toContain(client.client_secret);
    }
  });

  it('is unknown if its secret was moved to another client, or was sealed with a lost key', async () => {
    const { register, clients, create, store } = open();
    const [one, other] = [await register(), await register()];
    const [key, otherKey] = [`client:${one.client_id}`, `client:${other.client_id}`];
    await store.write([{ key, value: await store.get(otherKey) }]);
    expect(await clients.find(one.client_id)).toBeUndefined();
    const lost = create({ sealer: { ...sealer, open: () => undefined } });
    expect(await lost.find(other.client_id)).toBeUndefined();
  });

  it('is limited in nothing by the scope that it sends, and sets nothing that is not for it to set', async () => {
    const { register } = open();
    const sent = JSON.parse(
      `{"redirect_uris":["${REDIRECT}"],"scope":"mcp","client_id":"mine","client_secret":"mine","client_secret_expires_at":1,
        "id_token_signed_response_alg":"HS256","subject_type":"pairwise","sector_identifier_uri":"https://127.0.0.1/","logo_uri":
        "http://tracker.example/","__proto__":{"client_name":"x"},"application_type":"native","jwks_uri":"https://127.0.0.1/"}`,
    ) as object;
    expect(Object.keys(await register({ ...sent, token_endpoint_auth_method: 'none' })).toSorted()).toEqual([
      'application_type',
      'client_id',
      'client_id_issued_at',
      'grant_types',
      'redirect_uris',
      'response_types',
      'token_endpoint_auth_method',
    ]);
    expect(await register(sent)).toMatchObject({
      client_id: expect.not.stringMatching(/^mine$/),
      client_secret: expect.not.stringMatching(/^mine$/),
      client_secret_expires_at: 0,
      application_type: 'web',
    });
  });

  it('is native with the mixed list of VS Code, whatever it sends', async () => {
    const { register } = open();
    const redirects = ['https://vscode.dev/redirect', 'http://127.0.0.1/', 'http://127.0.0.1:33418/'];
    const client = await register({ redirect_uris: redirects, application_type: 'web' });
    expect(seenByProvider(client).redirectUriAllowed('http://127.0.0.1:50000/')).toBe(true);
    expect(seenByProvider(client).redirectUriAllowed('http://127.0.0.1:50000/x')).toBe(false);
  });

  it('has a name without control and bidirectional characters; markup is for the page to escape', async () => {
    const { register } = open();
    const name = async (client_name: unknown) => (await register({ ...VALID, client_name })).client_name;
    expect(await name('<b>Ed</b>\u202e\u0000\u2066itor\n\u200b')).toBe('<b>Ed</b>itor');
    expect((await name('x'.repeat(5000)))?.length).toBeLessThanOrEqual(80);
    for (const empty of ['', ' ', '\u202e', 7, null, {}]) expect(await name(empty)).toBeUndefined();
  });

  it('may use keys, which oidc-provider checks', async () => {
    const { register, problem } = open();
    const keyed = { ...VALID, token_endpoint_auth_method: 'private_key_jwt' };
    const key = {
      kty: 'EC',
      crv: 'P-256',
      x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
      y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
    };
    expect(await register({ ...keyed, jwks: { keys: [key] } })).toMatchObject({ jwks: { keys: [key] } });
    expect(await register({ ...keyed, jwks_uri: 'https://client.example/keys' })).not.toHaveProperty('client_secret');
    for (const wrong of [{}, { jwks: {} }, { jwks: { keys: [] } }, { jwks: 1 }, { jwks_uri: 'http://a.example' }]) {
      expect(await problem({ ...keyed, ...wrong })).toContain('invalid_client_metadata');
    }
    expect(await problem({ ...keyed, jwks: { keys: [{ ...key, d: 'x' }] } })).toContain('invalid');
  });

  it.each<[string, unknown]>([
    ['invalid_redirect_uri', {}],
    ['invalid_redirect_uri', { redirect_uris: [] }],
    ['invalid_redirect_uri', { redirect_uris: ['http://evil.example/cb'] }],
    ['invalid_redirect_uri', { redirect_uris: ['cursor://anysphere.cursor-mcp/oauth/callback'] }],
    ['invalid_redirect_uri', { redirect_uris: ['javascript:alert(1)'] }],
    ['invalid_client_metadata', { ...VALID, grant_types: ['client_credentials'] }],
    ['invalid_client_metadata', { ...VALID, grant_types: 'authorization_code' }],
    ['invalid_client_metadata', { ...VALID, response_types: ['token'] }],
    ['invalid_client_metadata', { ...VALID, token_endpoint_auth_method: 'client_secret_jwt' }],
    ['invalid_client_metadata', { ...VALID, token_endpoint_auth_method: null }],
    ['invalid_client_metadata', []],
    ['invalid_client_metadata', null],
    ['invalid_client_metadata', 'x'],
  ])('gets %s for %j, and takes no space [AUTHAS-12]', async (code, sent) => {
    const { problem, ids } = open();
    expect(await problem(sent)).toContain(`${code}: `);
    expect(await ids()).toEqual([]);
  });

  it('is either refused or accepted by oidc-provider, whatever it sends', async () => {
    const { register } = open();
    const field = fc
      .constantFrom(
        'client_name client_uri grant_types response_types token_endpoint_auth_method jwks jwks_uri application_type contacts scope'.split(
          ' ',
        ),
      )
      .chain((names) => fc.dictionary(fc.constantFrom(...names), fc.jsonValue()));
    await fc.assert(
      fc.asyncProperty(field, async (fields) => {
        const outcome = await register({ ...fields, ...VALID }).catch((error: ClientError) => error);
        if (outcome instanceof Error) expect(outcome.name).toBe('ClientError');
        else expect(seenByProvider(outcome).grantTypeAllowed('refresh_token')).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  it('is gone if its private scheme is allowed no longer', async () => {
    const { register, clients, create } = open({ schemes: ['cursor'] });
    const { client_id: id } = await register({ redirect_uris: ['cursor://anysphere.cursor-mcp/oauth/callback'] });
    expect(await clients.find(id)).toMatchObject({ application_type: 'native' });
    expect(await create({ schemes: [] }).find(id)).toBeUndefined();
  });
});

describe('registrations', () => {
  it('are limited to 20 an hour for each address, and tell when to try again', async () => {
    const { register, problem, clients, clock } = open();
    const from = '192.0.2.1';
    // what is refused doesn't count
    for (let n = 0; n < 25; n += 1) expect(await problem({}, from)).toContain('invalid_redirect_uri');
    await register(VALID, from);
    clock.pass(60_000);
    await Promise.all(Array.from({ length: 19 }, () => register(VALID, from)));
    const late = clients.register({ sent: VALID, from, accept: () => {} });
    await expect(late).rejects.toMatchObject({ code: 'slow_down', status: 429, retryAfterMs: HOUR - 60_000 });
    expect(await problem({}, from)).toContain('slow_down');
    expect(await problem(VALID, '192.0.2.2')).toBe('none');
    clock.pass(HOUR - 60_000);
    expect(await problem(VALID, from)).toBe('none');
    expect(await problem(VALID, from)).toContain('slow_down');
  });

  it('count an IPv6 network as one address', async () => {
    const { register, problem } = open();
    for (let n = 0; n < 20; n += 1) await register(VALID, `2606:4700:1:2::${n}`);
    expect(await problem(VALID, '2606:4700:1:2:ffff::1')).toContain('slow_down');
    expect(await problem(VALID, '2606:4700:1:3::1')).toBe('none');
  });

  it('evict, beyond 1,000 clients, the oldest that no user has signed in to', async () => {
    const { register, clients, ids, clock } = open();
    const first = await register();
    await clients.used(first.client_id);
    const second = await register();
    clock.pass(1);
    await Promise.all(Array.from({ length: 998 }, () => register()));
    expect(await ids()).toHaveLength(1000);
    clock.pass(2 * HOUR);
    const last = await register();
    const left = await ids();
    expect(left).toHaveLength(1000);
    expect(left).toEqual(expect.arrayContaining([first.client_id, last.client_id]));
    expect(await clients.find(second.client_id)).toBeUndefined();
    await Promise.all([register(), register(), register()]);
    expect(await ids()).toHaveLength(1000);
    expect(await clients.find(first.client_id)).toBeDefined();
  });

  it('evict the one unused for longest if all were used, but none of the last hour', async () => {
    const { register, problem, clients, ids, clock } = open();
    const known = await Promise.all(Array.from({ length: 1000 }, () => register()));
    const [first, second] = known.map(({ client_id }) => client_id);
    for (const { client_id } of known) await clients.used(client_id);
    clock.pass(HOUR - 1);
    expect(await problem()).toContain('temporarily_unavailable');
    clock.pass(1);
    await clients.used(first as string);
    expect(await problem()).toBe('none');
    expect(await ids()).toContain(first);
    expect(await ids()).not.toContain(second);
  });

  it('mark a client as used at most once an hour, and never bring one back', async () => {
    const { register, create, store, clock } = open();
    const { client_id: id } = await register();
    const key = `client-use:${id}`;
    let writes = 0;
    const counted = create({
      store: Object.assign(Object.create(store) as MemoryStore, {
        write: (...args: Parameters<MemoryStore['write']>) => ((writes += 1), store.write(...args)),
      }),
    });
    await Promise.all([counted.used(id), counted.used(id)]);
    clock.pass(HOUR - 1);
    await counted.used(id);
    expect(writes).toBe(1);
    clock.pass(1);
    await counted.used(id);
    expect(writes).toBe(2);
    await store.write([{ key, value: undefined }]);
    clock.pass(HOUR);
    await counted.used(id);
    await counted.used('https://client.example/c');
    expect([writes, await store.get(key)]).toEqual([2, undefined]);
  });

  it('that the store rejects are not counted, and do not block the next', async () => {
    const { create, store } = open();
    let isBroken = true;
    const clients = create({
      store: Object.assign(Object.create(store) as MemoryStore, {
        write: (...args: Parameters<MemoryStore['write']>) =>
          isBroken ? Promise.reject(new Error('disk full')) : store.write(...args),
      }),
    });
    const register = () => clients.register({ sent: VALID, from: '192.0.2.1', accept: () => {} });
    for (let n = 0; n < 21; n += 1) await expect(register()).rejects.toThrow('disk full');
    isBroken = false;
    const { client_id: id } = await register();
    expect(await clients.find(id)).toBeDefined();
  });
});
