import type { Client } from '../client.js';
import type { Listening } from '../listening.js';
import type { Uris } from './uris.js';

/** Cap on resources of the upstream that are followed at a time. */
const MAX_FOLLOWED = 256;

/** What following needs of the proxy. */
export interface FollowedParts {
  readonly uris: Uris;
  /** Tells clients that a resource has changed, by the URI that they know. */
  updated(uri: string): void;
  /** A list of the upstream has changed. */
  listsChanged(): void;
}

/** Listens to an upstream for changes of its lists, and of the resources that clients follow. */
export class FollowedResources {
  /** By the upstream's URI; undefined while nothing is listened to. */
  private readonly followed = new Map<string, Listening | undefined>();
  private client: Client | undefined;
  private lists: Listening | undefined;

  constructor(private readonly parts: FollowedParts) {}

  /** The upstream can be asked. Never rejects. */
  async opened(client: Client): Promise<void> {
    this.client = client;
    const { tools, prompts, resources } = client.capabilities;
    const filter = { tools: tools !== undefined, prompts: prompts !== undefined, resources: resources !== undefined };
    const listening = client.listen(filter).catch(() => undefined);
    const uris = [...this.followed.keys()].map(async (uri) => {
      await this.listen(client, uri);
      // it may have changed while nobody listened
      this.parts.updated(String(this.parts.uris.placed(uri)));
    });
    this.lists = await listening;
    if (this.lists !== undefined) void this.hearLists(this.lists);
    await Promise.all(uris);
  }

  /** The upstream can't be asked any more. What is followed is listened to again later. */
  closed(): void {
    this.client = undefined;
    this.lists = undefined;
    for (const uri of this.followed.keys()) this.followed.set(uri, undefined);
  }

  /**
   * A client follows a resource.
   * @param placed the URI that the client knows
   */
  async follow(placed: string): Promise<void> {
    const uri = this.parts.uris.original(placed);
    if (uri === undefined || this.followed.has(uri) || this.followed.size >= MAX_FOLLOWED) return;
    this.followed.set(uri, undefined);
    if (this.client !== undefined) await this.listen(this.client, uri);
  }

  /** Stops to listen to resources that no client follows any more. */
  review(isFollowed: (placed: string) => boolean): void {
    for (const [uri, listening] of this.followed) {
      if (isFollowed(String(this.parts.uris.placed(uri)))) continue;
      this.followed.delete(uri);
      void listening?.close().catch(() => {});
    }
  }

  private async listen(client: Client, uri: string): Promise<void> {
    // an upstream that has no subscriptions refuses
    const listening = await client.listen({ uris: [uri] }).catch(() => undefined);
    if (listening === undefined) return;
    if (this.client !== client || !this.followed.has(uri)) return void listening.close().catch(() => {});
    this.followed.set(uri, listening);
    void this.hearUpdates(listening);
  }

  private async hearUpdates(listening: Listening): Promise<void> {
    try {
      for await (const { params } of listening) this.parts.updated(String(this.parts.uris.placed(params['uri'])));
    } catch {
      // the connection has ended, which the proxy is told of
    }
  }

  private async hearLists(listening: Listening): Promise<void> {
    try {
      for await (const { method } of listening) if (method !== undefined) this.parts.listsChanged();
    } catch {
      // the connection has ended, which the proxy is told of
    }
  }
}
