import { McpLimitError } from '../../protocol/limits.js';

/** Cap on the callers that are remembered. Those are forgotten first that have stored nothing for the longest time. */
const MAX_CALLERS = 10_000;

/** Bytes of a caller's records, by the time when they expire at the latest. */
type Taken = Map<number, number>;

/** How much of a store each caller may fill. What this process has stored counts, until it expires. */
export class CallerRoom {
  private readonly callers = new Map<string, Taken>();

  /** @param maxBytes for each caller */
  constructor(private readonly maxBytes: number) {}

  /**
   * Counts what a caller is about to store.
   * @throws {McpLimitError} `too-many-requests` if it would be too much
   */
  take(caller: string, bytes: number, ttlMs: number): void {
    const taken = this.liveOf(caller);
    const total = [...taken.values()].reduce((sum, each) => sum + each, bytes);
    if (total > this.maxBytes) throw new McpLimitError('maxStoredBytesPerCaller', FULL, 'too-many-requests');
    const until = roughly(Date.now() + ttlMs, ttlMs);
    taken.set(until, (taken.get(until) ?? 0) + bytes);
    this.remember(caller, taken);
  }

  /** Counts that a caller has less stored, or has stored nothing. */
  giveBack(caller: string, bytes: number): void {
    const taken = this.liveOf(caller);
    let left = bytes;
    for (const until of [...taken.keys()].sort((one, other) => other - one)) {
      const back = Math.min(left, taken.get(until) ?? 0);
      taken.set(until, (taken.get(until) ?? 0) - back);
      left -= back;
    }
  }

  private liveOf(caller: string): Taken {
    const now = Date.now();
    const taken: Taken = this.callers.get(caller) ?? new Map();
    for (const until of taken.keys()) if (until <= now) taken.delete(until);
    return taken;
  }

  private remember(caller: string, taken: Taken): void {
    this.callers.delete(caller);
    this.callers.set(caller, taken);
    const [oldest] = this.callers.keys();
    if (this.callers.size > MAX_CALLERS && oldest !== undefined) this.callers.delete(oldest);
  }
}

/** A time, up to an eighth of the life of a record later: a caller has few of them. */
function roughly(time: number, ttlMs: number): number {
  const step = 2 ** Math.floor(Math.log2(Math.max(ttlMs, 8) / 8));
  return Math.ceil(time / step) * step;
}

const FULL =
  'The server has no room left for you: it keeps too much of your earlier calls. Nothing was done. Try again later, when some of it has expired.';
