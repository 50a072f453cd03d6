import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const KEY_ID_BYTES = 4;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = KEY_ID_BYTES + IV_BYTES + TAG_BYTES;

/** The SHA-256 digest of a string or bytes. */
export const sha256 = (data: string | Uint8Array): Buffer => createHash('sha256').update(data).digest();

/** Represents -0, which JSON writes as 0. No message contains this value, because the kernel rejects `__proto__`. */
const NEGATIVE_ZERO: unknown = JSON.parse('{"__proto__":0}');

/** JSON with sorted object members: equal values get equal strings, and different values get different strings. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) => {
    if (Object.is(item, -0)) return NEGATIVE_ZERO;
    return typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item;
  });
}

const bindingBytes = (binding: unknown) => sha256(canonical(binding));

/** Seals text that clients and pages hold for the server, for a limited time: AES-256-GCM, encoded as base64url. */
export class KeyRing {
  private readonly keys: ReadonlyMap<string, Uint8Array>;
  private readonly sealingKey: readonly [id: string, key: Uint8Array];

  /**
   * @param keys 32 bytes each. The first key seals and every key opens, so you can rotate keys and still open old text
   * @param ttlMs milliseconds after which sealed text expires
   * @param onSeal called each time text is sealed
   */
  constructor(
    keys: readonly Uint8Array[],
    readonly ttlMs: number,
    private readonly onSeal: () => void,
  ) {
    const identified = keys.map((key) => [sha256(key).toString('hex', 0, KEY_ID_BYTES), key] as const);
    this.keys = new Map(identified);
    this.sealingKey = identified[0] as (typeof identified)[number];
  }

  /** @param binding the context of the text: opening requires an equal value */
  seal(text: string, binding: unknown): string {
    this.onSeal();
    const [id, key] = this.sealingKey;
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, key, iv).setAAD(bindingBytes(binding));
    const data = Buffer.concat([cipher.update(`${Date.now() + this.ttlMs} ${text}`, 'utf8'), cipher.final()]);
    return Buffer.concat([Buffer.from(id, 'hex'), iv, cipher.getAuthTag(), data]).toString('base64url');
  }

  /**
   * Opens sealed text. Undefined if it was altered, has expired, has another binding, or was sealed with an unknown
   * key.
   */
  open(sealed: unknown, binding: unknown): string | undefined {
    try {
      // an array with one string would decode like the string, and bypass single use
      if (typeof sealed !== 'string') return undefined;
      const text = this.decipher(sealed, binding);
      const space = text.indexOf(' ');
      return Date.now() <= Number(text.slice(0, space)) ? text.slice(space + 1) : undefined;
    } catch {
      // don't say what was wrong: only an attacker would benefit
      return undefined;
    }
  }

  /** @throws {Error} for text that was altered, has another binding, or was sealed with an unknown key */
  private decipher(sealed: string, binding: unknown): string {
    const bytes = Buffer.from(sealed, 'base64url');
    // decoding skips invalid characters; without this check, altered text would be accepted
    if (bytes.toString('base64url') !== sealed || bytes.length <= HEAD_BYTES) throw new Error('malformed');
    const key = this.keys.get(bytes.toString('hex', 0, KEY_ID_BYTES));
    if (key === undefined) throw new Error('unknown key');
    const iv = bytes.subarray(KEY_ID_BYTES, KEY_ID_BYTES + IV_BYTES);
    const decipher = createDecipheriv(CIPHER, key, iv).setAAD(bindingBytes(binding));
    decipher.setAuthTag(bytes.subarray(HEAD_BYTES - TAG_BYTES, HEAD_BYTES));
    return Buffer.concat([decipher.update(bytes.subarray(HEAD_BYTES)), decipher.final()]).toString('utf8');
  }
}
