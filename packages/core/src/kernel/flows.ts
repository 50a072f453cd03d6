import type { FlowSeal, Journal } from '../protocol/eras/replay.js';
import type { FlowBinding, Flows } from '../protocol/eras/stateless.js';
import { McpError } from '../protocol/errors.js';
import type { Interceptor } from './interceptors.js';
import { canonical, type KeyRing, sha256 } from './key-ring.js';

/** Remembers what was used, for servers whose flows must not be repeated. One for all nodes that share clients. */
export interface SingleUse {
  /**
   * Takes note that something is used now.
   * @param id what is used
   * @param ttlMs milliseconds after which it may be forgotten
   * @returns whether this was the first time
   */
  claim(id: string, ttlMs: number): boolean | Promise<boolean>;
}

/** Remembers within one process. */
export class MemorySingleUse implements SingleUse {
  private readonly used = new Map<string, number>();

  claim(id: string, ttlMs: number): boolean {
    const now = Date.now();
    // entries stand in the order in which they expire, as long as they have one lifetime
    for (const [old, expires] of this.used) {
      if (expires > now) break;
      this.used.delete(old);
    }
    if (this.used.has(id)) return false;
    this.used.set(id, now + ttlMs);
    return true;
  }
}

/**
 * Stands right before what runs, where each state is for one use: who is refused by access, headers or another
 * interceptor can try again.
 */
export const useUp: Interceptor = async ({ ctx }, next) => {
  await ctx.claim();
  return await next();
};

/** A state travels twice in each round, and some servers cut long messages. */
const MAX_STATE_BYTES = 64 * 1024;

/** Seals what a request knows between its rounds: AES-256-GCM, bound to the request it belongs to, for a limited time. */
export class SealedFlows implements Flows {
  /**
   * @param keys they open for as long as the client has for one round
   * @param singleUse where each state is for one use only
   * @param warn tells the author of the server what the client is told in general terms only
   */
  constructor(
    private readonly keys: KeyRing,
    private readonly singleUse: SingleUse | undefined,
    private readonly warn: (message: string) => void,
  ) {}

  bind(binding: FlowBinding): FlowSeal {
    return {
      seal: (journal) => this.seal(journal, binding),
      digest: (question) => sha256(canonical(question)).toString('base64url', 0, 16),
    };
  }

  open(requestState: unknown, binding: FlowBinding): Journal {
    const journal = this.keys.open(requestState, binding);
    if (journal !== undefined) return JSON.parse(journal) as Journal;
    throw new McpError('invalid-state', 'The requestState is not valid for this request, or has expired.');
  }

  async claim(requestState: string): Promise<void> {
    const { singleUse, keys } = this;
    const id = sha256(requestState).toString('base64url');
    if (singleUse === undefined || (await singleUse.claim(id, keys.ttlMs))) return;
    throw new McpError('invalid-state', 'The requestState was used before.');
  }

  private seal(journal: Journal, binding: FlowBinding): string {
    const text = JSON.stringify(journal);
    const bytes = Buffer.byteLength(text);
    if (bytes > MAX_STATE_BYTES) {
      this.warn(
        `What a handler of "${binding.target}" has to remember takes ${bytes} bytes, more than ${MAX_STATE_BYTES}. ` +
          'Ask for less at once, and return references from ctx.once instead of data.',
      );
      throw new McpError('internal-error', 'The answers are too large to carry on with this request.');
    }
    return this.keys.seal(text, binding);
  }
}
