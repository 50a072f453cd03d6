// Two servers of one issuer, over a store that both use.
import { describe, expect, it } from '@jest/globals';

import { storeContract } from '../../src/store-contract.js';
import { ManualClock } from '../fixture-store.js';
import { type Node, presentClock, startNodes } from './nodes.js';
import { SharedStore, StoreServer } from './shared-store.js';
import { Browser, call, exchange, refresh, register, tokensIn } from './sign-in.js';

const REDIRECT = 'http://127.0.0.1/callback';
const MINUTE = 60_000;

describe('the store of these tests', () => {
  it.each(storeContract)('%s', async (_rule, check) => {
    const clock = new ManualClock();
    await check(new SharedStore((await StoreServer.start(clock)).url), clock);
  });
});

async function start() {
  const clock = presentClock();
  const storeServer = await StoreServer.start(clock);
  const store = () => new SharedStore(storeServer.url);
  const [one, other] = (await startNodes([store(), store()], clock)) as [Node, Node];
  let turn = 0;
  const either = () => (turn++ % 2 === 0 ? one : other).origin;
  const id = await register(other.origin, REDIRECT);
  /** Signs in with a browser whose requests reach the nodes in turn. */
  const signIn = async () => {
    const { form } = await new Browser(one.origin, 'ada', either).allow(id, REDIRECT);
    return { form, tokens: tokensIn(await exchange(either(), form)) };
  };
  return { clock, storeServer, one, other, id, signIn };
}

const isRefused = { status: 400, text: expect.stringContaining('invalid_grant') };

describe('two servers with one store', () => {
  it('serve a sign-in together', async () => {
    const { one, other, signIn } = await start();
    const { tokens } = await signIn();
    for (const { origin } of [one, other]) expect(await call(origin, tokens.access_token)).toBe(200);
  });

  it('refuse a revoked grant, one at once, and the other within a minute', async () => {
    const { one, other, id, signIn, clock } = await start();
    const { tokens } = await signIn();
    for (const { origin } of [one, other]) expect(await call(origin, tokens.access_token)).toBe(200);
    await exchange(`${one.origin}`, { client_id: id });
    const body = new URLSearchParams({ client_id: id, token: tokens.refresh_token });
    expect((await fetch(`${one.origin}/revoke`, { method: 'POST', body })).status).toBe(200);
    expect(await call(one.origin, tokens.access_token)).toBe(401);
    expect(await call(other.origin, tokens.access_token)).toBe(200);
    expect(await refresh(other.origin, id, tokens.refresh_token)).toMatchObject(isRefused);
    clock.pass(MINUTE);
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
});
