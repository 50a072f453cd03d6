import { Buffer } from 'node:buffer';
import { timingSafeEqual } from 'node:crypto';

/** Compares a secret with what somebody has sent. The time it takes tells nothing about the secret. */
export function isSameText(sent: string, own: string): boolean {
  const [one, other] = [Buffer.from(sent), Buffer.from(own)];
  return one.length === other.length && timingSafeEqual(one, other);
}
