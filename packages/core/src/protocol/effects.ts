import { InputSignal } from './input.js';

/** The key and result of an effect. The result is omitted if it is `undefined`. */
export type Effect = readonly [key: string, result?: unknown];

/** What is told of the effects of a handler. If a function throws, so does `ctx.once`. */
export interface EffectLog {
  /** Called before an effect runs. */
  begin?(key: string): void | Promise<void>;
  /** Called with the result of an effect, before the handler gets it. */
  record?(effect: Effect): void | Promise<void>;
}

/** What a request has begun. */
interface Begun {
  readonly id: string;
  readonly effects: readonly Effect[];
}

/** A request that goes on with what another one has begun. */
interface Continuing {
  /** The id of the request itself. */
  readonly own: string;
  /** Its idempotency key. */
  readonly key: string | undefined;
}

/** Prefix for the framework's own effect keys, which handlers never use. */
export const PRIVATE_EFFECT = '\0';

const ID = `${PRIVATE_EFFECT}id`;
const OWN = `${PRIVATE_EFFECT}own`;
const KEY = `${PRIVATE_EFFECT}key`;

/** The key under which recordings of calls have their plan. */
const PLAN = 'dev.decorum/plan';

/** A plan that a call carries out. */
interface CarriedPlan {
  readonly ticket: string;
  readonly plan: unknown;
}

/** Runs each effect of a request once per key, no matter how often the handler asks for it or is replayed. */
export class Effects {
  private readonly done: Map<string, unknown>;
  private readonly pending = new Map<string, Promise<unknown>>();
  private sealed = false;
  /** Whether this run has started an effect that no earlier run completed. */
  begun = false;
  /** The plan that the run carries out. It isn't carried from round to round: it may be large, and its record has it. */
  plan: CarriedPlan | undefined;
  private readonly logs = new Set<EffectLog>();

  /** @param done results of earlier runs */
  constructor(done: Iterable<Effect> = []) {
    this.done = new Map(done as Iterable<readonly [string, unknown]>);
  }

  /**
   * An id for the request that all its runs share.
   * @param create creates the id in the first run
   */
  id(create: () => string): string {
    if (!this.done.has(ID)) this.done.set(ID, create());
    return this.done.get(ID) as string;
  }

  /** The id of the request itself, even if it goes on with what another one has begun. */
  ownId(create: () => string): string {
    return (this.done.get(OWN) as string | undefined) ?? this.id(create);
  }

  /** Whether this run, or an earlier one of the same request, goes on with what was begun under another id. */
  get isContinuing(): boolean {
    return this.done.has(OWN);
  }

  /** The idempotency key that the request had when it went on; undefined if it had none. */
  get idempotencyKey(): string | undefined {
    return this.done.get(KEY) as string | undefined;
  }

  /** Goes on with what another request has begun: under its id, and with the results of its effects. */
  continue({ id, effects }: Begun, { own, key }: Continuing): void {
    this.done.set(OWN, own);
    this.done.set(ID, id);
    if (key !== undefined) this.done.set(KEY, key);
    for (const [name, result] of effects) this.done.set(name, result);
  }

  /** Keeps something for the next runs of the request, in place of what was kept under the key before. */
  note(key: string, value: unknown): void {
    this.done.set(`${PRIVATE_EFFECT}${key}`, value);
  }

  /** What was kept last for the runs of the request. */
  noted(key: string): unknown {
    return this.done.get(`${PRIVATE_EFFECT}${key}`);
  }

  /**
   * Tells a log of effects.
   * @returns a function that ends this
   */
  listen(log: EffectLog): () => void {
    this.logs.add(log);
    return () => void this.logs.delete(log);
  }

  /** Resolves once no effect is running; undefined if none is. Never rejects. */
  idle(): Promise<void> | undefined {
    return this.pending.size === 0 ? undefined : this.untilIdle();
  }

  private async untilIdle(): Promise<void> {
    while (this.pending.size > 0) await Promise.allSettled(this.pending.values());
  }

  /**
   * Runs an effect, unless it has run or is running. A failed effect is not recorded.
   * @returns a promise that rejects with {InputSignal} if the round is over
   */
  once<T>(key: string, effect: () => T | Promise<T>): Promise<T> {
    if (this.done.has(key)) return Promise.resolve(this.done.get(key) as T);
    const running = this.pending.get(key) ?? this.run(key, effect).finally(() => this.pending.delete(key));
    this.pending.set(key, running);
    return running as Promise<T>;
  }

  /**
   * Waits for the running effects and those that they start, so that all results are recorded. Blocks new effects
   * afterwards. Never rejects.
   */
  async settle(): Promise<void> {
    await this.untilIdle();
    this.sealed = true;
  }

  /** Adds results of another request that this one repeats. Its own results take precedence. */
  adopt(done: Iterable<Effect> | undefined): this {
    for (const [key, result] of done ?? []) {
      if (key === PLAN) this.plan ??= result as CarriedPlan;
      else if (!this.done.has(key)) this.done.set(key, result);
    }
    return this;
  }

  /** The recorded results and the plan, without the framework's own effects. */
  own(): readonly Effect[] {
    const results = this.entries().filter(([key]) => !key.startsWith(PRIVATE_EFFECT));
    return this.plan === undefined ? results : [...results, [PLAN, this.plan]];
  }

  /** The recorded results. JSON has no `undefined`, so such results are omitted. */
  entries(): readonly Effect[] {
    return [...this.done].map(([key, result]) => (result === undefined ? [key] : [key, result]));
  }

  private async run(key: string, effect: () => unknown): Promise<unknown> {
    // too late to record a result: the next round would run the effect again
    if (this.sealed) throw new InputSignal();
    this.begun = true;
    for (const log of this.logs) if (log.begin) await log.begin(key);
    const result = await effect();
    for (const log of this.logs) if (log.record) await log.record(result === undefined ? [key] : [key, result]);
    this.done.set(key, result);
    return result;
  }
}
