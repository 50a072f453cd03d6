// Two servers of one issuer, over a store that both use.
import { open } from 'node:fs/promises';

import { describe, expect, it, jest } from '@jest/globals';

import { storeContract } from '../../src/store-contract.js';
import { SYSTEM_CLOCK } from '../../src/platform.js';
import { FileStore } from '../../src/store/file-store.js';
import { afterwards, createFolder, ManualClock, openFileStore } from '../fixture-store.js';
import { pass, stopClock } from '../flows/site.js';
import { type Node, startNodes } from './nodes.js';
import { SharedStore, StoreServer } from './shared-store.js';
import {
  Browser,
  call,
  type CodeForm,
  exchange,
  openStream,
  refresh,
  register,
  send,
  type Tokens,
  tokensIn,
} from './sign-in.js';

const REDIRECT = 'http://127.0.0.1/callback';
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

stopClock();

describe('the store of these tests', () => {
  it.each(storeContract)('%s', async (_rule, check) => {
    const clock = new ManualClock();
    await check(new SharedStore((await StoreServer.start(clock)).url), clock);
  });
});

async function start() {
  const storeServer = await StoreServer.start(SYSTEM_CLOCK);
  const store = () => new SharedStore(storeServer.url);
  const [one, other] = (await startNodes([store(), store()])) as [Node, Node];
  let turn = 0;
  const either = () => (turn++ % 2 === 0 ? one : other).origin;
  const id = await register(other.origin, REDIRECT);
  /** Signs in with a browser whose requests reach the nodes in turn. */
  const signIn = async () => {
    const { form } = await new Browser(one.origin, 'ada', either).allow(id, REDIRECT);
    return { form, tokens: tokensIn(await exchange(either(), form)) };
  };
  return { storeServer, one, other, id, signIn };
}

async function revoke(origin: string, id: string, token: string): Promise<void> {
  const body = new URLSearchParams({ client_id: id, token });
  expect((await fetch(`${origin}/revoke`, { method: 'POST', body })).status).toBe(200);
}

const isRefused = { status: 400, text: expect.stringContaining('invalid_grant') };

describe('two servers with one store', () => {
  it('serve a sign-in together', async () => {
    const { one, other, signIn } = await start();
    const { tokens } = await signIn();
    for (const { origin } of [one, other]) expect(await call(origin, tokens.access_token)).toBe(200);
  });

  it('refuse a revoked grant, one at once, and the other within a minute', async () => {
    const { one, other, id, signIn } = await start();
    const { tokens } = await signIn();
    for (const { origin } of [one, other]) expect(await call(origin, tokens.access_token)).toBe(200);
    await revoke(one.origin, id, tokens.refresh_token);
    expect(await call(one.origin, tokens.access_token)).toBe(401);
    expect(await call(other.origin, tokens.access_token)).toBe(200);
    expect(await refresh(other.origin, id, tokens.refresh_token)).toMatchObject(isRefused);
    pass(MINUTE);
    expect(await call(other.origin, tokens.access_token)).toBe(401);
  });

  it('give two racing refreshes the same successor', async () => {
    const { one, other, id, signIn } = await start();
    let { tokens } = await signIn();
    for (let round = 0; round < 10; round++) {
      const token = tokens.refresh_token;
      const answers = await Promise.all([one, other].map(({ origin }) => refresh(origin, id, token)));
      const [first, second] = answers.map(tokensIn);
      expect(first?.refresh_token).toBe(second?.refresh_token);
      expect(first?.refresh_token).not.toBe(token);
      tokens = first as typeof tokens;
    }
  });

  it('accept a code once, wherever it is sent', async () => {
    const { one, other, id, signIn } = await start();
    for (const pair of [
      [one, other],
      [other, one],
    ] as const) {
      const { form, tokens } = await signIn();
      expect(await exchange(pair[0].origin, form)).toMatchObject(isRefused);
      expect(await exchange(pair[1].origin, form)).toMatchObject(isRefused);
      expect(await refresh(pair[1].origin, id, tokens.refresh_token)).toMatchObject(isRefused);
    }
  });

  it('end a stream of a revoked grant within a minute, also at the other', async () => {
    // before the servers begin to look
    jest.useFakeTimers({ now: Date.now(), doNotFake: [...NOT_FAKED, 'setTimeout', 'clearTimeout'] });
    const { one, other, id, signIn } = await start();
    const { tokens } = await signIn();
    const { ended } = await openStream(other.origin, tokens.access_token);
    await revoke(one.origin, id, tokens.refresh_token);
    await jest.advanceTimersByTimeAsync(MINUTE / 2);
    await ended;
    // its cache does not have the token any more
    expect(await call(other.origin, tokens.access_token)).toBe(401);
  });

  it('sign with the same new key after 90 days, and verify what the other has signed', async () => {
    const { one, other, id, signIn } = await start();
    const { tokens: before } = await signIn();
    // the other gets no request of the issuer
    const signAtOne = async () => {
      const { form } = await new Browser(one.origin, 'ada').allow(id, REDIRECT);
      return tokensIn(await exchange(one.origin, form)).access_token;
    };
    pass(90 * DAY);
    const old = await signAtOne();
    pass(11 * MINUTE);
    const fresh = await signAtOne();
    expect(new Set([before.access_token, old, fresh].map(keyOf)).size).toBe(2);
    expect(keyOf(old)).toBe(keyOf(before.access_token));
    expect(await call(other.origin, fresh)).toBe(200);
    const { form } = await new Browser(one.origin, 'ada', () => other.origin).allow(id, REDIRECT);
    const { access_token: token } = tokensIn(await exchange(other.origin, form));
    expect(keyOf(token)).toBe(keyOf(fresh));
    expect(await call(one.origin, token)).toBe(200);
  });
});

const keyOf = (token: string): unknown =>
  (JSON.parse(Buffer.from(token.split('.')[0] as string, 'base64url').toString()) as { kid: string }).kid;

/** What clients and users ask for, with the status of each answer. */
async function everything({ one, id, form, tokens }: { one: Node; id: string; form: CodeForm; tokens: Tokens }) {
  const authorize = `${one.origin}/authorize?${new URLSearchParams({ client_id: id })}`;
  const answers = await Promise.all([
    send(authorize),
    exchange(one.origin, form),
    refresh(one.origin, id, tokens.refresh_token),
    send(`${one.origin}/revoke`, {
      method: 'POST',
      body: new URLSearchParams({ client_id: id, token: tokens.refresh_token }),
    }),
    send(`${one.origin}/register`, { method: 'POST', body: JSON.stringify({ redirect_uris: [REDIRECT] }) }),
  ]);
  return answers.map(({ status }) => status);
}

describe('a store that has died', () => {
  it('is answered for with 5xx, and with what is cached for a minute', async () => {
    const { storeServer, one, id, signIn } = await start();
    const { form, tokens } = await signIn();
    const { tokens: others } = await signIn();
    expect(await call(one.origin, tokens.access_token)).toBe(200);
    storeServer.end();
    expect(await everything({ one, id, form, tokens })).toEqual([500, 500, 500, 500, 500]);
    expect(await call(one.origin, tokens.access_token)).toBe(200);
    expect(await call(one.origin, others.access_token)).toBe(503);
    pass(MINUTE);
    expect(await call(one.origin, tokens.access_token)).toBe(503);
  });

  it('does not keep requests for longer than a few seconds if it hangs, and is used again afterwards', async () => {
    const { storeServer, one, id, signIn } = await start();
    const { tokens, form } = await signIn();
    const { tokens: others } = await signIn();
    expect(await call(one.origin, tokens.access_token)).toBe(200);
    const stuck = storeServer.hang(6);
    jest.useFakeTimers({ now: Date.now(), doNotFake: [...NOT_FAKED, 'setInterval', 'clearInterval'] });
    const answers = Promise.all([everything({ one, id, form, tokens }), call(one.origin, others.access_token)]);
    await stuck;
    jest.advanceTimersByTime(5000);
    expect(await answers).toEqual([[500, 500, 500, 500, 500], 503]);
    expect(await call(one.origin, tokens.access_token)).toBe(200);
    storeServer.goOn();
    expect(await refresh(one.origin, id, tokens.refresh_token)).toMatchObject({ status: 200 });
  });
});

describe('a full disk', () => {
  it('is answered for with 500, and uses nothing up', async () => {
    const [one] = (await startNodes([new FileStore(createFolder(), {}, SYSTEM_CLOCK)])) as [Node];
    const id = await register(one.origin, REDIRECT);
    const browser = new Browser(one.origin, 'ada');
    const { form } = await browser.allow(id, REDIRECT);
    const { form: unused } = await browser.allow(id, REDIRECT);
    const tokens = tokensIn(await exchange(one.origin, form));
    const handle = await open(process.execPath);
    await handle.close();
    const full = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
    const write = jest.spyOn(Object.getPrototypeOf(handle) as typeof handle, 'write').mockRejectedValue(full);
    afterwards(() => write.mockRestore());
    expect(await everything({ one, id, form: unused, tokens })).toEqual([303, 500, 500, 500, 500]);
    expect(await call(one.origin, tokens.access_token)).toBe(200);
    write.mockRestore();
    expect(await exchange(one.origin, unused)).toMatchObject({ status: 200 });
    const next = tokensIn(await refresh(one.origin, id, tokens.refresh_token));
    expect(await refresh(one.origin, id, next.refresh_token)).toMatchObject({ status: 200 });
  });
});

describe('a folder that was sealed with another secret', () => {
  it('is refused at startup, and left to a process that has the secret', async () => {
    const folder = createFolder();
    const before = await openFileStore(folder);
    await before.write([{ key: 'key:signing', value: 'sealed with another secret' }]);
    await before.close();
    const started = startNodes([new FileStore(folder, {}, SYSTEM_CLOCK)]);
    await expect(started).rejects.toThrow('DECORUM_SECRET');
    const clock = new ManualClock();
    clock.onWait = () => Promise.reject(new Error('The folder is still locked.'));
    expect(await (await openFileStore(folder, clock)).get('key:signing')).toBe('sealed with another secret');
  });
});

const NOT_FAKED = ['hrtime', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate', 'clearImmediate'] as const;
