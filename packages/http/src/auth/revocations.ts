import type { Principal } from '@decorum/core';

type IsRevoked = (principal: Principal) => boolean;

/** Cap on remembered revocations. Beyond it, the oldest is forgotten. */
const MAX = 1000;

/** The latest revocations, for requests that were authenticated before, and whose bodies arrived after. */
export class Revocations {
  /** Whether there are any. A plain field, because it is read for each message. */
  any = false;
  private latest: readonly { readonly isRevoked: IsRevoked; readonly until: number }[] = [];

  /** @param rememberMs milliseconds after which all such requests have arrived */
  constructor(private readonly rememberMs: number) {}

  add(isRevoked: IsRevoked): void {
    this.latest = [...this.latest.slice(1 - MAX), { isRevoked, until: Date.now() + this.rememberMs }];
    this.any = true;
  }

  includes(principal: Principal | undefined): boolean {
    const now = Date.now();
    this.latest = this.latest.filter(({ until }) => until > now);
    this.any = this.latest.length > 0;
    return principal !== undefined && this.latest.some(({ isRevoked }) => isRevoked(principal));
  }
}
