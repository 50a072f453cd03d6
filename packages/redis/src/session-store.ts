import type { KeptSession, SessionStore } from '@decorum/http';

import type { Link } from './link.js';
import { Script } from './script.js';

/** Stores a record if the stored one has the expected version, which is the text before the first colon. */
const COMPARE_AND_SET = new Script(`
local stored = redis.call('GET', KEYS[1])
if not stored or string.match(stored, '^[^:]*') ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1`);

/** Stores records of sessions: one key for each. */
export class RedisSessionStore implements SessionStore {
  constructor(private readonly link: Link) {}

  async get(id: string): Promise<KeptSession | undefined> {
    const stored = await this.link.run((client) => client.get(this.keyOf(id)));
    if (stored === null) return undefined;
    const colon = stored.indexOf(':');
    const json = this.link.unseal(stored.slice(colon + 1), bindingOf(id));
    if (json === undefined) return undefined;
    const record = JSON.parse(json) as KeptSession;
    return colon === 0 ? record : { ...record, version: Number(stored.slice(0, colon)) };
  }

  async set(record: KeptSession, ttlMs: number, expected?: number): Promise<boolean> {
    const { version, ...rest } = record;
    const { id } = record;
    const value = `${version ?? ''}:${this.link.seal(JSON.stringify(rest), bindingOf(id))}`;
    if (expected !== undefined) {
      return (await this.link.script(COMPARE_AND_SET, [this.keyOf(id)], [String(expected), value, ttlMs])) === 1;
    }
    await this.link.run((client) => client.set(this.keyOf(id), value, 'PX', ttlMs));
    return true;
  }

  async touch(id: string, ttlMs: number): Promise<void> {
    await this.link.run((client) => client.pexpire(this.keyOf(id), ttlMs));
  }

  async delete(id: string): Promise<void> {
    await this.link.run((client) => client.del(this.keyOf(id)));
  }

  private keyOf(id: string): string {
    return this.link.secretKey('s', id);
  }
}

const bindingOf = (id: string): string => `session ${id}`;
