import type { ClusterCounts } from '@decorum/core/transport';
import { andThen } from '@decorum/core/internal';

import { failureOf, type Report, type StoreCalls } from '../sessions/store-calls.js';
import type { Courier, Letter } from './courier.js';

/** What `Letters` needs from its endpoint. */
export interface LetterParts {
  readonly courier: Courier;
  readonly stores: StoreCalls;
  readonly counts: ClusterCounts;
  readonly report: Report;
}

/** The letters that an endpoint sends and receives. */
export class Letters {
  /** Resolves with a function that stops receiving. */
  private stopping: Promise<() => void> | undefined;

  constructor(private readonly parts: LetterParts) {}

  /** Identifies this process. */
  get node(): string {
    return this.parts.courier.node;
  }

  /**
   * Sends a letter to all other processes. Doesn't fail: if it is lost, they learn of it in two seconds. Who waits for it
   * knows that it arrives before the changes that a client causes from now on.
   */
  async tell(letter: Letter): Promise<void> {
    const { courier, stores, counts } = this.parts;
    counts.letters += 1;
    try {
      await stores.run('courier.send', () => (courier.tell ? courier.tell(letter) : courier.send(letter)));
    } catch {
      // the error is reported
    }
  }

  /**
   * Sends a letter that somebody must take.
   * @param to the process; undefined for all others
   * @returns whether somebody took it
   * @throws {HttpError} 503 if the courier fails
   */
  ask(letter: Letter, to?: string): boolean | Promise<boolean> {
    const { courier, stores, counts } = this.parts;
    counts.letters += 1;
    return andThen(
      stores.run('courier.send', () => courier.send(letter, to)),
      (isTaken) => {
        if (!isTaken) counts.untaken += 1;
        return isTaken;
      },
    );
  }

  /** Begins to receive letters. */
  open(take: (letter: Letter) => boolean | Promise<boolean>): void {
    const { courier, report } = this.parts;
    this.stopping = (async () => await courier.receive(take))().catch((error: unknown) => {
      report(error, failureOf('courier.receive'));
      return () => {};
    });
  }

  /** Stops receiving letters. */
  close(): void {
    const { report } = this.parts;
    this.stopping?.then((stop) => stop()).catch((error: unknown) => report(error, failureOf('courier.receive')));
  }
}
