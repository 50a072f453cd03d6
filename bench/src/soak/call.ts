import type { Ledger } from './ledger.js';
import { excerpt, type Message } from './messages.js';

/**
 * Milliseconds after which an answer or a notification counts as lost. Longer in a process that is stopped for a while.
 */
export const LOST_MS = Number(process.env['SOAK_LOST_MS'] ?? 60_000);

/** One request of a client. It gets exactly one answer, unless the client abandons it. */
export class Call {
  /** Resolves with the response, or rejects when it is lost. It stays pending if the client abandons the request. */
  readonly answer: Promise<Message>;
  /** Notifications that belong to the request: progress, and those on its stream. */
  readonly notes: Message[] = [];
  state: 'open' | 'answered' | 'abandoned' = 'open';
  /** Whether an abandoned request was answered. It may be answered once, because the cancellation may come too late. */
  private late = false;
  private resolve!: (answer: Message) => void;
  private reject!: (error: Error) => void;
  private readonly timer: NodeJS.Timeout;
  private reached: { readonly count: number; readonly resolve: () => void } | undefined;

  /** @param client name of the client, for failures */
  constructor(
    public id: number,
    readonly method: string,
    private readonly client: { readonly name: string; readonly ledger: Ledger },
  ) {
    client.ledger.calls += 1;
    this.answer = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    // acts that abandon the request never await it
    this.answer.catch(() => {});
    this.timer = setTimeout(() => this.lose(`got no answer within ${LOST_MS / 1000} s`), LOST_MS);
  }

  /** Takes the response. */
  receive(message: Message): void {
    if (this.state === 'answered' || this.late) {
      return this.fail(`${this.method} ${this.id} was answered twice: ${excerpt(message)}`);
    }
    if (this.state === 'abandoned') {
      this.late = true;
      return;
    }
    this.state = 'answered';
    this.client.ledger.answered += 1;
    this.settle();
    this.resolve(message);
  }

  /** Takes a notification. */
  note(message: Message): void {
    if (this.state === 'answered') {
      this.fail(`${this.method} ${this.id} got a notification after its answer: ${excerpt(message)}`);
    }
    this.notes.push(message);
    if (this.reached && this.notes.length >= this.reached.count) this.reached.resolve();
  }

  /** Resolves once the request has this many notifications, or its answer. */
  async noted(count: number): Promise<void> {
    if (this.notes.length >= count) return;
    const reached = new Promise<void>((resolve) => {
      this.reached = { count, resolve };
    });
    await Promise.race([reached, this.answer]);
  }

  /** Begins again with another id, because the process that ran it has ended. */
  restart(id: number): void {
    this.id = id;
    this.notes.length = 0;
  }

  /** The steps of the progress notifications. */
  get steps(): number[] {
    const progress = this.notes.filter(({ method }) => method === 'notifications/progress');
    return progress.map(({ params }) => params?.['progress'] as number);
  }

  /** Gives up on the request deliberately. */
  abandon(): void {
    if (this.state !== 'open') return;
    this.state = 'abandoned';
    this.client.ledger.abandoned += 1;
    this.settle();
  }

  /** Records that the answer can no longer arrive. A no-op if the request was answered or abandoned. */
  lose(problem: string): void {
    if (this.state !== 'open') return;
    // the ledger counts it as neither answered nor abandoned
    this.state = 'answered';
    this.settle();
    this.fail(`${this.method} ${this.id} ${problem}`);
    this.reject(new Lost(`${this.method} ${this.id} ${problem}`));
  }

  private fail(problem: string): void {
    const { ledger, name } = this.client;
    ledger.fail(name, problem);
  }

  private settle(): void {
    clearTimeout(this.timer);
    this.reached = undefined;
  }
}

/** Thrown in acts when a request is lost. The failure is already in the ledger. */
export class Lost extends Error {}
