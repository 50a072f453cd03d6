import type { UpstreamClock } from './clock.js';
import type { UpstreamCall } from './upstream-call.js';

interface Held {
  readonly call: UpstreamCall;
  readonly owner: string | undefined;
  readonly forget: () => void;
}

/** Calls that wait for the next round of a client without a session. Their ids are known only to that client's state. */
export class HeldCalls {
  private readonly calls = new Map<string, Held>();

  constructor(
    private readonly clock: UpstreamClock,
    /** How many calls are held at a time, and each for how many milliseconds. */
    private readonly limits: { readonly maxHeld: number; readonly holdMs: number },
  ) {}

  /** Whether no further call can be held. */
  get isFull(): boolean {
    return this.calls.size >= this.limits.maxHeld;
  }

  /** How many calls are held. */
  get size(): number {
    return this.calls.size;
  }

  /** Holds a call until the next round. If none comes in time, cancels it. */
  keep(id: string, owner: string | undefined, call: UpstreamCall): void {
    const expire = () => {
      this.calls.delete(id);
      call.cancel(new Error('The client has not answered in time.'));
    };
    const forget = this.clock.after(this.limits.holdMs, expire);
    this.calls.set(id, { call, owner, forget });
  }

  /** Continues a call; undefined if it is not here, or somebody else's, or continued already. */
  take(id: string, owner: string | undefined): UpstreamCall | undefined {
    const held = this.calls.get(id);
    if (held === undefined || held.owner !== owner) return undefined;
    this.calls.delete(id);
    held.forget();
    return held.call;
  }

  /** Cancels all calls. */
  close(): void {
    for (const { call, forget } of this.calls.values()) {
      forget();
      call.cancel(new Error('The server is closing.'));
    }
    this.calls.clear();
  }
}
