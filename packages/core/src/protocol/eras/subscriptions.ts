import { requireFew } from '../limits.js';
import type { SessionLink, SessionRecord } from './session-record.js';

/** The resources that a session is subscribed to. */
export class Subscriptions {
  /** The record's subscriptions as a set. */
  private followed: ReadonlySet<string> | undefined;
  /** Subscriptions of an anonymous caller, until they are checked for the principal. */
  private unchecked: Set<string> | undefined;

  constructor(
    private readonly record: SessionRecord,
    private readonly link: SessionLink,
  ) {}

  has(uri: string): boolean {
    this.followed ??= new Set(this.record.subscriptions);
    return this.followed.has(uri);
  }

  /** @throws {McpError} if the session would have more than `max` subscriptions */
  add(uri: string, max: number): void | Promise<void> {
    if (this.has(uri)) return;
    return this.change((uris) => {
      const all = [...new Set([...uris, uri])];
      requireFew([...all, ...(this.unchecked ?? [])], max);
      return all;
    });
  }

  delete(uri: string): void | Promise<void> {
    this.unchecked?.delete(uri);
    if (this.has(uri)) return this.change((uris) => uris.filter((known) => known !== uri));
  }

  /** Reads the record again after it has changed. */
  refresh(): void {
    this.followed = undefined;
  }

  /** Holds all subscriptions back until `recheck`. */
  hold(): void {
    this.unchecked = new Set(this.record.subscriptions);
    this.record.subscriptions = [];
    this.refresh();
  }

  /** Restores the subscriptions that `hold` has held back, without those that the principal may not have. */
  async recheck(mayFollow: (uri: string) => Promise<boolean>): Promise<void> {
    const uris = [...(this.unchecked ?? [])];
    if (uris.length === 0) return;
    const answers = await Promise.all(uris.map(mayFollow));
    const { unchecked } = this;
    this.unchecked = undefined;
    // the client may have sent new subscriptions, and ended old ones, in the meantime
    const kept = uris.filter((uri, index) => answers[index] && unchecked?.has(uri));
    await this.change((now) => [...new Set([...now, ...kept])]);
  }

  private change(apply: (uris: readonly string[]) => readonly string[]): void | Promise<void> {
    const change = (record: SessionRecord) => {
      record.subscriptions = apply(record.subscriptions ?? []);
      this.refresh();
    };
    change(this.record);
    return this.link.save?.(change);
  }
}
