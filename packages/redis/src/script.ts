import { createHash } from 'node:crypto';

/** A Lua script, which Redis runs as one step. */
export class Script {
  /** What Redis calls it. */
  readonly digest: string;

  constructor(readonly text: string) {
    this.digest = createHash('sha1').update(text).digest('hex');
  }
}
