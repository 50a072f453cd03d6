// What every `ChangeBus` has to do. A package with an implementation runs it over its own.
import { describe, expect, it } from '@jest/globals';
import type { Change, ChangeBus } from '@decorum/core';

/** A bus under test, as two processes have it. */
export interface BusUnderTest {
  readonly near: ChangeBus;
  readonly far: ChangeBus;
  /** Resolves when everything that was published has arrived. */
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

    it('tells subscribers in every process, that of the publisher included, in order and as JSON', async () => {
      const { near, far, settled } = await open();
      const [here, there] = [await listen(near), await listen(far)];
      for (const change of CHANGES) await near.publish(change);
      await settled();
      expect(JSON.parse(JSON.stringify(here.heard))).toEqual(CHANGES);
      expect(JSON.parse(JSON.stringify(there.heard))).toEqual(CHANGES);
    });

    it('tells nobody who has ended the subscription, and goes on telling the others', async () => {
      const { near, far, settled } = await open();
      const [gone, stays] = [await listen(near), await listen(far)];
      gone.end();
      await near.publish(CHANGES[0] as Change);
      await settled();
      expect(gone.heard).toEqual([]);
      expect(stays.heard).toEqual([CHANGES[0]]);
    });

    it('does not repeat to a new subscriber what was published before', async () => {
      const { near, far, settled } = await open();
      await near.publish(CHANGES[1] as Change);
      await settled();
      const { heard } = await listen(far);
      await settled();
      expect(heard).toEqual([]);
    });
  });
}
