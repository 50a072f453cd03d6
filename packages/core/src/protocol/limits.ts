import { type FailureKind, McpError } from './errors.js';
import { isPromise } from './maybe-promise.js';
import type { Principal, Wire } from './wire.js';

/** Limits of a server on what one client sends. */
export interface ServerLimits {
  /** Cap on members and items of a message, over all levels. Defaults to 100,000. */
  readonly maxValues?: number;
  /** Cap on the nesting of arrays and objects in a message. Defaults to 64. */
  readonly maxDepth?: number;
  /** Cap on the messages of a batch. Defaults to 100. */
  readonly maxBatch?: number;
}

/** Values of the server's limits by default. */
export const DEFAULT_LIMITS: Required<ServerLimits> = { maxValues: 100_000, maxDepth: 64, maxBatch: 100 };

/** Smallest and largest value of each limit of a server. An ordinary message has to fit into the smallest. */
export const LIMIT_RANGES: Readonly<Record<keyof ServerLimits, readonly [min: number, max: number]>> = {
  maxValues: [100, 10_000_000],
  maxDepth: [8, 256],
  maxBatch: [1, 10_000],
};

/** A limit that a client has reached, for `onLimit`. */
export interface LimitHit {
  /** The name of the limit's option, such as `maxSessions`. */
  readonly limit: string;
  /** The client's IP address, or the one that a trusted proxy reports; undefined if it is unknown. */
  readonly remoteAddress?: string | undefined;
  /** The caller, if authenticated. */
  readonly principal?: Principal | undefined;
}

/** Rejects a message at a limit. The kernel reports it to `onLimit`. */
export class LimitError extends McpError {
  /** @param limit the name of the limit's option */
  constructor(
    readonly limit: string,
    message: string,
    kind: FailureKind = 'invalid-request',
  ) {
    super(kind, message);
  }

  /** The hit to report, with what the transport knows about the client. */
  hitBy(wire?: Wire): LimitHit {
    return { limit: this.limit, principal: wire?.principal, remoteAddress: wire?.transport.remoteAddress };
  }
}

/** The user's `onLimit`. What it throws is reported, and the request is still answered. */
export function limitReporter(
  onLimit: ((hit: LimitHit) => unknown) | undefined,
  report: (error: unknown) => void,
): (hit: LimitHit) => void {
  return (hit) => {
    try {
      const late = onLimit?.(hit);
      if (isPromise(late)) late.then(undefined, report);
    } catch (error) {
      report(error);
    }
  };
}
