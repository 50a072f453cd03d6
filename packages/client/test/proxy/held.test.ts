import { afterEach, describe, expect, it } from '@jest/globals';
import type { Client, ElicitQuestion } from '@decorum/client';
import type { JsonObject } from '@decorum/core';

import { SYSTEM_CLOCK, type UpstreamClock } from '../../src/proxy/upstream/clock.js';
import { closeAll, eventually, Front, jsonOf, Listener, STATEFUL, STATELESS, textOf } from './front.js';

afterEach(closeAll);

const accepted = (name: string) => ({ action: 'accept' as const, content: { name } });
const LOST =
  'The call of the server "geo" was lost while it waited for an answer. It may have run. Find out before you start it again.';

/** A client that answers by itself, round by round. */
async function byHand(front: Front, user = 'ann') {
  const client = await front.overHttp({
    revision: STATELESS,
    headers: { 'x-user': user },
    capabilities: { elicitation: { form: {}, url: {} } },
  });
  const call = async (name: string, args: JsonObject = {}, more: JsonObject = {}) =>
    await client.request<JsonObject>('tools/call', { name, arguments: args, ...more });
  const answer = ({ inputRequests, requestState }: JsonObject, name: string): JsonObject => ({
    requestState,
    inputResponses: Object.fromEntries(Object.keys(inputRequests as object).map((key) => [key, accepted(name)])),
  });
  return { client, call, answer };
}

const messagesOf = ({ inputRequests = {} }: JsonObject) =>
  Object.values(inputRequests as Record<string, { params: { message: string } }>).map(({ params }) => params.message);

const stateOf = async (client: Client) => jsonOf(await client.callTool('state'));

describe('a call that is held for a client without a session', () => {
  const start = async (options = {}) => new Front((await Listener.start()).url, { revision: STATEFUL, ...options });

  it('asks the questions that come together in one round', async () => {
    const { call, answer } = await byHand(await start());
    const asked = await call('both');
    expect(messagesOf(asked)).toEqual(['geo: Left?', 'geo: Right?']);
    expect(textOf((await call('both', {}, answer(asked, 'x'))) as never)).toBe('["x","x"]');
  });

  it('asks again for what the client has not answered', async () => {
    const { call, answer } = await byHand(await start());
    const asked = await call('both');
    const { inputResponses, requestState } = answer(asked, 'x');
    const [left, right] = Object.entries(inputResponses as object);
    const again = await call('both', {}, { requestState, inputResponses: Object.fromEntries([left as never]) });
    expect(messagesOf(again)).toEqual(['geo: Right?']);
    const more = { requestState: again['requestState'], inputResponses: Object.fromEntries([right as never]) };
    expect(textOf((await call('both', {}, more)) as never)).toBe('["x","x"]');
  });

  it('is lost in another process, and is not run again', async () => {
    const secret = 'a secret of more than thirty-two characters';
    const url = (await Listener.start()).url;
    const [one, other] = [0, 1].map(() => new Front(url, { revision: STATEFUL }, { secret })) as [Front, Front];
    const here = await byHand(one);
    const there = await byHand(other);
    const asked = await here.call('ask', { who: 'Ann' });
    expect(textOf((await there.call('ask', { who: 'Ann' }, here.answer(asked, 'x'))) as never)).toBe(LOST);
    expect((await stateOf(here.client))['begun']).toEqual(['Ann']);
    expect(textOf((await here.call('ask', { who: 'Ann' }, here.answer(asked, 'x'))) as never)).toBe('Ann: x');
    expect(textOf((await here.call('ask', { who: 'Ann' }, here.answer(asked, 'y'))) as never)).toBe(LOST);
    expect((await stateOf(here.client))['begun']).toEqual(['Ann']);
  });

  it('belongs to its principal and its arguments', async () => {
    const front = await start();
    const ann = await byHand(front);
    const bob = await byHand(front, 'bob');
    const asked = await ann.call('ask', { who: 'Ann' });
    await expect(bob.call('ask', { who: 'Ann' }, ann.answer(asked, 'x'))).rejects.toMatchObject({ code: -32602 });
    await expect(ann.call('ask', { who: 'Eve' }, ann.answer(asked, 'x'))).rejects.toMatchObject({ code: -32602 });
    expect(textOf((await ann.call('ask', { who: 'Ann' }, ann.answer(asked, 'x'))) as never)).toBe('Ann: x');
  });

  it('is cancelled upstream when the client does not come back in time', async () => {
    const timers: (() => void)[] = [];
    const clock: UpstreamClock = {
      ...SYSTEM_CLOCK,
      after(ms, run) {
        if (ms !== 1234) return SYSTEM_CLOCK.after(ms, run);
        timers.push(run);
        return () => {};
      },
    };
    const front = await start({ holdMs: 1234, clock });
    const { call, client, answer } = await byHand(front);
    const asked = await call('wait', { name: 'one', asks: true });
    expect(timers).toHaveLength(1);
    timers[0]?.();
    expect(textOf((await call('wait', { name: 'one', asks: true }, answer(asked, 'x'))) as never)).toBe(LOST);
    await eventually(async () => expect((await stateOf(client))['cancelled']).toEqual(['one']));
  });

  it('is refused once too many are held', async () => {
    const { call } = await byHand(await start({ maxHeld: 1 }));
    await call('ask', { who: 'Ann' });
    const refused = await call('ask', { who: 'Bob' });
    expect(textOf(refused as never)).toBe('The server "geo" has too many calls at a time. Try again later.');
  });

  it('goes on while the client is away, and loses nothing', async () => {
    const front = await start();
    const { call, answer } = await byHand(front);
    const first = await call('twice');
    const second = await call('twice', {}, answer(first, 'x'));
    expect([messagesOf(first), messagesOf(second)]).toEqual([['geo: First?'], ['geo: Second?']]);
    expect(textOf((await call('twice', {}, answer(second, 'y'))) as never)).toBe('["x","y"]');
  });
});

it('sends users to the URLs that an upstream requires, and calls it again', async () => {
  const seen: ElicitQuestion[] = [];
  const front = new Front((await Listener.start()).url, { revision: STATEFUL });
  const client = await front.overHttp({
    revision: STATELESS,
    headers: { 'x-user': 'ann' },
    capabilities: { elicitation: { url: {} } },
    onElicit: (question) => {
      seen.push(question);
      return { action: 'accept' };
    },
  });
  expect(textOf(await client.callTool('required'))).toBe('signed in');
  expect(seen).toHaveLength(1);
  expect(seen[0]).toMatchObject({ message: 'geo: Sign in', url: 'https://login.example.com/1' });
});
