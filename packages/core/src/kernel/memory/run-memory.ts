import { randomUUID } from 'node:crypto';

import { ToolError } from '../../protocol/errors.js';
import type { Exchange } from '../../protocol/exchange.js';
import { withFailureCause } from '../../protocol/failure-cause.js';
import { McpLimitError } from '../../protocol/limits.js';
import type { RecordKey, Remembered } from '../../protocol/records.js';
import type { RunScope } from '../../registry/caller.js';
import { memoryPlace, noteRemembering, sessionPayerOf } from './forgetting.js';
import {
  changed,
  MemoryFull,
  type MemoryLimits,
  type MemoryRecord,
  type ValueChange,
  valuesOf,
} from './kept-values.js';

/** Cap on the changes of one run, not counting values that it has set anew. */
const MAX_CHANGES = 256;

/** One change that a run wants to write. */
export interface Write extends ValueChange {
  readonly serial: number;
  /** The part of the request that wrote it. */
  readonly scope: RunScope;
}

/** What some changes have made of a stored value. All as JSON: handlers may change what they get. */
interface Made {
  readonly stored: string | undefined;
  readonly writes: readonly Write[];
  readonly value: string | undefined;
}

/** What a run has read and wants to write. Written in one step, once the run has completed. */
export class RunMemory implements Remembered {
  private writes: Write[] = [];
  private serial = 0;
  /** The serial of the last write before the handler began to run. */
  private floor = 0;
  private isOver = false;
  /** What was read last, by name: a handler that changes a value in a loop must not make all its changes each time. */
  private readonly made = new Map<string, Made>();
  /** How often it has stored, or would have. */
  private commits = 0;
  private readonly key: RecordKey;

  /** @param holder whom the values belong to */
  constructor(
    private readonly exchange: Exchange,
    holder: string,
    private readonly limits: MemoryLimits,
  ) {
    this.key = memoryPlace(holder);
    // created now: it has to be in the state of the first round
    exchange.ownEffects.id(randomUUID);
  }

  /**
   * The value of a name, with what this run has written.
   * @param last the last write to take into account. Only its error is thrown
   */
  async read(name: string, last?: Write): Promise<unknown> {
    const record = await this.exchange.peer.records.read<MemoryRecord>(this.key);
    let { value } = valuesOf(record, Date.now()).get(name) ?? { value: undefined };
    const all = this.alive().filter((write) => write.name === name);
    const end = all.indexOf(last as Write);
    const writes = end === -1 ? all : all.slice(0, end + 1);
    if (writes.length === 0) return value;
    const stored = JSON.stringify(value) as string | undefined;
    const before = this.made.get(name);
    const isOn = before?.stored === stored && before?.writes.every((write, at) => write === writes[at]) === true;
    if (isOn) value = before?.value === undefined ? undefined : JSON.parse(before.value);
    for (const write of writes.slice(isOn ? before?.writes.length : 0))
      value = write === last ? write.apply(value) : applied(write, value);
    this.made.set(name, { stored, writes, value: JSON.stringify(value) as string | undefined });
    return value;
  }

  /**
   * Notes a change.
   * @param isWhole whether the change replaces the value, whatever it was
   * @throws {Error} if the run is over, or has written too often
   */
  write(change: ValueChange & Pick<Write, 'scope'>, isWhole: boolean): Write {
    const { name, scope } = change;
    if (this.isOver) throw new Error(LATE);
    if (isWhole) this.keep((write) => write.name !== name || write.scope !== scope || write.serial <= this.floor);
    if (this.writes.length >= MAX_CHANGES) throw new Error(TOO_MANY);
    const write = { ...change, serial: (this.serial += 1) };
    this.writes.push(write);
    return write;
  }

  /** Takes a change back. */
  retract(write: Write): void {
    this.keep((each) => each !== write);
  }

  enter(): number {
    return (this.floor = this.serial);
  }

  drop(since = this.floor): void {
    this.keep(({ serial }) => serial <= since);
  }

  async store(): Promise<void> {
    await this.commit(true);
  }

  async end(isComplete: boolean): Promise<void> {
    if (!isComplete) this.writes = [];
    this.isOver = true;
    const { isDetached, params } = this.exchange;
    await this.commit(isDetached || typeof params['requestState'] === 'string');
  }

  /** @param mayRepeat whether another run of the same call may come to this point, and must not write again */
  private async commit(mayRepeat: boolean): Promise<void> {
    const writes = this.alive();
    this.writes = [];
    this.commits += 1;
    const { exchange, limits } = this;
    // nobody could read it, and whoever opens many sessions would fill the store
    const isLost = exchange.cancelled === 'session' && exchange.wire.principal === undefined;
    if (writes.length === 0 || isLost) return;
    const run = mayRepeat ? `${exchange.ownEffects.id(randomUUID)} ${this.commits}` : undefined;
    const payer = sessionPayerOf(exchange);
    noteRemembering(exchange.peer, payer);
    try {
      await exchange.peer.records.change<MemoryRecord>(
        this.key,
        (now) => changed(now, writes, { ...limits, run }),
        payer,
      );
    } catch (error) {
      if (error instanceof McpLimitError) throw new McpLimitError(error.limit, NO_ROOM, 'too-many-requests');
      throw error instanceof MemoryFull ? tooMuch(error) : error;
    }
  }

  private alive(): Write[] {
    return this.writes.filter(({ scope }) => scope.hasFailed !== true);
  }

  private keep(isKept: (write: Write) => boolean): void {
    this.writes = this.writes.filter(isKept);
  }
}

/** The error of a change is thrown where it was made. */
function applied(write: Write, value: unknown): unknown {
  try {
    return write.apply(value);
  } catch {
    return value;
  }
}

/** The error for the client. */
function tooMuch(full: MemoryFull): ToolError {
  const text = `The server would have to remember ${full.message} for you. Nothing was changed. Remove something first.`;
  return withFailureCause(new ToolError(text, { cause: full }), 'limit');
}

const NO_ROOM =
  'The server has no room left to remember more for you: it keeps too much of your earlier sessions. It has remembered nothing of this call. Try again later, when some of it has expired.';

const LATE =
  'The call has ended, so `ctx.memory` writes nothing more for it. Wait for everything that writes before the handler returns.';

const TOO_MANY = `A call can change what it remembers ${MAX_CHANGES} times at most. Change several things in one \`update\`.`;
