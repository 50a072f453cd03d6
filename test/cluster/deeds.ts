import { randomUUID } from 'node:crypto';

import { expect } from '@jest/globals';

import type { Nodes } from '../../bench/dist/cluster/nodes.js';
import { type Actor, CHANGED, type Door, type Kind } from './actor.js';

/** Something that clients do over and over, while each of their requests reaches another node. */
export interface Deed {
  readonly name: string;
  readonly fits: (kind: Kind) => boolean;
  /** Once per client. */
  readonly prepare?: (actor: Actor) => Promise<void>;
  /**
   * Whether each round has a client of its own: its session ends, or it cancels a call. After that, a client of SDK 1
   * asks for the rest of its stream for ever.
   */
  readonly isLast?: boolean;
  readonly run: (actor: Actor, nodes: Nodes) => Promise<void>;
}

const always = () => true;
const inSession = ({ revision }: Kind) => revision !== '2026-07-28';
const elicits = ({ revision }: Kind) => revision >= '2025-06-18';
const ANYTHING = 'soak://watched';

const ask = (how: string, answer: string, fits: Deed['fits']): Deed => ({
  name: how,
  fits,
  run: async (actor) => expect(await actor.call('ask', { how })).toBe(`${answer} ${answer}`),
});

/** All integers from 1 to `count`. */
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

const STEPS = 8;

export const DEEDS: readonly Deed[] = [
  ask('elicit', 'accept ada', elicits),
  ask('sample', 'ada', always),
  ask('roots', 'file:///ada', always),
  {
    name: 'rounds with an effect that runs once',
    fits: ({ revision }) => revision === '2026-07-28',
    async run(actor, nodes) {
      const name = randomUUID();
      expect(await actor.call('twice', { name })).toBe('true true');
      expect(nodes.count('effect', name)).toBe(1);
    },
  },
  {
    name: 'cancel',
    fits: always,
    isLast: true,
    async run(actor, nodes) {
      const name = randomUUID();
      const running = await actor.begin('hold', { name });
      await running.cancel();
      await nodes.heard('stopped', name);
    },
  },
  {
    name: 'DELETE',
    fits: inSession,
    isLast: true,
    async run(actor, nodes) {
      const name = randomUUID();
      await actor.begin('hold', { name });
      await actor.end();
      await nodes.heard('stopped', name);
    },
  },
  {
    name: 'setLevel during a call',
    fits: inSession,
    isLast: true,
    async run(actor) {
      await actor.setLevel('debug');
      const steps = 300;
      const running = await actor.begin('chatter', { steps });
      await actor.notes.until(() => actor.notes.count('notifications/message') > 0);
      await actor.setLevel('error');
      const isQuiet = () => !actor.notes.methods.slice(-3).includes('notifications/message');
      await actor.notes.until(isQuiet);
      expect(running.steps.length).toBeLessThan(steps);
      await running.cancel();
    },
  },
  {
    name: 'subscribe and update',
    fits: always,
    async run(actor) {
      const uri = `soak://${randomUUID()}`;
      await actor.follow(uri);
      await actor.call('touch', { uri });
      await actor.notes.updated(uri);
    },
  },
  {
    name: 'a change on the stream of notifications',
    fits: always,
    prepare: (actor) => actor.follow(ANYTHING),
    async run(actor) {
      const before = actor.notes.count(CHANGED);
      await actor.call('changed');
      await actor.notes.reach(CHANGED, before + 1);
      const uri = ANYTHING;
      await actor.call('touch', { uri });
      await actor.notes.updated(uri);
      expect(actor.notes.count(CHANGED)).toBe(before + 1);
    },
  },
  {
    name: 'a change while the stream of notifications is cut',
    fits: inSession,
    prepare: (actor) => actor.follow(ANYTHING),
    async run(actor) {
      const before = actor.notes.count(CHANGED);
      await actor.call('changed');
      await actor.notes.reach(CHANGED, before + 1);
      const cutting = actor.cutStream();
      await actor.call('changed');
      await cutting;
      await actor.notes.reach(CHANGED, before + 2);
    },
  },
  {
    name: 'a call whose stream is cut',
    // a client of an older revision has no event to resume from until the first one arrives
    fits: inSession,
    async run(actor) {
      const running = await actor.begin('tick', { steps: STEPS });
      await running.stepped(3);
      await running.cut();
      expect(await running.result).toBe('done');
      expect(running.steps).toEqual(upTo(STEPS));
    },
  },
];

/** Lets a client do a deed this often, or several clients in turn. */
export async function perform(deed: Deed, kind: Kind, at: { door: Door; nodes: Nodes; rounds: number }): Promise<void> {
  let actor = await kind.connect(at.door);
  try {
    await deed.prepare?.(actor);
    for (let round = 1; round <= at.rounds; round += 1) {
      await deed.run(actor, at.nodes);
      if (!deed.isLast || round === at.rounds) continue;
      await actor.close();
      actor = await kind.connect(at.door);
    }
  } finally {
    await actor.close();
  }
}
