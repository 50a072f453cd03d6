import type { ClusterCounts } from '@decorum/core/transport';

import { failureOf, type Report, type StoreCalls } from '../sessions/store-calls.js';
import type { Courier, Letter } from './courier.js';

/** What `Letters` needs from its endpoint. */
export interface LetterParts {
  readonly courier: Courier;
  readonly stores: StoreCalls;
  readonly counts: ClusterCounts;
  readonly report: Report;
}

type Take = (letter: Letter) => boolean | Promise<boolean>;

/** The endpoints of this process that share a courier: a server may listen on several ports. */
const endpoints = new WeakMap<Courier, Set<Letters>>();

/** The letters that an endpoint sends and receives. */
export class Letters {
  private take: Take = () => false;
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
    void this.offer(letter);
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
  async ask(letter: Letter, to?: string): Promise<boolean> {
    const { courier, stores, counts } = this.parts;
    counts.letters += 1;
    if ((to === undefined || to === courier.node) && (await this.offer(letter))) return true;
    const isTaken = to !== courier.node && (await stores.run('courier.send', () => courier.send(letter, to)));
    if (!isTaken) counts.untaken += 1;
    return isTaken;
  }

  /** Gives a letter to the other endpoints of this process. Returns whether one of them took it. */
  async offer(letter: Letter): Promise<boolean> {
    const others = [...(endpoints.get(this.parts.courier) ?? [])].filter((each) => each !== this);
    const taken = await Promise.allSettled(others.map(async ({ take }) => await take(letter)));
    return taken.some((each) => each.status === 'fulfilled' && each.value);
  }

  /** Begins to receive letters. */
  open(take: Take): void {
    const { courier, report } = this.parts;
    this.take = take;
    endpoints.set(courier, (endpoints.get(courier) ?? new Set<Letters>()).add(this));
    this.stopping = (async () => await courier.receive(take))().catch((error: unknown) => {
      report(error, failureOf('courier.receive'));
      return () => {};
    });
  }

  /** Stops receiving letters. */
  close(): void {
    const { courier, report } = this.parts;
    endpoints.get(courier)?.delete(this);
    this.stopping?.then((stop) => stop()).catch((error: unknown) => report(error, failureOf('courier.receive')));
  }
}
