import { attempt } from '@decorum/schema/internal';

import { Session } from '../protocol/eras/stateful.js';
import type { Exchange } from '../protocol/exchange.js';
import type { Implementation } from '../protocol/model.js';
import { copyOf } from '../protocol/observed.js';
import type { Principal, TransportInfo } from '../protocol/wire.js';
import { type Hook, reportingOnce } from './observers.js';

/** A session that has started. */
export interface SessionInfo {
  /** The id on the wire. Undefined over stdio and in memory. */
  readonly id: string | undefined;
  readonly revision: string;
  /** The client's name and version, as the client reports them. */
  readonly client: Implementation | undefined;
  /** The caller that started it. Undefined for an anonymous session, even if its client signs in later. */
  readonly principal: Principal | undefined;
  readonly transport: TransportInfo['kind'];
  /** Whether another process started the session, and this process continues it. */
  readonly continued: boolean;
}

/** A plugin's `session` function. */
export type SessionHook = Hook<(info: SessionInfo) => unknown>;

/** Tells plugins when sessions start and end in this process. */
export class ObservedSessions {
  /** Functions to call when a session ends. */
  private readonly ends = new WeakMap<Session, (() => void)[]>();
  private readonly fail: ReturnType<typeof reportingOnce>;

  constructor(
    private readonly hooks: readonly SessionHook[],
    report: (error: unknown) => void,
  ) {
    this.fail = reportingOnce(report, "The session isn't affected. Reported once.");
  }

  /**
   * Tells plugins that the session of a request has started, unless they know already, or the request has no session.
   * @param continued whether another process started the session
   */
  see({ peer, wire }: Pick<Exchange, 'peer' | 'wire'>, continued: boolean): void {
    if (!(peer instanceof Session) || !peer.initialized || this.ends.has(peer)) return;
    const { id, principal } = peer.record;
    const { client, revision } = peer;
    const { kind: transport } = wire.transport;
    const about = { id, revision: revision.id, principal, transport, continued };
    const ends: (() => void)[] = [];
    this.ends.set(peer, ends);
    for (const hook of this.hooks) {
      const fail = (error: unknown) => this.fail(hook, error);
      const end = attempt(() => hook.call({ ...about, client: copyOf(client.info) }), fail);
      if (typeof end === 'function') ends.push(() => void attempt(end as () => unknown, fail));
      else if (end !== undefined) fail(new TypeError('It did not return a function, or nothing.'));
    }
  }

  end(session: Session): void {
    const ends = this.ends.get(session);
    this.ends.delete(session);
    for (const end of ends ?? []) end();
  }
}
