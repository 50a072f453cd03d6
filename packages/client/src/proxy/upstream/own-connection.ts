import { ConnectionError } from '../../connection-error.js';
import { Backoff } from './backoff.js';
import type { UpstreamClock } from './clock.js';
import type { Link } from './link.js';

/** What happens to the server's own connection. */
export interface OwnEvents {
  up(link: Link): void;
  down(): void;
}

/** Milliseconds that a connection has to show that it works, once a caller could not reach the upstream. */
const PING_MS = 5000;

/** A connection that lasted for so many milliseconds worked. */
const LASTING_MS = 10_000;

/** The server's own connection. From its first use on, it is opened again whenever it is lost. */
export class OwnConnection {
  private readonly backoff: Backoff;
  private opening: Promise<Link> | undefined;
  private doubt: Promise<void> | undefined;
  private stopWaiting: (() => void) | undefined;
  /** Why the last try has failed, or the connection has ended. */
  private failure: unknown;
  private isClosed = false;

  constructor(
    private readonly open: () => Promise<Link>,
    private readonly events: OwnEvents,
    private readonly clock: UpstreamClock,
  ) {
    this.backoff = new Backoff(clock);
  }

  /**
   * The connection. Opens it if it isn't open, and waits for it if it is being opened.
   * @throws {unknown} why it can't be opened, at once if the last try was less than a second ago
   */
  async link(): Promise<Link> {
    if (this.isClosed) throw new ConnectionError('closed', 'The proxy is closed.');
    if (this.opening === undefined && !this.backoff.mayTry) throw this.failure;
    this.opening ??= this.try();
    return await this.opening;
  }

  /** Tries again at once, because a caller has reached the upstream. */
  wake(): void {
    if (this.stopWaiting === undefined) return;
    this.opening ??= this.try();
    this.opening.catch(() => {});
  }

  /** Makes sure that it works, because a caller could not reach the upstream. */
  suspect(): void {
    this.doubt ??= this.check().finally(() => (this.doubt = undefined));
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.stopWaiting?.();
    const link = await this.opening?.catch(() => undefined);
    await link?.client.close();
  }

  private async check(): Promise<void> {
    const link = await this.opening?.catch(() => undefined);
    await link?.client.ping({ timeoutMs: PING_MS }).catch(async () => await link.client.close());
  }

  private async try(): Promise<Link> {
    this.stopWaiting?.();
    this.stopWaiting = undefined;
    try {
      const link = await this.open();
      const since = this.clock.now();
      void link.client.closed.then((reason) => this.lost(reason, this.clock.now() - since));
      this.events.up(link);
      return link;
    } catch (error) {
      this.retry(error);
      throw error;
    }
  }

  private lost(reason: Error | undefined, lastedMs: number): void {
    if (this.isClosed) return;
    // an upstream that ends as soon as it is up is tried less and less often, too
    if (lastedMs > LASTING_MS) this.backoff.succeeded();
    this.events.down();
    this.retry(reason ?? new Error('The connection was closed.'));
  }

  private retry(failure: unknown): void {
    this.failure = failure;
    this.opening = undefined;
    this.backoff.failed();
    if (!this.isClosed) this.stopWaiting = this.clock.after(this.backoff.delayMs, () => this.wake());
  }
}
