// Questions that stay without an answer, and other calls meanwhile.
import { afterEach, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '@decorum/core';

import { SYSTEM_CLOCK, type UpstreamClock } from '../../src/proxy/upstream/clock.js';
import { closeAll, eventually, Front, Listener, program, STATEFUL, STATELESS, textOf } from './front.js';

afterEach(closeAll);

const ann = { headers: { 'x-user': 'ann' }, capabilities: { elicitation: { form: {}, url: {} } } };
const LOST =
  'The call of the server "geo" was lost while it waited for an answer. It may have run. Find out before you start it again.';

describe.each([STATELESS, STATEFUL])('a question to a client of %s that nobody answers', (revision) => {
  it('gives way to other calls over the same pipe after the timeout', async () => {
    const timers: (() => void)[] = [];
    const after: UpstreamClock['after'] = (ms, run) => {
      if (ms !== 54_321) return SYSTEM_CLOCK.after(ms, run);
      timers.push(run);
      return () => {};
    };
    const clock = { ...SYSTEM_CLOCK, after };
    const front = new Front(program, { revision: STATEFUL, process: 'session', timeoutMs: 54_321, clock });
    let asked = () => {};
    const asking = new Promise<void>((resolve) => (asked = resolve));
    const client = await front.overHttp({
      ...ann,
      revision,
      onElicit: async () => {
        asked();
        return await new Promise(() => {});
      },
    });
    const unanswered = client.callTool('ask', { who: 'Ann' });
    await asking;
    const other = client.callTool('add', { a: 1, b: 2 });
    await eventually(async () => expect(timers).toHaveLength(1));
    timers[0]?.();
    expect(textOf(await other)).toBe('3');
    if (revision === STATEFUL) expect(textOf(await unanswered)).toBe(LOST);
    else unanswered.catch(() => {});
  });
});

it('questions of a stateless upstream keep their keys, unless a call uses one twice', async () => {
  const front = new Front((await Listener.start()).url, { revision: STATELESS });
  const client = await front.overHttp({ ...ann, revision: STATELESS });
  const call = async (name: string, more: JsonObject = {}) =>
    await client.request<JsonObject>('tools/call', { name, arguments: {}, ...more });
  const keys = ({ inputRequests = {} }: JsonObject) => Object.keys(inputRequests as object);
  expect(keys(await call('both'))).toEqual(['left', 'right']);
  const first = await call('twice');
  expect(keys(first)).toEqual(['geo.1.#1']);
  // the upstream asks again for what has no answer
  const asked = await call('both');
  const answers = { left: { action: 'accept', content: { name: 'x' } } };
  const again = await call('both', { requestState: asked['requestState'], inputResponses: answers });
  expect(keys(again)).toEqual(['right']);
});
