// A store that fails or hangs, what the operator is told, and what nobody is told.
import { inspect } from 'node:util';

import { beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';

import type { AuthStore, Change } from '../../src/store/auth-store.js';
import { MemoryStore } from '../../src/store/memory-store.js';
import { Browser } from './browser.js';
import { Client, PASSWORD, register, REDIRECT } from './client.js';
import { pass, serve, type Site, stopClock } from './site.js';

stopClock();

const HOUR = 3_600_000;
const SECRET = 'password of db.internal';

/** A store that can be made to fail or to hang. */
class FragileStore implements AuthStore {
  readonly isPersistent = false;
  calls = 0;
  /** The number of the call that goes wrong. */
  failsAt = -1;
  hangs = false;
  readonly written: string[] = [];
  private readonly store = new MemoryStore({}, { now: () => Date.now(), wait: async () => {} });

  open = () => this.store.open();
  close = () => this.store.close();
  list = (kind: string) => this.call(() => this.store.list(kind));
  get = (key: string) => this.call(() => this.store.get(key));
  write = (changes: readonly Change[]) =>
    this.call(async () => {
      this.written.push(...changes.map((change) => inspect(change)));
      return await this.store.write(changes);
    });

  private async call<T>(run: () => Promise<T>): Promise<T> {
    if (this.calls++ === this.failsAt) {
      if (this.hangs) await new Promise(() => {});
      throw new Error(SECRET);
    }
    return await run();
  }
}

/** What a step of a flow got. */
interface Got {
  readonly status: number;
}

/** Does a step again if it failed. */
class Steps {
  readonly failed: string[] = [];

  async do<T extends Got>(name: string, step: () => Promise<T>): Promise<T> {
    const first = await step();
    if (first.status < 500) return first;
    if (inspect(first).includes('internal')) throw new Error(`The answer has details: ${inspect(first)}`);
    this.failed.push(name);
    return await step();
  }
}

describe('a store that fails', () => {
  let store: FragileStore;
  let site: Site;
  let delegating: Site;
  let login: () => Promise<undefined>;
  beforeAll(async () => {
    store = new FragileStore();
    site = await serve({ store, remember: 1 });
    delegating = await serve({ login: () => login() });
    // opens the keys
    await fetch(`${site.issuer}/jwks`);
  });

  /** From a registration to a revocation, in which each step may have to be done twice. */
  async function flow(failsAt: number): Promise<Steps> {
    pass(HOUR);
    await fetch(`${site.issuer}/jwks`);
    [store.calls, store.failsAt] = [0, failsAt];
    const steps = new Steps();
    const browser = new Browser();
    const { body } = await steps.do('register', () =>
      register(site, { redirect_uris: [REDIRECT], token_endpoint_auth_method: 'none' }),
    );
    const client = new Client(site, body['client_id'] as string);
    const signIn = await steps.do('authorize', () => browser.open(client.url()));
    const fields = { ...signIn.hidden, username: 'alice', password: PASSWORD };
    const consent = await steps.do('sign in', () => browser.post(signIn.action, fields));
    const page = consent.html.includes('Allow access?') ? consent : await browser.open(client.url());
    const answered = await steps.do('consent', () => browser.post(page.action, page.fields({}, 'Allow')));
    const code = answered.headers.get('location') === null ? await client.authorize() : answered;
    const first = await steps.do('code', () => client.exchange(code.answer['code'] as string));
    const second = await steps.do('refresh', () => client.refresh(first.body['refresh_token'] as string));
    const token = second.body['access_token'] as string;
    await steps.do('call', () => site.call(token));
    expect(await client.call(token)).toBe(200);
    await steps.do('revoke', () => client.revoke(token));
    expect(await client.call(token)).toBe(401);
    return steps;
  }

  it('at any step gets 5xx without details, and the step can be done again', async () => {
    expect((await flow(-1)).failed).toEqual([]);
    const calls = store.calls;
    expect(calls).toBeGreaterThan(20);
    const failed = new Set<string>();
    for (let n = 0; n < calls; n++) {
      const steps = await flow(n);
      for (const name of steps.failed) failed.add(name);
    }
    expect([...failed].toSorted()).toEqual([
      'authorize',
      'call',
      'code',
      'consent',
      'refresh',
      'register',
      'revoke',
      'sign in',
    ]);
    expect(site.logged.join()).toContain(SECRET);
  });

  it('or that hangs, as `login` may do, keeps no request longer than 30 seconds', async () => {
    const client = await Client.register(site);
    jest.useFakeTimers({
      doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance', 'hrtime'],
      now: Date.now(),
    });
    const late = async (send: () => Promise<Got>) => {
      // reads the keys if that is due
      await fetch(`${site.issuer}/jwks`);
      [store.calls, store.failsAt, store.hangs] = [0, 0, true];
      const answer = send();
      while (store.calls === 0) await new Promise((resolve) => setImmediate(resolve));
      await jest.advanceTimersByTimeAsync(30_000);
      const { status } = await answer;
      store.hangs = false;
      return status;
    };
    expect(await late(() => new Browser().open(client.url()))).toBe(500);
    expect(await late(() => client.refresh('x'))).toBe(500);
    expect(await late(() => client.revoke('x'))).toBe(500);
    expect(await late(() => register(site, { redirect_uris: [REDIRECT] }))).toBe(500);
    const asked = new Promise<void>((resolve) => {
      login = () => {
        resolve();
        return new Promise(() => {});
      };
    });
    const waiting = new Browser().open((await Client.register(delegating)).url());
    await asked;
    await jest.advanceTimersByTimeAsync(30_000);
    expect((await waiting).status).toBe(500);
  });
});

describe('what the operator is told', () => {
  let site: Site;
  let store: FragileStore;
  beforeAll(async () => {
    store = new FragileStore();
    site = await serve({ store });
  });
  beforeEach(() => void site.events.splice(0));

  it('is who signed in, consented, registered and replayed, with what it takes to find out more', async () => {
    const client = await Client.register(site);
    const browser = new Browser();
    const page = await browser.open(client.url());
    await browser.submit(page, { 'User name': 'eve\u0007', Password: 'wrong' }, 'Sign in');
    const consent = await browser.submit(page, { 'User name': 'alice', Password: PASSWORD }, 'Sign in');
    await browser.submit(consent, {}, 'Deny');
    const tokens = await client.connect();
    await client.refresh(tokens.refresh_token);
    pass(20_000);
    await client.refresh(tokens.refresh_token);
    const from = { remoteAddress: '127.0.0.1' };
    const by = { clientId: client.id, ...from };
    const consented = { type: 'consent', subject: 'alice', scopes: ['mcp'], redirectHost: 'app.example', ...by };
    const grantId = expect.any(String);
    expect(site.events).toEqual([
      { type: 'registered', clientId: client.id, redirectHost: 'app.example', ...from },
      { type: 'login', allowed: false, subject: 'eve?', ...by },
      { type: 'login', allowed: true, subject: 'alice', ...by },
      { ...consented, allowed: false },
      { type: 'login', allowed: true, subject: 'alice', ...by },
      { ...consented, allowed: true, grantId },
      { type: 'revoked', grantId },
      { type: 'refresh-replay', clientId: client.id, subject: 'alice', grantId },
    ]);
    expect(site.logged.join()).toContain('A refresh token was used again');
  });

  it('and what is stored, contains no token, code, password or cookie (defence 9)', async () => {
    const { body } = await register(site, {
      redirect_uris: [REDIRECT],
      token_endpoint_auth_method: 'client_secret_post',
    });
    const { client_id: id, client_secret: secret } = body as { client_id: string; client_secret: string };
    const client = new Client(site, id);
    const browser = new Browser();
    const page = await client.signIn(browser);
    const { code = '' } = (await browser.submit(page, {}, 'Allow')).answer;
    const first = (await client.exchange(code, { client_secret: secret })).body as Record<string, string>;
    const second = (await client.refresh(first['refresh_token'] as string, { client_secret: secret })).body as Record<
      string,
      string
    >;
    await client.exchange(code, { client_secret: secret });
    await client.refresh('guessed-token', { client_secret: secret });
    await site.call('guessed-access-token');
    await client.call(second['access_token'] as string);
    const cookies = browser.received.flatMap((cookie) => /=([^;]{10,})/.exec(cookie)?.[1] ?? []);
    const secrets = [
      ...['access_token', 'refresh_token'].flatMap((name) => [first[name], second[name]]),
      ...cookies,
      code,
      secret,
      PASSWORD,
      client.verifier,
      page.hidden['csrf'],
      'guessed-token',
      'guessed-access-token',
    ] as string[];
    const told = inspect([site.events, site.logged, store.written], {
      depth: 9,
      maxArrayLength: null,
      maxStringLength: null,
    });
    expect(cookies.length).toBeGreaterThan(2);
    expect(secrets.every(Boolean)).toBe(true);
    expect(secrets.filter((each) => told.includes(each))).toEqual([]);
  });
});
