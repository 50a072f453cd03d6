import { attempt } from '@decorum/schema/internal';

import { type FailureKind, McpError } from './errors.js';
import type { Principal, Wire } from './wire.js';

/** A server's limits for each client. */
export interface ServerLimits {
  /** Cap on the names, values and items in a message, over all levels. Defaults to 100,000. */
  readonly maxValues?: number;
  /** Cap on the nesting of arrays and objects in a message. Defaults to 64. */
  readonly maxDepth?: number;
  /** Cap on the messages of a batch. Defaults to 100. */
  readonly maxBatch?: number;
  /**
   * Cap on the requests in flight of a session or connection. A cancelled request counts until its handler has ended.
   * Defaults to 100.
   */
  readonly maxOpenCalls?: number;
  /** Cap on the unanswered questions of a session. Defaults to 100. */
  readonly maxQuestions?: number;
  /** Cap on the resources that a session or a listen request is subscribed to. Defaults to 1000. */
  readonly maxSubscriptions?: number;
  /**
   * Cap on the bytes in the `store` of the outcomes and plans that this process has recorded for one user or address, and
   * of what it remembers for the anonymous sessions of an address. Defaults to 16 MiB.
   */
  readonly maxStoredBytesPerCaller?: number;
}

/** Default values of the server's limits. */
export const DEFAULT_LIMITS: Required<ServerLimits> = {
  maxValues: 100_000,
  maxDepth: 64,
  maxBatch: 100,
  maxOpenCalls: 100,
  maxQuestions: 100,
  maxSubscriptions: 1000,
  maxStoredBytesPerCaller: 16_777_216,
};

/** Smallest and largest value of each server limit. An ordinary message must fit within the smallest values. */
export const LIMIT_RANGES: Readonly<Record<keyof ServerLimits, readonly [min: number, max: number]>> = {
  maxValues: [100, 10_000_000],
  maxDepth: [8, 256],
  maxBatch: [1, 10_000],
  maxOpenCalls: [1, 1_000_000],
  maxQuestions: [1, 1_000_000],
  maxSubscriptions: [1, 100_000],
  maxStoredBytesPerCaller: [10_000, Number.MAX_SAFE_INTEGER],
};

/** Cap on the characters of a URI, of a client's description, and of the `_meta` of a request that asks the client. */
export const MAX_KEPT_CHARS = 8192;

/** Cap on the characters of a tag. */
export const MAX_TAG_CHARS = 64;

/** Cap on the tags that a session shows and hides. */
export const MAX_SESSION_TAGS = 100;

/** Whether a value can be a tag of members. */
export const isTag = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= MAX_TAG_CHARS;

/** A limit that a client has reached, for `onLimit`. */
export interface ReachedLimit {
  /** The name of the limit's option, such as `maxSessions`. */
  readonly limit: string;
  /** The client's IP address, or the one that a trusted proxy reports; undefined if it is unknown. */
  readonly remoteAddress?: string | undefined;
  /** The caller, if authenticated. */
  readonly principal?: Principal | undefined;
}

/** Rejects a message that exceeds a limit. The kernel reports it to `onLimit`. */
export class McpLimitError extends McpError {
  /** @param limit the name of the limit's option */
  constructor(
    readonly limit: string,
    message: string,
    kind: FailureKind = 'invalid-request',
  ) {
    super(kind, message);
  }

  /** The hit to report, with what the transport knows about the client. */
  hitBy(wire?: Wire): ReachedLimit {
    return { limit: this.limit, principal: wire?.principal, remoteAddress: wire?.transport.remoteAddress };
  }
}

/** Cap on the characters of a client's subscriptions. They are kept as long as its session or listen request. */
const MAX_SUBSCRIBED_CHARS = 65_536;

/**
 * Rejects too many subscriptions.
 * @throws {McpLimitError} `invalid-params`
 */
export function requireFew(uris: readonly string[], max: number): void {
  let left = MAX_SUBSCRIBED_CHARS;
  for (const uri of uris) left -= uri.length;
  if (uris.length <= max && left >= 0) return;
  const problem = `Subscribe to at most ${max} resources, whose URIs have at most ${MAX_SUBSCRIBED_CHARS} characters.`;
  throw new McpLimitError('maxSubscriptions', problem, 'invalid-params');
}

/** Wraps the user's `onLimit`: if it fails, the error is reported, and the request is still answered. */
export function limitReporter(
  onLimit: ((hit: ReachedLimit) => unknown) | undefined,
  report: (error: unknown) => void,
): (hit: ReachedLimit) => void {
  return (hit) => void attempt(() => onLimit?.(hit), report);
}
