import type { KeyValueStore } from '@decorum/core';

import type { Link } from './link.js';
import { Script } from './script.js';

/** Stores a value if the key has the expected one; without a third argument, if it has none. */
const COMPARE_AND_SET = new Script(`
local stored = redis.call('GET', KEYS[1])
if stored ~= (ARGV[3] or false) then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`);

const COMPARE_AND_DELETE = new Script(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1])
return 1`);

/** Keeps values, which are sealed already: one key for each. */
export class RedisKeyValueStore implements KeyValueStore {
  readonly isDurable = true;

  constructor(private readonly link: Link) {}

  async get(key: string): Promise<string | undefined> {
    return (await this.link.run((client) => client.get(this.keyOf(key)))) ?? undefined;
  }

  async set(
    key: string,
    value: string,
    { ttlMs, expected }: { readonly ttlMs: number; readonly expected: string | undefined },
  ): Promise<boolean> {
    const args = [value, ttlMs, ...(expected === undefined ? [] : [expected])];
    return (await this.link.script(COMPARE_AND_SET, [this.keyOf(key)], args)) === 1;
  }

  async delete(key: string, expected: string): Promise<boolean> {
    return (await this.link.script(COMPARE_AND_DELETE, [this.keyOf(key)], [expected])) === 1;
  }

  private keyOf(key: string): string {
    return this.link.secretKey('v', key);
  }
}
