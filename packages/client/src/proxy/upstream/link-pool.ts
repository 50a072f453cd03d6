import { UpstreamFailure } from './failures.js';
import type { UpstreamClock } from './clock.js';
import type { Link } from './link.js';

interface Entry {
  readonly opening: Promise<Link>;
  users: number;
  /** Prevents the close of an idle connection. */
  stay: () => void;
}

/** A connection in use. */
export interface Lease {
  readonly link: Link;
  /** Ends the use. */
  release(): void;
}

/** Connections by key. Each is opened when it is first needed, and closed when nobody has used it for a while. */
export class LinkPool {
  /** The one that was used last comes last. */
  private readonly entries = new Map<string, Entry>();

  /** @param limits the connections at a time, and the milliseconds after which an idle one is closed */
  constructor(
    private readonly name: string,
    private readonly clock: UpstreamClock,
    private readonly limits: { readonly maxSessions: number; readonly idleMs: number },
  ) {}

  get size(): number {
    return this.entries.size;
  }

  /**
   * Uses the connection of a key, and opens it if there is none. Callers that come meanwhile wait for the same one.
   * @throws {UpstreamFailure} `busy` if all connections are in use
   */
  async lease(key: string, open: () => Promise<Link>, { isOnce }: { readonly isOnce: boolean }): Promise<Lease> {
    const entry = this.entries.get(key) ?? this.add(key, open);
    this.entries.delete(key);
    this.entries.set(key, entry);
    entry.stay();
    entry.users += 1;
    try {
      const link = await entry.opening;
      return { link, release: () => this.release(key, entry, isOnce ? 0 : this.limits.idleMs) };
    } catch (error) {
      entry.users -= 1;
      throw error;
    }
  }

  /** Closes all connections. */
  async close(): Promise<void> {
    const entries = [...this.entries];
    await Promise.all(entries.map(async ([key, entry]) => await this.end(key, entry)));
  }

  private add(key: string, open: () => Promise<Link>): Entry {
    if (this.entries.size >= this.limits.maxSessions) this.evict();
    const entry: Entry = { opening: open(), users: 0, stay: () => {} };
    const forget = () => {
      entry.stay();
      if (this.entries.get(key) === entry) this.entries.delete(key);
    };
    entry.opening.then((link) => void link.client.closed.then(forget), forget);
    this.entries.set(key, entry);
    return entry;
  }

  private release(key: string, entry: Entry, idleMs: number): void {
    entry.users -= 1;
    if (entry.users > 0) return;
    const end = () => void this.end(key, entry);
    if (idleMs === 0) end();
    else entry.stay = this.clock.after(idleMs, end);
  }

  /** Makes room: closes the connection that has been idle for the longest time. */
  private evict(): void {
    const idle = [...this.entries].find(([, { users }]) => users === 0);
    if (idle === undefined) throw new UpstreamFailure('busy', this.name);
    void this.end(...idle);
  }

  private async end(key: string, entry: Entry): Promise<void> {
    entry.stay();
    if (this.entries.get(key) === entry) this.entries.delete(key);
    const link = await entry.opening.catch(() => undefined);
    await link?.client.close().catch(() => {});
  }
}
