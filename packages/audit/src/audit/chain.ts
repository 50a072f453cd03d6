import { type AuditKey, keyedDigest } from './keys.js';

/** The MAC before the first line of a chain. */
export const NO_MAC = '';

/** Between the other fields of a line and its MAC. */
export const BEFORE_MAC = ',"mac":"';

const AFTER_MAC = '"}';

/** Signs lines: the MAC of each covers the line before. */
export class Chain {
  /** @param last the MAC of the line before the first one */
  constructor(
    private readonly key: AuditKey,
    private last: string = NO_MAC,
  ) {}

  /** Completes a line. */
  sign(line: string): string {
    this.last = keyedDigest(this.key.chain, this.last, line);
    return `${line}${BEFORE_MAC}${this.last}${AFTER_MAC}`;
  }
}
