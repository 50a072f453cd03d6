import { inspect } from 'node:util';

import { AUTH } from '@decorum/http';
import type { Principal } from '@decorum/core';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';

import { ExchangeError } from '../src/exchange-error.js';
import type { IssuerOptions, OAuthOptions } from '../src/options.js';
import { entra } from '../src/presets.js';
import { AUDIENCE, bearing, createAuth, headWith, type HostileIssuer, openIssuer } from './fixture.js';

const API = 'https://calendar.example.com';
const SECRET = 'hush+hush/1~%';
const CLIENT = { clientId: 'files', clientSecret: SECRET };

type Answer = { readonly status?: number; readonly body: unknown };

let issuer: HostileIssuer;
/** The token requests, as the issuer got them. */
let asked: { readonly params: URLSearchParams; readonly authorization: string | undefined }[];
/** What the issuer answers next. */
let answers: (params: URLSearchParams) => Answer;

beforeEach(async () => {
  issuer = await openIssuer();
  asked = [];
  answers = () => ({ body: { access_token: `token-${asked.length}`, token_type: 'Bearer', expires_in: 300 } });
  issuer.handlers.set('/token', ({ headers }, response, text) => {
    const params = new URLSearchParams(text);
    asked.push({ params, authorization: headers.authorization });
    const { status = 200, body } = answers(params);
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
});

afterEach(() => {
  jest.useRealTimers();
});

/** An `OAuth` that may exchange the tokens of the issuer, and a caller. */
async function signedIn(own: Partial<IssuerOptions> = CLIENT, options: Partial<OAuthOptions> = {}) {
  const fixture = createAuth({ issuer: { issuer: issuer.url, ...own }, ...options });
  const token = issuer.sign({ aud: AUDIENCE, exp: Math.floor(Date.now() / 1000) + 3600 });
  const principal = (await fixture.enter(token)) as Principal;
  return { ...fixture, token, principal };
}

const failure = async (running: Promise<unknown>): Promise<ExchangeError> => {
  const error: unknown = await running.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ExchangeError);
  return error as ExchangeError;
};

describe('a token exchange', () => {
  it('asks the issuer as RFC 8693 says, and returns the token with its expiry (#23)', async () => {
    const { auth, token, principal, clock } = await signedIn();
    clock.ahead = 0;
    const before = Date.now();
    answers = () => ({ body: { access_token: 'down', expires_in: 300, scope: 'events:read' } });
    const found = await auth.exchange(principal, { audience: API, scopes: ['events:read', 'events:write'] });
    expect(found).toEqual({ accessToken: 'down', expiresAt: expect.any(Number), scopes: ['events:read'] });
    expect((found.expiresAt as number) - before).toBeGreaterThan(290_000);
    expect(Object.fromEntries(asked[0]?.params ?? [])).toEqual({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: token,
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      audience: API,
      scope: 'events:read events:write',
    });
    // RFC 6749, section 2.3.1: both parts are form-encoded
    const encoded = Buffer.from('files:hush%2Bhush%2F1%7E%25').toString('base64');
    expect(asked[0]?.authorization).toBe(`Basic ${encoded}`);
  });

  it.each([
    ['undefined', undefined, 'basic'],
    ['both', ['client_secret_post', 'client_secret_basic'], 'basic'],
    ['client_secret_post', ['private_key_jwt', 'client_secret_post'], 'post'],
  ])('authenticates by the metadata of the issuer, which says %s (#23)', async (_title, methods, expected) => {
    issuer.publish({ token_endpoint_auth_methods_supported: methods });
    const { auth, principal } = await signedIn();
    await auth.exchange(principal, { audience: API });
    const [{ params, authorization } = { params: new URLSearchParams(), authorization: undefined }] = asked;
    expect([params.get('client_id'), params.get('client_secret'), authorization !== undefined]).toEqual(
      expected === 'post' ? ['files', SECRET, false] : [null, null, true],
    );
  });

  it('says so if the issuer takes no secret (#23)', async () => {
    issuer.publish({ token_endpoint_auth_methods_supported: ['private_key_jwt'] });
    const { auth, principal } = await signedIn();
    const error = await failure(auth.exchange(principal, { audience: API }));
    expect([error.code, error.message]).toEqual(['unsupported', expect.stringContaining('private_key_jwt')]);
    expect(asked).toEqual([]);
  });

  it('is cached per caller, audience and scopes until shortly before the token expires (#23)', async () => {
    const { auth, enter, principal, clock } = await signedIn();
    const read = { audience: API, scopes: ['a', 'b'] };
    const first = await auth.exchange(principal, read);
    expect(await auth.exchange(principal, { audience: API, scopes: ['b', 'a', 'b'] })).toBe(first);
    clock.ahead = 269_000;
    expect(await auth.exchange(principal, read)).toBe(first);
    await auth.exchange(principal, { ...read, scopes: ['a'] });
    await auth.exchange(principal, { ...read, audience: 'https://mail.example.com' });
    const other = (await enter(issuer.sign({ aud: AUDIENCE, sub: 'bob' }))) as Principal;
    expect((await auth.exchange(other, read)).accessToken).toBe('token-4');
    clock.ahead = 271_000;
    expect((await auth.exchange(principal, read)).accessToken).toBe('token-5');
  });

  it('is shared by all requests with the same token, also once the token has been verified again (#23)', async () => {
    const { auth, enter, token, principal, clock } = await signedIn();
    const first = await auth.exchange(principal, { audience: API });
    clock.ahead = 61_000;
    const again = (await enter(token)) as Principal;
    expect(again).not.toBe(principal);
    expect(await auth.exchange(again, { audience: API })).toBe(first);
  });

  it('asks once for calls at the same time, and again after a failure (#23)', async () => {
    const { auth, principal } = await signedIn();
    const call = () => auth.exchange(principal, { audience: API });
    answers = () => ({ status: 400, body: { error: 'invalid_grant' } });
    await Promise.all([failure(call()), failure(call()), failure(call())]);
    expect(asked).toHaveLength(1);
    answers = () => ({ body: { access_token: 'down', expires_in: 300 } });
    await Promise.all([call(), call(), call()]);
    expect(asked).toHaveLength(2);
  });

  it('is not cached if the issuer does not say for how long (#23)', async () => {
    answers = () => ({ body: { access_token: 'down' } });
    const { auth, principal } = await signedIn();
    expect(await auth.exchange(principal, { audience: API })).toMatchObject({ expiresAt: undefined });
    await auth.exchange(principal, { audience: API });
    expect(asked).toHaveLength(2);
  });

  it('works for tokens that only the issuer can read (#23)', async () => {
    const claims = { active: true, sub: 'ada', aud: AUDIENCE, exp: Math.floor(Date.now() / 1000) + 300 };
    issuer.handlers.set('/introspect', (_request, response) => response.end(JSON.stringify(claims)));
    const { auth, enter } = createAuth({ issuer: { issuer: issuer.url, ...CLIENT, introspection: CLIENT } });
    await auth.exchange((await enter('opaque')) as Principal, { audience: API });
    expect(asked[0]?.params.get('subject_token')).toBe('opaque');
  });
});

describe("Entra's on-behalf-of flow", () => {
  const { exchange } = entra({ tenant: '6babcaad-604b-40ac-a9d7-9fd97c0b779f', applicationIdUri: 'api://files' });

  it.each([
    [{ audience: 'https://graph.microsoft.com', scopes: ['User.Read'] }, 'https://graph.microsoft.com/User.Read'],
    [{ audience: 'https://graph.microsoft.com' }, 'https://graph.microsoft.com/.default'],
    [{ audience: 'api://a', scopes: ['api://a/x', 'y', 'offline_access'] }, 'api://a/x api://a/y offline_access'],
    [{ scopes: ['https://graph.microsoft.com/Mail.Read'] }, 'https://graph.microsoft.com/Mail.Read'],
  ])('asks for %j as the scopes %s (#23)', async (request, scope) => {
    const { auth, token, principal } = await signedIn({ ...CLIENT, exchange: exchange as never });
    await auth.exchange(principal, request);
    expect(Object.fromEntries(asked[0]?.params ?? [])).toEqual({
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      requested_token_use: 'on_behalf_of',
      assertion: token,
      scope,
    });
  });

  it('tells that the user has to sign in, with the claims challenge (#23)', async () => {
    const claims = '{"access_token":{"acrs":{"essential":true,"value":"c1"}}}';
    const description = 'AADSTS50076: Due to a configuration change, you must use multi-factor authentication.';
    answers = () => ({
      status: 400,
      body: { error: 'interaction_required', error_description: description, error_codes: [50076], claims },
    });
    const { auth, principal } = await signedIn({ ...CLIENT, exchange: exchange as never });
    const error = await failure(auth.exchange(principal, { audience: API }));
    expect(error).toMatchObject({ code: 'interaction-required', claims, issuer: issuer.url });
    expect(error.message).toContain('AADSTS50076');
  });

  it('tells missing consent from an invalid token, although both are `invalid_grant` (#23)', async () => {
    const { auth, principal } = await signedIn({ ...CLIENT, exchange: exchange as never });
    answers = () => ({ status: 400, body: { error: 'invalid_grant', suberror: 'consent_required' } });
    expect((await failure(auth.exchange(principal, { audience: API }))).code).toBe('interaction-required');
    answers = () => ({ status: 400, body: { error: 'invalid_grant', suberror: 'bad_token' } });
    expect((await failure(auth.exchange(principal, { audience: API }))).code).toBe('invalid-grant');
  });

  it('takes an expiry that is a string (#23)', async () => {
    answers = () => ({ body: { access_token: 'down', expires_in: '3599' } });
    const { auth, principal } = await signedIn({ ...CLIENT, exchange: exchange as never });
    expect((await auth.exchange(principal, { audience: API })).expiresAt).toBeGreaterThan(Date.now() + 3_000_000);
  });
});

describe('a failed exchange', () => {
  it.each([
    [400, { error: 'invalid_grant' }, 'invalid-grant', 'expired or revoked'],
    [401, { error: 'invalid_client' }, 'invalid-client', '`clientSecret`'],
    [400, { error: 'unauthorized_client' }, 'invalid-client', 'allows this client'],
    [400, { error: 'invalid_target' }, 'invalid-target', '`audience`'],
    [400, { error: 'invalid_scope' }, 'invalid-scope', '`scopes`'],
    [400, { error: 'unsupported_grant_type' }, 'unsupported', 'Enable the token exchange'],
    [400, { error: 'toString' }, 'refused', 'toString'],
    [503, { error: 'overloaded' }, 'unavailable', 'Try again'],
    [400, { error: 'temporarily_unavailable' }, 'unavailable', 'Try again'],
    [200, '<!doctype html><p>Sign in</p>', 'unavailable', 'without an access token'],
    [502, '<!doctype html><p>Bad gateway</p>', 'unavailable', 'status 502'],
    [200, { access_token: 7 }, 'unavailable', 'without an access token'],
    [200, [], 'unavailable', 'without an access token'],
    [302, '', 'unavailable', "can't be asked"],
  ])('with status %i and %j has a code and says what to do (#23)', async (status, body, code, text) => {
    answers = () => ({ status, body });
    if (status === 302)
      issuer.handlers.set('/token', (_request, response) => response.writeHead(302, { location: '/x' }).end());
    const { auth, principal } = await signedIn();
    const error = await failure(auth.exchange(principal, { audience: API }));
    expect([error.code, error.message]).toEqual([code, expect.stringContaining(text)]);
  });

  it('never shows tokens, secrets or control characters, even if the issuer repeats them (#23)', async () => {
    answers = (params) => ({
      status: 400,
      body: {
        error: 'invalid_grant',
        error_description: `\u001b[31m ${params.get('subject_token')} of files:${SECRET}`,
        claims: `${SECRET}`,
      },
    });
    const { auth, token, principal } = await signedIn();
    const error = await failure(auth.exchange(principal, { audience: API }));
    const shown = [inspect(error, { depth: 9, showHidden: true }), JSON.stringify(error), error.message].join();
    for (const secret of [token, SECRET, '\u001b[31m ']) expect(shown).not.toContain(secret);
    expect(error.message).toContain('[token] of files:[secret]');
  });

  it('of an issuer that hangs ends after five seconds (#23)', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'performance', 'Date'] });
    issuer.handlers.set('/token', () => jest.advanceTimersByTime(5000));
    const { auth, principal } = await signedIn();
    const error = await failure(auth.exchange(principal, { audience: API }));
    expect([error.code, error.message]).toEqual(['unavailable', expect.stringContaining('no answer within 5000 ms')]);
  });

  it('of an issuer that is gone says so (#23)', async () => {
    const { auth, principal } = await signedIn();
    await issuer.stop();
    const error = await failure(auth.exchange(principal, { audience: API }));
    expect([error.code, error.message]).toEqual(['unavailable', expect.stringContaining("can't be asked")]);
  });
});

describe('a principal without a token', () => {
  it('that has an API key cannot be exchanged (#23)', async () => {
    const apiKeys = { ci: { sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' } };
    const { auth, enter } = await signedIn(CLIENT, { apiKeys });
    const error = await failure(auth.exchange((await enter('test')) as Principal, { audience: API }));
    expect([error.code, error.message]).toEqual(['no-token', expect.stringContaining('an API key')]);
  });

  it.each<[string, (principal: Principal) => Principal | undefined]>([
    ['is missing', () => undefined],
    ['was copied', (principal) => ({ ...principal })],
    [
      'was stored and read again, as after a restart',
      (principal) => JSON.parse(JSON.stringify(principal)) as Principal,
    ],
    ['was made by the application', () => ({ subject: 'ada', issuer: 'files' })],
    ['was made by hand for this issuer', ({ issuer: of }) => ({ subject: 'ada', issuer: of })],
  ])('that %s cannot be exchanged (#23)', async (_title, change) => {
    const { auth, principal } = await signedIn();
    const error = await failure(auth.exchange(change(principal), { audience: API }));
    expect(error.code).toBe('no-token');
    expect(asked).toEqual([]);
  });

  it('of an issuer without `clientId` cannot be exchanged, and its token is not kept (#23)', async () => {
    const { auth, principal } = await signedIn({});
    const error = await failure(auth.exchange(principal, { audience: API }));
    expect([error.code, error.message]).toEqual(['no-client', expect.stringContaining('Pass `clientId`')]);
  });

  it('of another `oauth` cannot be exchanged (#23)', async () => {
    const [{ auth }, { principal }] = [await signedIn(), await signedIn()];
    expect((await failure(auth.exchange(principal, { audience: API }))).code).toBe('no-token');
  });
});

describe('an exchange', () => {
  it.each([
    [{}, 'neither `audience` nor `scopes`'],
    [{ scopes: [] }, 'neither `audience` nor `scopes`'],
    [{ audience: '' }, '`audience` is empty'],
    [{ audience: API, scopes: 'a b' as never }, '`scopes` is not an array'],
    [{ scopes: ['a b'] }, '`scopes` is not an array'],
  ])('for %j asks nobody (#23)', async (request, text) => {
    const { auth, principal } = await signedIn();
    const error = await failure(auth.exchange(principal, request));
    expect([error.code, error.message]).toEqual(['invalid-request', expect.stringContaining(text)]);
    expect(asked).toEqual([]);
  });

  it('leaves the token and the secret out of everything that can be logged (#23)', async () => {
    const { auth, token, principal, events, logged } = await signedIn(CLIENT, { reportGranted: true });
    await auth.exchange(principal, { audience: API });
    await auth[AUTH].authenticate(bearing(token), undefined);
    await auth[AUTH].authenticate(headWith({ authorization: `Bearer ${token}x` }), undefined);
    const shown =
      inspect([auth, principal, events, logged], { depth: 9 }) +
      JSON.stringify([auth[AUTH].documents, principal, events, logged]);
    for (const secret of [token, SECRET, 'token-1']) expect(shown.indexOf(secret)).toBe(-1);
  });
});

describe('a mistake in the client of an issuer is a startup error', () => {
  it.each<[Partial<IssuerOptions>, string]>([
    [{ clientId: 'files' }, '`issuer.clientSecret` is missing'],
    [{ clientSecret: SECRET }, '`issuer.clientId` is missing'],
    [{ clientId: 'files', clientSecret: '' }, '`issuer.clientSecret` is empty'],
    [{ clientId: undefined as never, clientSecret: undefined as never }, '`issuer.clientId` is missing'],
    [{ ...CLIENT, exchange: 'obo' as never }, '`issuer.exchange` is "obo"'],
  ])('number %# (#23)', (own, text) => {
    expect(() => createAuth({ issuer: { issuer: 'https://id.example.com', ...own } })).toThrow(
      expect.objectContaining({ code: 'DECORUM_INVALID_OPTION', message: expect.stringContaining(text) }),
    );
  });
});
