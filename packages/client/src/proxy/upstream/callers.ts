import { randomUUID } from 'node:crypto';

import type { ClientCapabilities, Context } from '@decorum/core';
import { frontOf, ownerOf } from '@decorum/core/internal';

/** Whose connection a call uses. */
export interface Place {
  readonly key: string;
  /** Whether the connection is for this call alone. */
  readonly isOnce: boolean;
  /** Whether callers who must not learn of each other use the connection. */
  readonly isShared: boolean;
}

/** Decides which calls use the same session upstream: those of one principal, or of one session in front. */
export class Callers {
  private readonly names = new WeakMap<object, string>();

  /**
   * The place of a call in sessions upstream.
   * @param digest of the headers that go upstream
   * @param declared what is declared upstream. A session declares it once, so clients that differ in it share none
   */
  placeOf(ctx: Context, digest: string, declared: ClientCapabilities): Place {
    const asks = Object.keys(declared).length > 0;
    const who = this.nameOf(ctx);
    const what = `${digest} ${JSON.stringify(declared)}`;
    if (who !== undefined) return { key: `${who} ${what}`, isOnce: false, isShared: false };
    // nothing tells anonymous callers apart, so those who can be asked get a session for each call
    if (asks) return { key: randomUUID(), isOnce: true, isShared: false };
    return { key: `anybody ${what}`, isOnce: false, isShared: true };
  }

  /** A key for the principal, or for the only client that can be at the other end; undefined for anybody. */
  private nameOf(ctx: Context): string | undefined {
    const owner = ownerOf(ctx.principal);
    if (owner !== undefined) return `owner ${owner}`;
    if (ctx.sessionId !== undefined) return `session ${ctx.sessionId}`;
    if (ctx.transport.kind === 'stdio') return 'stdio';
    const { session } = frontOf(ctx);
    if (session === undefined) return undefined;
    const name = this.names.get(session) ?? `connection ${randomUUID()}`;
    this.names.set(session, name);
    return name;
  }
}

/** The place of calls that leave nothing behind upstream: those with the same headers. */
export const statelessPlace = (digest: string): Place => ({
  key: `stateless ${digest}`,
  isOnce: false,
  isShared: true,
});
