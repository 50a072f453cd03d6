import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage } from 'node:http';

import { addressOf } from '@decorum/http';

interface Running {
  readonly address: string | undefined;
  readonly results: Map<string, Promise<unknown>>;
}

/** Knows from which address a request comes, also where oidc-provider passes nothing on. */
export class Callers {
  private readonly running = new AsyncLocalStorage<Running>();

  /** @param trustsProxy whether a proxy in front appends the address of its client to `X-Forwarded-For` */
  constructor(private readonly trustsProxy: boolean) {}

  /** The address of the request that is being handled. */
  get address(): string | undefined {
    return this.running.getStore()?.address;
  }

  /** Runs a function with an address. */
  async run(address: string | undefined, task: () => Promise<void>): Promise<void> {
    await this.running.run({ address, results: new Map() }, task);
  }

  /** Runs a task once for the request that is being handled, even if it fails. */
  async once<T>(key: string, task: () => Promise<T>): Promise<T> {
    const { results = new Map<string, Promise<unknown>>() } = this.running.getStore() ?? {};
    const result = (results.get(key) as Promise<T> | undefined) ?? task();
    results.set(key, result);
    return await result;
  }

  /** The address that quotas of a request count by; undefined if it is unknown. */
  addressOf({ headers, socket }: IncomingMessage): string | undefined {
    const forwarded = this.trustsProxy ? String(headers['x-forwarded-for'] ?? '') : '';
    // the last one is what the proxy has seen; the client has sent those before
    const last = forwarded.slice(forwarded.lastIndexOf(',') + 1).trim();
    // without headers: whoever sends one that isn't trusted must not be counted as somebody else
    return addressOf({ headers: {}, remoteAddress: last === '' ? socket.remoteAddress : last });
  }
}
