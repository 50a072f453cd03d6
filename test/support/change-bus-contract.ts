// The contract of `ChangeBus`. Every package with an implementation runs these tests against it.
import { describe, expect, it } from '@jest/globals';
import type { Change, ChangeBus } from '@decorum/core';

/** A bus under test, seen from two processes. */
export interface BusUnderTest {
  readonly near: ChangeBus;
  readonly far: ChangeBus;
  /** Resolves when everything published so far has arrived. */
  settled(): Promise<void>;
}

const CHANGES: readonly Change[] = [
  { kind: 'lists', lists: ['tools', 'resources'] },
  { kind: 'resource', uri: 'docs://a/b?c=d' },
  { kind: 'elicitation', id: '5f0c9f5e' },
];

/** Registers the tests of the contract. */
export function changeBusContract(name: string, open: () => BusUnderTest | Promise<BusUnderTest>): void {
  describe(`${name}, as a change bus`, () => {
    const listen = async (bus: ChangeBus) => {
      const heard: Change[] = [];
      const end = await bus.subscribe((change) => void heard.push(change));
      return { heard, end };
    };

    it('notifies subscribers in every process, including the publisher, in order and as JSON', async () => {
      const { near, far, settled } = await open();
      const [here, there] = [await listen(near), await listen(far)];
      for (const change of CHANGES) await near.publish(change);
      await settled();
      expect(JSON.parse(JSON.stringify(here.heard))).toEqual(CHANGES);
      expect(JSON.parse(JSON.stringify(there.heard))).toEqual(CHANGES);
    });

    it('stops notifying a subscriber that has unsubscribed, and keeps notifying the others', async () => {
      const { near, far, settled } = await open();
      const [gone, stays] = [await listen(near), await listen(far)];
      gone.end();
      await near.publish(CHANGES[0] as Change);
      await settled();
      expect(gone.heard).toEqual([]);
      expect(stays.heard).toEqual([CHANGES[0]]);
    });

    it('does not replay earlier changes to a new subscriber', async () => {
      const { near, far, settled } = await open();
      await near.publish(CHANGES[1] as Change);
      await settled();
      const { heard } = await listen(far);
      await settled();
      expect(heard).toEqual([]);
    });
  });
}
