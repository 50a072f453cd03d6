import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage } from 'node:http';

import { addressOf } from '@decorum/http';

/** Knows from which address a request comes, also where oidc-provider passes nothing on. */
export class Callers {
  private readonly running = new AsyncLocalStorage<string | undefined>();

  /** @param trustsProxy whether a proxy in front appends the address of its client to `X-Forwarded-For` */
  constructor(private readonly trustsProxy: boolean) {}

  /** The address of the request that is being handled. */
  get address(): string | undefined {
    return this.running.getStore();
  }

  /** Runs a function with an address. */
  async run(address: string | undefined, task: () => Promise<void>): Promise<void> {
    await this.running.run(address, task);
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
