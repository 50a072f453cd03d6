import { clearTimeout, setTimeout } from 'node:timers';

import type { Redis } from 'ioredis';

import { retryMs } from './clients.js';

/** What a `Subscriber` does not know itself. */
export interface SubscriberParts {
  /** Creates a client of the Redis that has the channels now. It isn't connected yet, and connects once. */
  create(): Promise<Redis>;
  /** Subscribes to the channels. */
  subscribe(client: Redis): Promise<unknown>;
  /** Called with each failure. */
  onError(error: unknown): void;
}

/** A connection that receives messages. If it is lost, or its channels move, another one takes its place. */
export class Subscriber {
  private client: Redis | undefined;
  private isListening = false;
  private isClosed = false;
  private attempts = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly parts: SubscriberParts) {
    void this.begin();
  }

  /**
   * Resolves while messages arrive. Called often, because a connection that only receives never learns that it is lost.
   * @throws {Error} while the subscriptions are missing
   */
  async ping(): Promise<void> {
    if (this.client === undefined || !this.isListening) throw new Error('The subscriptions to Redis are missing.');
    await this.client.ping();
  }

  /** Stops for good. */
  close(): void {
    this.isClosed = true;
    clearTimeout(this.timer);
    this.client?.disconnect();
  }

  private async begin(): Promise<void> {
    let client: Redis | undefined;
    try {
      client = await this.parts.create();
      if (this.isClosed) return;
      await this.listen(client);
    } catch (error) {
      if (this.isClosed) return;
      this.parts.onError(error);
      if (client === undefined) this.beginLater();
      else client.disconnect();
    }
  }

  private async listen(client: Redis): Promise<void> {
    this.client = client;
    client.on('error', (error) => this.isClosed || this.parts.onError(error));
    client.once('end', () => this.beginLater());
    client.once('moved', () => client.disconnect());
    await client.connect();
    await this.parts.subscribe(client);
    this.isListening = true;
    this.attempts = 0;
  }

  private beginLater(): void {
    this.isListening = false;
    if (this.isClosed) return;
    this.attempts += 1;
    this.timer = setTimeout(() => void this.begin(), retryMs(this.attempts)).unref();
  }
}
