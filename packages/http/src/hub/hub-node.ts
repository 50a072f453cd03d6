import type { Change } from '@decorum/core';

import type { Letter } from '../cluster/courier.js';
import type { Channel } from './channel.js';
import { MARK, type Outcome } from './messages.js';
import { Outbox } from './outbox.js';

/** Cap on the letters that one node may leave unanswered. Beyond it, the oldest fails. */
const MAX_LETTERS = 10_000;

const SILENT: Outcome = { error: { message: 'A process of the cluster does not answer its letters.' } };

/** The hub's view of a node: one server in one process. */
export class HubNode {
  private readonly outbox: Outbox;
  /** Unanswered letters by id, the oldest first. */
  private readonly letters = new Map<number, (outcome: Outcome) => void>();
  private count = 0;

  constructor(
    readonly channel: Channel,
    readonly server: string,
    readonly id: string,
  ) {
    const address = { decorum: MARK, server, node: id } as const;
    // errors don't matter: the end of the process is reported elsewhere
    this.outbox = new Outbox((items, done) => channel.send({ ...address, items }, () => done()));
  }

  /** Answers a message of the node. If the node doesn't keep up, the answer is lost: the caller has a deadline. */
  answer(id: number, outcome: Outcome): void {
    this.outbox.add({ kind: 'outcome', id, outcome });
  }

  /** Tells the node of a change. If it doesn't keep up, it learns later that it has missed changes. */
  notify(change: Change): void {
    if (this.outbox.add({ kind: 'change', change })) return;
    this.outbox.onRoom = () => void this.outbox.add({ kind: 'change', change: { kind: 'missed' } });
  }

  /** Delivers a letter that needs no answer. It is lost if the node doesn't keep up. */
  tell(letter: Letter): void {
    this.outbox.add({ kind: 'tell', id: 0, letter });
  }

  /**
   * Delivers a letter.
   * @param settle receives its outcome, once
   * @returns false if the node doesn't keep up
   */
  deliver(letter: Letter, settle: (outcome: Outcome) => void): boolean {
    const id = (this.count += 1);
    if (!this.outbox.add({ kind: 'letter', id, letter })) return false;
    const [oldest] = this.letters.keys();
    if (oldest !== undefined && this.letters.size >= MAX_LETTERS) this.settle(oldest, SILENT);
    this.letters.set(id, settle);
    return true;
  }

  /** Notes the outcome of a letter. */
  settle(id: number, outcome: Outcome): void {
    const settle = this.letters.get(id);
    this.letters.delete(id);
    settle?.(outcome);
  }

  /** The node has ended, so it took none of its unanswered letters. */
  end(): void {
    for (const id of this.letters.keys()) this.settle(id, { value: false });
  }
}
