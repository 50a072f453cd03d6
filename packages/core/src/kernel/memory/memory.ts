import { isObject, isPromise, type Jsonified, jsonRoundTrip } from '@decorum/schema/internal';

import { ToolError } from '../../protocol/errors.js';
import type { Exchange } from '../../protocol/exchange.js';
import { withFailureCause } from '../../protocol/failure-cause.js';
import { holderOf } from '../../protocol/owner.js';
import type { RunScope } from '../../registry/caller.js';
import { millisecondsOf } from '../../registry/durations.js';
import type { MemoryLimits } from './kept-values.js';
import { RunMemory } from './run-memory.js';

/** Options of `ctx.memory`. */
export interface RememberOptions {
  /**
   * How long a value is kept after it was last written: `'90d'`, with ms, s, m, h or d, or milliseconds. At most 365
   * days, and by default 30. What belongs to a session is kept for a day at most.
   */
  readonly ttl?: string | number | undefined;
}

/**
 * A value that a handler remembers for its caller across calls. Values make a JSON round trip. What a call has written is
 * stored when the call completes. A call that fails or asks the client writes nothing.
 */
export interface Memory<T> {
  /**
   * Returns a copy of the value, with what this call has written; undefined if there is none.
   * @throws {McpError} `unavailable` if the store can't be reached
   */
  get(): Promise<Jsonified<T> | undefined>;
  /**
   * Replaces the value. If several calls do so at the same time, the last one to complete wins.
   * @throws {TypeError} for undefined
   * @throws {Error} for a value that JSON can't represent, and after the call has ended
   */
  set(value: T): Promise<void>;
  /**
   * Deletes the value.
   * @throws {Error} after the call has ended
   */
  delete(): Promise<void>;
  /**
   * Changes the value. No change of another call is lost.
   * @param change returns the new value. It is called again when the call completes, with the value of that moment. So
   *   it must be quick, synchronous and free of other effects
   * @returns the new value, as this call sees it
   * @throws whatever `change` throws, and what `get` and `set` throw
   * @example
   * ```ts
   * await ctx.memory<string[]>('cart').update((now = []) => [...now, 'tea']);
   * ```
   */
  update(change: (now: Jsonified<T> | undefined) => T): Promise<Jsonified<T>>;
}

/** A part of a request that remembers something. */
interface Part {
  readonly exchange: Exchange;
  readonly scope: RunScope;
}

const DAY_MS = 86_400_000;

const MAX_DAYS = 365;

const DEFAULT_DAYS = 30;

/** A session that ends leaves its values behind. */
const SESSION_DAYS = 1;

const USER_LIMITS: MemoryLimits = { maxBytes: 262_144, maxNames: 100 };

/** Whoever connects gets a session, so sessions have less. */
const SESSION_LIMITS: MemoryLimits = { maxBytes: 32_768, maxNames: 100 };

/** Cap on the characters of a name. */
const MAX_NAME = 64;

/** Whether a request runs a member. What lists write would never be stored. */
function runsMember({ revision, method }: Exchange): boolean {
  const { asks, names } = revision.methods.get(method) ?? {};
  return asks === true || names === 'target';
}

/**
 * A value that is remembered for a caller.
 * @throws {ToolError} for callers that nothing tells apart
 * @throws {TypeError} for an invalid name or option
 */
export function memoryOf<T>(part: Part, name: string, options: RememberOptions): Memory<T> {
  const { exchange } = part;
  if (typeof (name as unknown) !== 'string' || name === '' || name.length > MAX_NAME) {
    throw new TypeError(`\`ctx.memory\` takes a name of 1 to ${MAX_NAME} characters, as in \`ctx.memory('cart')\`.`);
  }
  const { peer, wire } = exchange;
  const { principal, transport } = wire;
  const holder = holderOf({ principal, sessionId: peer.sessionId, transport });
  if (holder === undefined) throw withFailureCause(new ToolError(NOBODY), 'denied');
  const isSession = principal === undefined && peer.sessionId !== undefined;
  const run = exchange.remember(() => new RunMemory(exchange, holder, isSession ? SESSION_LIMITS : USER_LIMITS));
  return new Value<T>(part, run, { name, ttlMs: ttlOf(options, isSession ? SESSION_DAYS : MAX_DAYS) });
}

function ttlOf(options: RememberOptions, maxDays: number): number {
  const isKnown = isObject(options) && Object.keys(options).every((option) => option === 'ttl');
  const { ttl = DEFAULT_DAYS * DAY_MS } = isKnown ? options : { ttl: null };
  const ttlMs = millisecondsOf(ttl, MAX_DAYS);
  if (ttlMs !== undefined) return Math.min(ttlMs, maxDays * DAY_MS);
  const usage = "Write `ctx.memory('cart', { ttl: '90d' })`, with ms, s, m, h or d, or a number of milliseconds";
  throw new TypeError(`The option of \`ctx.memory\` is how long a value is kept, up to ${MAX_DAYS} days. ${usage}.`);
}

class Value<T> implements Memory<T> {
  constructor(
    private readonly part: Part,
    private readonly run: RunMemory,
    private readonly facts: { readonly name: string; readonly ttlMs: number },
  ) {}

  get(): Promise<Jsonified<T> | undefined> {
    return quiet(this.run.read(this.facts.name)) as Promise<Jsonified<T> | undefined>;
  }

  set(value: T): Promise<void> {
    const text = this.textOf(value);
    this.write(() => JSON.parse(text) as unknown, true);
    return Promise.resolve();
  }

  delete(): Promise<void> {
    this.write(() => undefined, true);
    return Promise.resolve();
  }

  update(change: (now: Jsonified<T> | undefined) => T): Promise<Jsonified<T>> {
    const { run } = this;
    const apply = (now: unknown): unknown => JSON.parse(this.textOf(change(now as Jsonified<T> | undefined)));
    const write = this.write(apply, false);
    const read = async () => {
      try {
        return (await run.read(this.facts.name, write)) as Jsonified<T>;
      } catch (error) {
        run.retract(write);
        throw error;
      }
    };
    return quiet(read());
  }

  private write(apply: (now: unknown) => unknown, isWhole: boolean): ReturnType<RunMemory['write']> {
    const { exchange, scope } = this.part;
    if (!runsMember(exchange)) throw new TypeError(`\`ctx.memory\` only reads in "${exchange.method}".`);
    const signal = scope.signal ?? exchange.signal;
    // nothing waits for what writes now
    if (signal.aborted) throw signal.reason;
    if (exchange.over || scope.hasFailed) throw new Error(FAILED);
    return this.run.write({ ...this.facts, apply, scope }, isWhole);
  }

  /** The JSON of a value. */
  private textOf(value: T): string {
    const what = `The value of ctx.memory('${this.facts.name}')`;
    if (value === undefined) throw new TypeError(`${what} is undefined. Use \`delete\` to forget a value.`);
    if (isPromise(value)) throw new TypeError(`${what} is a promise. \`update\` takes a synchronous function.`);
    return JSON.stringify(jsonRoundTrip(value, what));
  }
}

/** A promise whose rejection doesn't end the process if the handler stops waiting for it. */
function quiet<R>(promise: Promise<R>): Promise<R> {
  promise.catch(() => {});
  return promise;
}

const NOBODY =
  'The server remembers things for users and for sessions, and this call has neither. Sign in, or connect with a session.';

const FAILED = 'The run of the handler is over, so `ctx.memory` writes nothing more for it.';
