import type { SingleUse } from '@decorum/core';

import type { Link } from './link.js';

/** Records used ids: one key for each. */
export class RedisSingleUse implements SingleUse {
  constructor(private readonly link: Link) {}

  async claim(id: string, ttlMs: number): Promise<boolean> {
    return (await this.link.run((client) => client.set(this.link.key('u', id), 1, 'PX', ttlMs, 'NX'))) === 'OK';
  }
}
