import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

import type { FlowSeal, Journal } from '../protocol/eras/replay.js';
import type { FlowBinding, Flows } from '../protocol/eras/stateless.js';
import { McpError } from '../protocol/errors.js';

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

/** What flows are sealed with. */
export interface FlowOptions {
  /** 32 bytes each. The first seals; all open, so that a key can be replaced while flows are under way. */
  readonly keys: readonly Uint8Array[];
  /** Milliseconds that the client has for one round. */
  readonly ttlMs: number;
  /** Where each state is for one use only. */
  readonly singleUse: SingleUse | undefined;
  /** Called when the first state is sealed. */
  readonly onFirstUse: () => void;
}

const CIPHER = 'aes-256-gcm';
const KEY_ID_BYTES = 4;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = KEY_ID_BYTES + IV_BYTES + TAG_BYTES;

/** A state travels twice in each round, and some servers cut long messages. */
const MAX_STATE_BYTES = 64 * 1024;

const sha256 = (data: string | Uint8Array) => createHash('sha256').update(data).digest();

/** The JSON of a value with the members of objects in order, so that equal values have equal texts. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  );
}

const bindingBytes = ({ principal, method, target, args }: FlowBinding) =>
  sha256(canonical([principal, method, target, args]));

/** Seals what a request knows between its rounds: AES-256-GCM, bound to the request it belongs to, for a limited time. */
export class SealedFlows implements Flows {
  private readonly keys: ReadonlyMap<string, Uint8Array>;
  private readonly sealingKey: readonly [id: string, key: Uint8Array];
  private used = false;
  readonly claim: Flows['claim'];

  constructor(private readonly options: FlowOptions) {
    const { singleUse } = options;
    this.claim = singleUse && ((requestState) => this.use(requestState, singleUse));
    const identified = options.keys.map((key) => [sha256(key).toString('hex', 0, KEY_ID_BYTES), key] as const);
    this.keys = new Map(identified);
    this.sealingKey = identified[0] as (typeof identified)[number];
  }

  bind(binding: FlowBinding): FlowSeal {
    return {
      seal: (journal) => this.seal(journal, binding),
      digest: (question) => sha256(canonical(question)).toString('base64url', 0, 16),
    };
  }

  open(requestState: unknown, binding: FlowBinding): Journal {
    try {
      const { expires, journal } = this.decrypt(String(requestState), binding);
      if (Date.now() <= expires) return journal;
    } catch {
      // what exactly was wrong with it is of use to nobody but an attacker
    }
    throw new McpError('invalid-params', 'The requestState is not valid for this request, or has expired.');
  }

  private async use(requestState: string, singleUse: SingleUse): Promise<void> {
    if (await singleUse.claim(sha256(requestState).toString('base64url'), this.options.ttlMs)) return;
    throw new McpError('invalid-params', 'The requestState was used before.');
  }

  private seal(journal: Journal, binding: FlowBinding): string {
    if (!this.used) {
      this.used = true;
      this.options.onFirstUse();
    }
    const [id, key] = this.sealingKey;
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, key, iv).setAAD(bindingBytes(binding));
    const text = JSON.stringify({ expires: Date.now() + this.options.ttlMs, journal });
    const data = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    if (data.length > MAX_STATE_BYTES) {
      throw new Error(
        `What this flow has to remember takes ${data.length} bytes, more than ${MAX_STATE_BYTES}. ` +
          'Ask for less at once, and return references from ctx.once instead of data.',
      );
    }
    return Buffer.concat([Buffer.from(id, 'hex'), iv, cipher.getAuthTag(), data]).toString('base64url');
  }

  private decrypt(state: string, binding: FlowBinding): { readonly expires: number; readonly journal: Journal } {
    const bytes = Buffer.from(state, 'base64url');
    // a decoder that skips what it does not know would accept a changed state
    if (bytes.toString('base64url') !== state || bytes.length <= HEAD_BYTES) throw new Error('malformed');
    const key = this.keys.get(bytes.toString('hex', 0, KEY_ID_BYTES));
    if (key === undefined) throw new Error('unknown key');
    const iv = bytes.subarray(KEY_ID_BYTES, KEY_ID_BYTES + IV_BYTES);
    const decipher = createDecipheriv(CIPHER, key, iv).setAAD(bindingBytes(binding));
    decipher.setAuthTag(bytes.subarray(HEAD_BYTES - TAG_BYTES, HEAD_BYTES));
    const text = Buffer.concat([decipher.update(bytes.subarray(HEAD_BYTES)), decipher.final()]).toString('utf8');
    return JSON.parse(text) as { readonly expires: number; readonly journal: Journal };
  }
}
