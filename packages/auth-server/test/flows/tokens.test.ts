// Codes and tokens, from the authorization request to the call.
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';

import { eachRevision } from '../../../../test/support/requirements.js';
import { MemoryStore } from '../../src/store/memory-store.js';
import { Browser } from './browser.js';
import { type Answer, Client, partsOf, register, REDIRECT, sendForm, type Tokens } from './client.js';
import { directory, pass, serve, type Site, stopClock } from './site.js';

stopClock();

const SECOND = 1000;

let site: Site;
let client: Client;
beforeAll(async () => {
  site = await serve();
  client = await Client.register(site);
});
beforeEach(() => void site.events.splice(0));

const errorOf = ({ status, body }: Answer) => [status, body['error']];
const INVALID_GRANT = [400, 'invalid_grant'];
const tokensOf = ({ body }: Answer) => body as unknown as Tokens;
const codeFor = async (of = client, replaced = {}) => (await of.authorize(replaced)).answer['code'] as string;
const typesOf = () => site.events.map(({ type }) => type);

describe('an access token', () => {
  it('is signed with ES256 for this resource and one client, and valid for 5 minutes', async () => {
    const { access_token: token, ...rest } = await client.connect();
    expect(rest).toEqual({ token_type: 'Bearer', scope: 'mcp', expires_in: 300, refresh_token: expect.any(String) });
    const [header, claims] = partsOf(token);
    expect(header).toEqual({ alg: 'ES256', typ: 'at+jwt', kid: expect.any(String) });
    const iat = Math.floor(Date.now() / 1000);
    expect(claims).toEqual({
      iss: site.issuer,
      aud: site.resource,
      sub: 'alice',
      client_id: client.id,
      scope: 'mcp',
      iat,
      exp: iat + 300,
      jti: expect.any(String),
      grant_id: expect.any(String),
    });
    expect(await client.call(token)).toBe(200);
    pass(300 * SECOND);
    expect(await client.call(token)).toBe(401);
  });

  eachRevision('AUTHAS-01', 'comes only from a code with PKCE, or a refresh token', async () => {
    const wrong = ['password', 'implicit', 'client_credentials', 'urn:ietf:params:oauth:grant-type:device_code'];
    for (const grant of wrong) {
      const fields = { client_id: client.id, grant_type: grant, username: 'alice', password: 'correct horse' };
      const answer = await sendForm(`${site.issuer}/token`, fields);
      expect([grant, answer.body['access_token'], answer.status]).toEqual([grant, undefined, 400]);
    }
    for (const type of ['token', 'id_token', 'code token', 'none']) {
      const page = await client.authorize({ response_type: type }).catch((error: unknown) => String(error));
      expect([type, page]).toEqual([type, expect.stringContaining('No form')]);
    }
    expect(await client.call((await client.connect()).access_token)).toBe(200);
  });
});

describe('a code', () => {
  it('can be exchanged for 60 seconds', async () => {
    const [code, late] = [await codeFor(), await codeFor()];
    pass(60 * SECOND);
    expect(errorOf(await client.exchange(late))).toEqual(INVALID_GRANT);
    expect(errorOf(await client.exchange(code))).toEqual(INVALID_GRANT);
    const fresh = await codeFor();
    pass(59 * SECOND);
    expect((await client.exchange(fresh)).status).toBe(200);
  });

  it('can be exchanged once: the second time ends its grant, with all tokens, at once (defence 10)', async () => {
    const code = await codeFor();
    const tokens = tokensOf(await client.exchange(code));
    expect(await client.call(tokens.access_token)).toBe(200);
    expect(errorOf(await client.exchange(code))).toEqual(INVALID_GRANT);
    expect(await client.call(tokens.access_token)).toBe(401);
    expect(errorOf(await client.refresh(tokens.refresh_token))).toEqual(INVALID_GRANT);
    const { grant_id: grantId } = partsOf(tokens.access_token)[1] as { grant_id: string };
    expect(site.events).toContainEqual({ type: 'code-replay', grantId, clientId: client.id, subject: 'alice' });
    expect(site.events).toContainEqual({ type: 'revoked', grantId });
  });

  it('ends its grant also if the requests come at the same moment, and each has another refresh token', async () => {
    const code = await codeFor();
    const answers = await Promise.all(['1', '2', '3'].map((token) => client.exchange(code, { refresh_token: token })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400]);
    const { access_token: token } = tokensOf(answers.find(({ status }) => status === 200) as Answer);
    expect(await client.call(token)).toBe(401);
  });

  it('is for one client, one redirect URI and one verifier', async () => {
    const other = await Client.register(site);
    const attempts: [string, (code: string) => Promise<Answer>][] = [
      ['no verifier', (code) => client.exchange(code, { code_verifier: undefined })],
      ['another verifier', (code) => client.exchange(code, { code_verifier: 'v'.repeat(43) })],
      ['another redirect', (code) => client.exchange(code, { redirect_uri: `${REDIRECT}/` })],
      ['another client', (code) => client.exchange(code, { client_id: other.id })],
      ['another code', (code) => client.exchange(`${code}x`)],
    ];
    for (const [what, attempt] of attempts)
      expect([what, ...errorOf(await attempt(await codeFor()))]).toEqual([what, ...INVALID_GRANT]);
  });

  it('with a wrong resource gets invalid_target, and none gets ours', async () => {
    const exchange = async (resource: string | undefined) => await client.exchange(await codeFor(), { resource });
    expect(errorOf(await exchange('https://other.example/mcp'))).toEqual([400, 'invalid_target']);
    expect(errorOf(await exchange(`${site.resource}/more`))).toEqual([400, 'invalid_target']);
    const { access_token: token } = tokensOf(await exchange(undefined));
    expect(await client.call(token)).toBe(200);
  });
});

describe('a refresh token', () => {
  eachRevision(
    ['AUTHAS-11', 'AUTH25-14'],
    'is replaced each time, and the old one ends the grant 20 seconds later',
    async () => {
      const first = await client.connect();
      const second = tokensOf(await client.refresh(first.refresh_token));
      expect(second.refresh_token).not.toBe(first.refresh_token);
      expect(second.expires_in).toBe(300);
      pass(20 * SECOND);
      expect(errorOf(await client.refresh(first.refresh_token))).toEqual(INVALID_GRANT);
      expect(errorOf(await client.refresh(second.refresh_token))).toEqual(INVALID_GRANT);
      expect(await client.call(second.access_token)).toBe(401);
      expect(typesOf()).toEqual(expect.arrayContaining(['revoked', 'refresh-replay']));
    },
  );

  it('gives two requests within 20 seconds the same successor, and both access tokens work', async () => {
    const { refresh_token: token } = await client.connect();
    const answers = await Promise.all([client.refresh(token), client.refresh(token)]);
    pass(19 * SECOND);
    const [one, two, three] = [...answers, await client.refresh(token)].map(tokensOf) as [Tokens, Tokens, Tokens];
    expect(one.refresh_token).toBe(two.refresh_token);
    expect(one.refresh_token).toBe(three.refresh_token);
    for (const each of [one, two, three]) expect(await client.call(each.access_token)).toBe(200);
    expect((await client.refresh(one.refresh_token)).status).toBe(200);
    expect(typesOf()).not.toContain('refresh-replay');
  });

  it('ends the grant within the 20 seconds, too, once its successor was used', async () => {
    const { refresh_token: oldest } = await client.connect();
    const second = tokensOf(await client.refresh(oldest));
    const third = tokensOf(await client.refresh(second.refresh_token));
    expect(errorOf(await client.refresh(oldest))).toEqual(INVALID_GRANT);
    expect(errorOf(await client.refresh(third.refresh_token))).toEqual(INVALID_GRANT);
    expect(await client.call(third.access_token)).toBe(401);
  });

  it('ends the grant long after it was used, although nothing is kept of it, and only if it was sent by its client', async () => {
    const store = new MemoryStore({}, { now: () => Date.now(), wait: async () => {} });
    const own = await serve({ store });
    const [mine, other] = [await Client.register(own), await Client.register(own)];
    const first = await mine.connect();
    let last = first;
    for (let used = 0; used < 10; used++) {
      pass(300 * SECOND);
      last = tokensOf(await mine.refresh(last.refresh_token));
    }
    expect((await store.list('refresh-token')).length).toBeLessThan(3);
    const forged = first.refresh_token.replace(/.$/, (end) => (end === 'A' ? 'B' : 'A'));
    for (const refused of [await other.refresh(first.refresh_token), await mine.refresh(forged)]) {
      expect(errorOf(refused)).toEqual(INVALID_GRANT);
    }
    expect((await other.revoke(first.refresh_token)).status).toBe(200);
    expect(await mine.call(last.access_token)).toBe(200);
    expect(errorOf(await mine.refresh(first.refresh_token))).toEqual(INVALID_GRANT);
    expect(await mine.call(last.access_token)).toBe(401);
    expect(own.events).toContainEqual(
      expect.objectContaining({ type: 'refresh-replay', subject: 'alice', clientId: mine.id }),
    );
  });

  it('ends its grant when it is revoked long after it was used', async () => {
    const first = await client.connect();
    const second = tokensOf(await client.refresh(first.refresh_token));
    pass(3600 * SECOND);
    expect((await client.revoke(first.refresh_token)).status).toBe(200);
    expect(errorOf(await client.refresh(second.refresh_token))).toEqual(INVALID_GRANT);
  });

  it('keeps the granted scopes, and narrows or refuses what is asked beyond them', async () => {
    const { refresh_token: token } = await client.connect({ scope: 'mcp notes:write' });
    const narrow = tokensOf(await client.refresh(token, { scope: 'mcp' }));
    expect(narrow.scope).toBe('mcp');
    const wider = await client.refresh(narrow.refresh_token, { scope: 'mcp admin' });
    expect(errorOf(wider)).toEqual([400, 'invalid_scope']);
    expect(tokensOf(await client.refresh(narrow.refresh_token)).scope).toBe('mcp notes:write');
  });

  it('is for one client and this resource, and another client does not end its grant', async () => {
    const other = await Client.register(site);
    const { refresh_token: token } = await client.connect();
    expect(errorOf(await other.refresh(token))).toEqual(INVALID_GRANT);
    expect(errorOf(await client.refresh(token, { resource: 'https://other.example/' }))).toEqual([
      400,
      'invalid_target',
    ]);
    expect(errorOf(await client.refresh(`${token}x`))).toEqual(INVALID_GRANT);
    expect((await client.refresh(token, { resource: site.resource })).status).toBe(200);
  });

  it('keeps the registration of its client, also among a thousand whose users have signed in since', async () => {
    const store = new MemoryStore({}, { now: () => Date.now(), wait: async () => {} });
    const busy = await serve({ store });
    const loyal = await Client.register(busy);
    const { refresh_token: token } = await loyal.connect();
    pass(3_600_000);
    const use = { value: JSON.stringify({ registeredAt: Date.now(), usedAt: Date.now() }) };
    await store.write(Array.from({ length: 999 }, (_, n) => ({ key: `client-use:${n}`, ...use })));
    pass(3_600_000);
    const { refresh_token: next } = tokensOf(await loyal.refresh(token));
    pass(3_600_001);
    await Client.register(busy);
    expect((await loyal.refresh(next)).status).toBe(200);
  });

  it('is good for nothing once its user is gone, also if the directory then finds null', async () => {
    const people = directory();
    let isGone = false;
    const find = async (subject: string) => (isGone ? (null as never) : await people.find(subject));
    const left = await Client.register(await serve({ users: { verify: people.verify, find } }));
    const { refresh_token: token } = await left.connect();
    isGone = true;
    expect(errorOf(await left.refresh(token))).toEqual(INVALID_GRANT);
  });

  it('is valid for 30 days of silence', async () => {
    const { refresh_token: token } = await client.connect();
    pass(29 * 86_400 * SECOND);
    const { refresh_token: next } = tokensOf(await client.refresh(token));
    pass(31 * 86_400 * SECOND);
    site.events.splice(0);
    expect(errorOf(await client.refresh(next))).toEqual(INVALID_GRANT);
    // nobody has stolen anything
    expect(site.events).toEqual([]);
  });
});

describe('/revoke', () => {
  it.each(['access_token', 'refresh_token'] as const)('of the %s ends the grant at once', async (kind) => {
    const tokens = await client.connect();
    expect(await client.call(tokens.access_token)).toBe(200);
    const { status, body } = await client.revoke(tokens[kind], { token_type_hint: kind });
    expect([status, body]).toEqual([200, {}]);
    expect(await client.call(tokens.access_token)).toBe(401);
    expect(errorOf(await client.refresh(tokens.refresh_token))).toEqual(INVALID_GRANT);
    expect(typesOf()).toContain('revoked');
  });

  it('of an access token ends the grant also after it has expired, and not if anything in it was changed', async () => {
    const { access_token: token, refresh_token: next } = await client.connect();
    const [header, claims, signature] = token.split('.') as [string, string, string];
    const { grant_id: grantId } = partsOf(token)[1] as { grant_id: string };
    const forged = Buffer.from(JSON.stringify({ client_id: client.id, grant_id: grantId })).toString('base64url');
    const none = Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url');
    for (const wrong of [`${header}.${forged}.${signature}`, `${none}.${claims}.`, `${none}.${forged}.`, `${token}x`])
      expect((await client.revoke(wrong)).status).toBe(200);
    const { refresh_token: last } = tokensOf(await client.refresh(next));
    pass(3600 * SECOND);
    expect((await client.revoke(token)).status).toBe(200);
    expect(errorOf(await client.refresh(last))).toEqual(INVALID_GRANT);
  });

  it.each(['access_token', 'refresh_token'] as const)('of the %s of another client has no effect', async (kind) => {
    const other = await Client.register(site);
    const tokens = await client.connect();
    const { status, body } = await other.revoke(tokens[kind]);
    expect([status, body]).toEqual([200, {}]);
    expect(await client.call(tokens.access_token)).toBe(200);
    expect((await client.refresh(tokens.refresh_token)).status).toBe(200);
    expect(typesOf()).not.toContain('revoked');
  });

  it('answers 200 to what is no token, and 401 to what is no client', async () => {
    for (const token of ['nonsense', 'a.b.c', '\0', '💥']) expect((await client.revoke(token)).status).toBe(200);
    expect(errorOf(await client.revoke('x', { client_id: 'nobody' }))).toEqual([401, 'invalid_client']);
    expect(errorOf(await client.revoke('x', { token: undefined }))).toEqual([400, 'invalid_request']);
  });
});

describe('a confidential client', () => {
  eachRevision(
    'AUTH25-02',
    'gets tokens with its secret, and 401 invalid_client without; a public one needs none',
    async () => {
      const sent = { redirect_uris: [REDIRECT], token_endpoint_auth_method: 'client_secret_post' };
      const { client_id: id, client_secret: secret } = (await register(site, sent)).body as Record<string, string>;
      const confidential = new Client(site, id as string);
      for (const wrong of [undefined, 'wrong', '']) {
        const answer = await confidential.exchange(await codeFor(confidential), { client_secret: wrong });
        expect(errorOf(answer)).toEqual([401, 'invalid_client']);
      }
      const { refresh_token: token } = tokensOf(
        await confidential.exchange(await codeFor(confidential), { client_secret: secret }),
      );
      expect(errorOf(await confidential.refresh(token))).toEqual([401, 'invalid_client']);
      expect((await confidential.refresh(token, { client_secret: secret })).status).toBe(200);
      expect(await client.call((await client.connect()).access_token)).toBe(200);
    },
  );

  it('may send its secret in the header', async () => {
    const { body } = await register(site, { redirect_uris: [REDIRECT] });
    const { client_id: id, client_secret: secret } = body as Record<string, string>;
    const basic = new Client(site, id as string);
    const fields = async () => ({
      grant_type: 'authorization_code',
      code: await codeFor(basic),
      code_verifier: basic.verifier,
      redirect_uri: REDIRECT,
    });
    const send = async (more: object, headers = {}) =>
      await sendForm(`${site.issuer}/token`, { ...(await fields()), ...more }, headers);
    const authorization = (password = '') => ({ authorization: `Basic ${btoa(`${id}:${password}`)}` });
    const refused = await send({}, authorization('wrong'));
    expect(errorOf(refused)).toEqual([401, 'invalid_client']);
    expect(refused.headers.get('www-authenticate')).toMatch(/^Basic /);
    expect((await send({}, authorization(secret))).status).toBe(200);
  });
});

it('an access token is refused as soon as its grant ends, and for as long as it was cached', async () => {
  const { access_token: token, refresh_token: refresh } = await client.connect();
  expect(await client.call(token)).toBe(200);
  await client.revoke(refresh);
  for (const seconds of [0, 20, 20]) {
    pass(seconds * SECOND);
    expect(await client.call(token)).toBe(401);
  }
});

it('all grants of a user end, and those of others go on, when the application says so', async () => {
  const [alice, bob] = [await client.connect(), await client.connect({}, 'bob')];
  const browser = new Browser();
  await browser.submit(await client.signIn(browser), {}, 'Allow');
  expect(await site.auth.revoke('alice')).toBeGreaterThan(0);
  expect(await site.auth.revoke('alice')).toBe(0);
  expect(errorOf(await client.refresh(alice.refresh_token))).toEqual(INVALID_GRANT);
  expect([await client.call(alice.access_token), await client.call(bob.access_token)]).toEqual([401, 200]);
  // the session in the browser has ended, too
  expect((await browser.open(client.url())).text).toContain('Password');
});
