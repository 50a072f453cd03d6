import type { Link } from './link.js';
import { Script } from './script.js';

/** Takes a free lease. Its token is higher than any before: the counter begins with the time, in case it was lost. */
const ACQUIRE = new Script(`
if redis.call('EXISTS', KEYS[1]) == 1 then return nil end
local now = redis.call('TIME')
redis.call('SET', KEYS[2], now[1] * 1000 + math.floor(now[2] / 1000), 'NX', 'PX', ARGV[1] * 2)
local token = redis.call('INCR', KEYS[2])
redis.call('PEXPIRE', KEYS[2], ARGV[1] * 2)
redis.call('SET', KEYS[1], token, 'PX', ARGV[1])
return token`);

const RENEW = new Script(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
redis.call('PEXPIRE', KEYS[2], ARGV[2] * 2)
return 1`);

const RELEASE = new Script(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`);

const WRITE = new Script(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
return 1`);

/** A lease that was acquired. It is held until it is released or expires. */
export interface Lease {
  /** Higher than the token of each earlier holder. Give it to what you write to, which can refuse lower ones. */
  readonly token: number;
  /** Extends the lease by its full time. Returns false if it isn't held any more. */
  renew(): Promise<boolean>;
  /** Gives the lease back. Returns false if it isn't held any more. */
  release(): Promise<boolean>;
  /**
   * Writes a text that belongs to the lease. Checking and writing are one step.
   * @param ttlMs milliseconds until the text expires
   * @returns false, and writes nothing, if the lease isn't held any more
   */
  write(key: string, text: string, ttlMs: number): Promise<boolean>;
}

/** Leases: at most one process holds the lease of a name at a time. */
export interface Leases {
  /**
   * Acquires a lease.
   * @param name what only one process may do at a time
   * @param ttlMs milliseconds after which the lease expires, unless it is renewed
   * @returns undefined if another process holds it
   */
  acquire(name: string, ttlMs: number): Promise<Lease | undefined>;
  /** Reads what a holder of a lease has written. Undefined if there is nothing. */
  read(name: string, key: string): Promise<string | undefined>;
}

/** Leases in Redis. All keys of a lease are in one slot. */
export class RedisLeases implements Leases {
  constructor(private readonly link: Link) {}

  async acquire(name: string, ttlMs: number): Promise<Lease | undefined> {
    const { link } = this;
    const keys = [this.keyOf(name), this.keyOf(name, 'token')];
    const token = await link.script(ACQUIRE, keys, [ttlMs]);
    if (typeof token !== 'number') return undefined;
    const isDone = async (done: Promise<unknown>) => (await done) === 1;
    return {
      token,
      renew: () => isDone(link.script(RENEW, keys, [token, ttlMs])),
      release: () => isDone(link.script(RELEASE, keys.slice(0, 1), [token])),
      write: (key, text, lifeMs) => {
        const own = this.keyOf(name, `value:${key}`);
        const sealed = link.seal(text, own);
        return isDone(link.script(WRITE, [this.keyOf(name), own], [token, sealed, lifeMs]));
      },
    };
  }

  async read(name: string, key: string): Promise<string | undefined> {
    const own = this.keyOf(name, `value:${key}`);
    const sealed = await this.link.run((client) => client.get(own));
    return sealed === null ? undefined : this.link.unseal(sealed, own);
  }

  private keyOf(name: string, part = 'holder'): string {
    return this.link.key('l', `{${encodeURIComponent(name)}}:${part}`);
  }
}
