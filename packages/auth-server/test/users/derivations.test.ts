import { describe, expect, it } from '@jest/globals';

import { Derivations, SignInBusyError } from '../../src/users/derivations.js';

/** Derivations that end when told to. */
function flood(derivations: Derivations, count: number) {
  const ends: (() => void)[] = [];
  let started = 0;
  const all = Array.from({ length: count }, (_, index) =>
    derivations.run(() => {
      started++;
      return new Promise<number>((resolve) => {
        ends.push(() => resolve(index));
      });
    }),
  );
  return { all: all.map((each) => each.catch((error: unknown) => error)), ends, started: () => started };
}

const turn = () => new Promise(setImmediate);

describe('derivations', () => {
  it('run two at a time, in the order of their arrival', async () => {
    const { all, ends, started } = flood(new Derivations(), 4);
    expect(started()).toBe(2);
    ends.shift()?.();
    await turn();
    expect(started()).toBe(3);
    while (ends.length > 0) {
      ends.shift()?.();
      await turn();
    }
    expect(await Promise.all(all)).toEqual([0, 1, 2, 3]);
  });

  it('are refused, with a time to try again, if too many wait, and run again after the flood', async () => {
    const derivations = new Derivations();
    const { all, ends } = flood(derivations, 40);
    for (let each = 0; each < 34; each++) {
      ends.shift()?.();
      await turn();
    }
    const answers = await Promise.all(all);
    expect(answers.slice(0, 34)).toEqual(Array.from({ length: 34 }, (_, index) => index));
    expect(answers.slice(34).every((answer) => answer instanceof SignInBusyError && answer.retryAfter === 5)).toBe(
      true,
    );
    expect(await derivations.run(async () => 'done')).toBe('done');
  });

  it('give their turn to the next if they fail', async () => {
    const derivations = new Derivations();
    const fail = () => derivations.run(() => Promise.reject(new Error('no memory')));
    const failures = await Promise.allSettled([fail(), fail(), fail(), fail()]);
    expect(failures.map(({ status }) => status)).toEqual(Array(4).fill('rejected'));
    expect(await derivations.run(async () => 'done')).toBe('done');
  });
});
