import { clearTimeout, setTimeout } from 'node:timers';

import type { Courier, Letter } from '@decorum/http';

import type { Channels, Message } from './channels.js';
import type { Link } from './link.js';
import type { Presence } from './presence.js';

/** Milliseconds within which a node answers a letter. */
const ANSWER_MS = 1000;
/** Milliseconds until a letter is sent again to a node that wasn't there to receive it. */
const RETRY_MS = 100;
/** Milliseconds after which a node that is alive is given up. */
const PATIENCE_MS = 4500;
/** Cap on the letters that wait for an answer. */
const MAX_WAITING = 10_000;
/** Cap on the letters whose answers are remembered, because they may come again. */
const MAX_TAKEN = 1000;

type Take = (letter: Letter) => boolean | Promise<boolean>;

/** Waits for the answer to a letter. */
class Answer {
  private isTaken: boolean | undefined;
  private wake: () => void = () => {};

  give(isTaken: boolean): void {
    this.isTaken = isTaken;
    this.wake();
  }

  /** The answer; undefined if there is none in time. */
  async within(ms: number): Promise<boolean | undefined> {
    if (this.isTaken !== undefined) return this.isTaken;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    return this.isTaken;
  }
}

/** Carries letters between nodes. Each one that is for a single node is answered, and of the others those that are taken. */
export class RedisCourier implements Courier {
  readonly node: string;
  private readonly takers = new Set<Take>();
  private readonly answers = new Map<number, Answer>();
  /** The results of letters for this node, oldest first. */
  private readonly taken = new Map<string, Promise<boolean>>();
  private count = 0;

  constructor(
    private readonly link: Link,
    private readonly channels: Channels,
    private readonly presence: Presence,
  ) {
    this.node = channels.node;
    channels.listeners.add((message) => this.hear(message));
  }

  receive(take: Take): () => void {
    this.takers.add(take);
    return () => void this.takers.delete(take);
  }

  async send(letter: Letter, to?: string): Promise<boolean> {
    if (this.answers.size >= MAX_WAITING) throw new Error(`${MAX_WAITING} letters wait for an answer.`);
    const number = (this.count += 1);
    const answer = new Answer();
    this.answers.set(number, answer);
    const outgoing = { kind: 'letter', number, text: JSON.stringify(letter) } as const;
    try {
      if (to !== undefined) return await this.deliver(() => this.channels.send(outgoing, to), to, answer);
      const receivers = await this.channels.send(outgoing);
      // this node is one of them
      return receivers > 1 && ((await answer.within(ANSWER_MS)) ?? false);
    } finally {
      this.answers.delete(number);
    }
  }

  async tell(letter: Letter): Promise<void> {
    // nobody waits for an answer to 0
    await this.channels.send({ kind: 'letter', number: 0, text: JSON.stringify(letter) });
  }

  /** Answers false to all that wait: the server has closed. */
  close(): void {
    for (const answer of this.answers.values()) answer.give(false);
  }

  /** Sends a letter until it is answered. The receiver knows it again. */
  private async deliver(send: () => Promise<number>, to: string, answer: Answer): Promise<boolean> {
    const end = performance.now() + PATIENCE_MS;
    while (performance.now() < end) {
      const wait = (await send()) === 0 ? RETRY_MS : ANSWER_MS;
      // nobody was there to receive it: look at once whether the node is dead
      if (wait === RETRY_MS && (await this.presence.isDead(to, false))) return false;
      const isTaken = await answer.within(wait);
      if (isTaken !== undefined) return isTaken;
      if (wait === ANSWER_MS && (await this.presence.isDead(to, true))) return false;
    }
    throw new Error(`Node ${to} is alive, but does not answer.`);
  }

  private hear({ kind, from, number, isAddressed, text }: Message): void {
    if (kind === 'answer') this.answers.get(number)?.give(text === 'true');
    if (kind !== 'letter' || (from === this.node && !isAddressed)) return;
    if (!isAddressed) {
      void this.take(text).then((isTaken) => isTaken && number > 0 && this.answer(from, number, true));
      return;
    }
    const name = `${from} ${number}`;
    const result = this.taken.get(name) ?? this.take(text);
    this.remember(name, result);
    void result.then((isTaken) => this.answer(from, number, isTaken));
  }

  private remember(name: string, result: Promise<boolean>): void {
    this.taken.set(name, result);
    for (const oldest of this.taken.keys()) {
      if (this.taken.size <= MAX_TAKEN) return;
      this.taken.delete(oldest);
    }
  }

  private async take(text: string): Promise<boolean> {
    const letter = JSON.parse(text) as Letter;
    const results = [...this.takers].map(async (take) => await take(letter));
    const settled = await Promise.allSettled(results);
    for (const each of settled) {
      if (each.status === 'rejected') this.link.report(each.reason, 'A letter could not be handled.');
    }
    return settled.some((each) => each.status === 'fulfilled' && each.value);
  }

  private answer(to: string, number: number, isTaken: boolean): void {
    // if it is lost, the letter comes again, or its sender gives up
    this.channels.send({ kind: 'answer', number, text: String(isTaken) }, to).catch(() => {});
  }
}
