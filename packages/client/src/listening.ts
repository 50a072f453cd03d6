import { setTimeout } from 'node:timers';

import type { JsonObject, LogLevel } from '@decorum/core';
import { LISTEN } from '@decorum/core/internal';

import type { Connection } from './connection.js';
import { alike, ConnectionError } from './connection-error.js';
import { keepAlive } from './keep-alive.js';
import { NoticeQueue } from './notice-queue.js';
import type { Notification, RequestOptions } from './request.js';

/** What to hear of. */
export interface ListenFilter {
  readonly tools?: boolean;
  readonly prompts?: boolean;
  readonly resources?: boolean;
  /** Resources whose changes matter. */
  readonly uris?: readonly string[];
}

/**
 * Changes of a server, in a loop: `for await (const { method, params } of listening)`. A loop that waits keeps the
 * process alive. Leaving it ends the listening.
 */
export interface Listening extends AsyncIterable<Notification> {
  /** Ends the loop, and tells the server. */
  close(): Promise<void>;
}

const LISTS = ['tools', 'prompts', 'resources'] as const;
const ALL: ListenFilter = { tools: true, prompts: true, resources: true };
const UPDATED = 'notifications/resources/updated';
const changed = (list: string) => `notifications/${list}/list_changed`;

/** Milliseconds to wait before a stream that broke is opened again: the first time, and at most. */
const RETRY_MS = 500;
const MAX_RETRY_MS = 30_000;

/** A caller that listens. */
class Ear {
  readonly queue = new NoticeQueue();
  readonly end = new AbortController();

  constructor(readonly filter: ListenFilter) {}

  hears({ method, params }: Notification): boolean {
    if (method === UPDATED) return this.filter.uris?.some((uri) => String(params['uri']).startsWith(uri)) === true;
    return LISTS.some((list) => this.filter[list] === true && method === changed(list));
  }

  /** Reports everything as changed, because something may have been missed. */
  assumeChanges(): void {
    for (const list of LISTS) if (this.filter[list]) this.queue.add({ method: changed(list), params: {} });
    for (const uri of this.filter.uris ?? []) this.queue.add({ method: UPDATED, params: { uri } });
  }
}

/** What a client wants to hear of. */
export class Subscriptions {
  /** How many want each resource, in a session. */
  private readonly uris = new Map<string, number>();
  private readonly ears = new Set<Ear>();
  private level: LogLevel | undefined;
  private connection!: Connection;
  /** Why the connection has ended. */
  private over: Error | undefined;

  /** @param connection the one to speak over, which may be replaced */
  attach(connection: Connection): this {
    this.connection = connection;
    return this;
  }

  async setLogLevel(level: LogLevel): Promise<void> {
    if (this.isStateless) this.connection.logLevel = level;
    else await this.connection.request('logging/setLevel', { level });
    this.level = level;
  }

  async subscribe(uri: string, options?: RequestOptions): Promise<void> {
    await this.connection.request('resources/subscribe', { uri }, options);
    this.uris.set(uri, (this.uris.get(uri) ?? 0) + 1);
  }

  async unsubscribe(uri: string, options?: RequestOptions): Promise<void> {
    const others = (this.uris.get(uri) ?? 1) - 1;
    if (others > 0) return void this.uris.set(uri, others);
    this.uris.delete(uri);
    await this.connection.request('resources/unsubscribe', { uri }, options);
  }

  async listen(filter: ListenFilter = ALL): Promise<Listening> {
    if (this.over !== undefined) throw alike(this.over);
    const ear = new Ear(filter);
    this.ears.add(ear);
    try {
      if (this.isStateless) await this.openStream(ear);
      else await Promise.all((filter.uris ?? []).map(async (uri) => await this.subscribe(uri)));
    } catch (error) {
      this.ears.delete(ear);
      throw error;
    }
    return { [Symbol.asyncIterator]: () => this.read(ear), close: async () => await this.close(ear) };
  }

  private async *read(ear: Ear): AsyncGenerator<Notification, void, void> {
    try {
      yield* ear.queue.read();
    } finally {
      // the loop was left
      await this.close(ear);
    }
  }

  /** Passes on a notification of a session. */
  heard(notification: Notification): void {
    if (this.isStateless) return;
    for (const ear of this.ears) if (ear.hears(notification)) ear.queue.add(notification);
  }

  /** Asks a new session for what the lost one had. */
  async renew(): Promise<void> {
    const { level, connection } = this;
    if (level !== undefined) await connection.request('logging/setLevel', { level }).catch(() => {});
    for (const uri of this.uris.keys()) await connection.request('resources/subscribe', { uri }).catch(() => {});
    this.missed();
  }

  /** Something may have been missed. */
  missed(): void {
    for (const ear of this.ears) ear.assumeChanges();
  }

  /** The connection has ended. */
  end(reason: Error | undefined): void {
    this.over = reason ?? new ConnectionError('closed', 'The client is closed.');
    for (const ear of this.ears) ear.queue.end(reason);
    this.ears.clear();
  }

  private get isStateless(): boolean {
    return this.connection.identity.era === 'stateless';
  }

  private async close(ear: Ear): Promise<void> {
    if (!this.ears.delete(ear)) return;
    ear.queue.end(undefined);
    ear.end.abort(new ConnectionError('closed', 'Nobody listens any more.'));
    if (this.isStateless) return;
    await Promise.all((ear.filter.uris ?? []).map(async (uri) => await this.unsubscribe(uri).catch(() => {})));
  }

  /** Opens a stream of changes. Resolves once the server has acknowledged it. */
  private async openStream(ear: Ear): Promise<void> {
    const release = keepAlive();
    await new Promise<void>((resolve, reject) => {
      void this.keepStream(ear, resolve).catch((error: Error) => {
        reject(error);
        if (this.ears.delete(ear)) ear.queue.end(error);
      });
    }).finally(release);
  }

  /** Opens the stream again whenever it breaks. Fails if the server refuses the first one. */
  private async keepStream(ear: Ear, opened: () => void): Promise<void> {
    let isOpen = false;
    let retryMs = RETRY_MS;
    const acknowledged = () => {
      if (isOpen) ear.assumeChanges();
      isOpen = true;
      retryMs = RETRY_MS;
      opened();
    };
    while (!ear.end.signal.aborted && this.connection.isOpen) {
      try {
        await this.stream(ear, acknowledged);
      } catch (error) {
        if (!isOpen) throw error;
      }
      if (!isOpen) throw new ConnectionError('protocol', 'The server ended the stream of changes at once.');
      await pause(retryMs, ear.end.signal);
      retryMs = Math.min(retryMs * 2, MAX_RETRY_MS);
    }
  }

  private async stream(ear: Ear, acknowledged: () => void): Promise<void> {
    const { uris = [], ...lists } = ear.filter;
    const wanted = LISTS.filter((list) => lists[list] === true).map((list) => [`${list}ListChanged`, true]);
    const notifications: JsonObject = {
      ...Object.fromEntries(wanted),
      ...(uris.length > 0 && { resourceSubscriptions: uris }),
    };
    await this.connection.request(
      LISTEN,
      { notifications },
      {
        timeoutMs: 0,
        signal: ear.end.signal,
        onNotification(notification) {
          if (notification.method === 'notifications/subscriptions/acknowledged') acknowledged();
          else if (ear.hears(notification)) ear.queue.add(notification);
        },
      },
    );
  }
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(done, milliseconds).unref();
    function done() {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
    signal.addEventListener('abort', done);
  });
}
