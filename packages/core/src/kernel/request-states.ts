import { requireOptions, within } from '@decorum/schema/internal';

import type { StateSeal, Journal } from '../protocol/eras/replay.js';
import type { StateBinding, RequestStates } from '../protocol/eras/stateless.js';
import { McpError } from '../protocol/errors.js';
import { EXCHANGE } from './context-keys.js';
import type { ErrorReporter } from './error-reporter.js';
import type { Interceptor } from './interceptors.js';
import { canonical, type KeyRing, sha256 } from './key-ring.js';

/**
 * Records used ids, for servers whose requests must not be replayed. All nodes that serve the same clients must share
 * the same records.
 */
export interface SingleUse {
  /**
   * Marks an id as used.
   * @param id the id to mark
   * @param ttlMs milliseconds after which the id may be forgotten
   * @returns whether this was its first use
   * @throws if the records can't be reached. The client is told to try again later, also if they take 3 seconds
   */
  claim(id: string, ttlMs: number): boolean | Promise<boolean>;
}

/**
 * Records used ids in the memory of one process.
 * @example
 * ```ts
 * const singleUse = new MemorySingleUse();
 * new McpServer({ name: 'shop', version: '1.0.0', singleUse });
 * ```
 */
export class MemorySingleUse implements SingleUse {
  private readonly used = new Map<string, number>();
  private readonly maxIds: number;

  /**
   * @param options `maxIds` caps the ids remembered at a time, about 150 bytes each. Defaults to 500,000. Beyond that,
   *   claims are refused until older ids expire, because a forgotten id could be used again
   * @throws {DecorumError} `DECORUM_INVALID_OPTION`
   */
  constructor(options: { readonly maxIds?: number } = {}) {
    requireOptions('MemorySingleUse', options, { maxIds: [1, 10_000_000] });
    this.maxIds = options.maxIds ?? 500_000;
  }

  /** @throws {McpError} `too-many-requests` at the cap */
  claim(id: string, ttlMs: number): boolean {
    const now = Date.now();
    // all entries have the same lifetime, so they are in order of expiry
    for (const [old, expires] of this.used) {
      if (expires > now) break;
      this.used.delete(old);
    }
    if (this.used.has(id)) return false;
    if (this.used.size >= this.maxIds) {
      throw new McpError('too-many-requests', 'Too many questions were answered lately. Try again later.');
    }
    this.used.set(id, now + ttlMs);
    return true;
  }
}

/**
 * The innermost interceptor if states are single-use. A request rejected by `access`, header checks or another
 * interceptor doesn't use up its state, so the client can retry.
 */
export const claimState: Interceptor = async ({ ctx }, next) => {
  const { peer, signal } = ctx[EXCHANGE]();
  await peer.claim?.();
  signal.throwIfAborted();
  return await next();
};

/** Milliseconds within which the records of used ids must answer. */
const CLAIM_MS = 3000;

/** The state is sent in both directions in each round, so it has to stay small. */
const MAX_STATE_BYTES = 64 * 1024;

/** Seals the journal of a request between its rounds: AES-256-GCM, bound to the request, for a limited time. */
export class SealedStates implements RequestStates {
  /**
   * @param keys the key ring; its `ttlMs` limits how long a client may take for one round
   * @param singleUse set if states are single-use
   * @param reporter gives the operator the details that the client's error leaves out
   */
  constructor(
    private readonly keys: KeyRing,
    private readonly singleUse: SingleUse | undefined,
    private readonly reporter: Pick<ErrorReporter, 'warn' | 'report'>,
  ) {}

  bind(binding: StateBinding): StateSeal {
    return {
      seal: (journal) => this.seal(journal, binding),
      digest: (question) => sha256(canonical(question)).toString('base64url', 0, 16),
    };
  }

  open(requestState: unknown, binding: StateBinding): Journal {
    const journal = this.keys.open(requestState, binding);
    if (journal !== undefined) return JSON.parse(journal) as Journal;
    throw new McpError('invalid-state', 'The requestState is invalid for this request, or has expired.');
  }

  async claim(requestState: string): Promise<void> {
    if (await this.isFirst(sha256(requestState).toString('base64url'))) return;
    throw new McpError('invalid-state', 'The requestState has been used before.');
  }

  private async isFirst(id: string): Promise<boolean> {
    const { singleUse, keys, reporter } = this;
    if (singleUse === undefined) return true;
    try {
      return await within(CLAIM_MS, 'singleUse.claim does not answer.', () => singleUse.claim(id, keys.ttlMs));
    } catch (error) {
      if (error instanceof McpError) throw error;
      reporter.report(error, undefined, 'singleUse.claim failed');
      throw new McpError('unavailable', 'The server cannot reach its data. Try again later.');
    }
  }

  private seal(journal: Journal, binding: StateBinding): string {
    const text = JSON.stringify(journal);
    const bytes = Buffer.byteLength(text);
    if (bytes > MAX_STATE_BYTES) {
      this.reporter.warn(
        {},
        `The state of the handler of "${binding.target}" is ${bytes} bytes, more than ${MAX_STATE_BYTES}. ` +
          'Ask for less at once, and return references from ctx.once instead of data.',
      );
      throw new McpError('internal-error', 'The answers are too large to continue this request.');
    }
    return this.keys.seal(text, binding);
  }
}
