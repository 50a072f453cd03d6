import type { Session } from '../../protocol/eras/stateful.js';
import { Exchange } from '../../protocol/exchange.js';
import { BASE, denialOf } from '../../protocol/scopes.js';
import type { Wire } from '../../protocol/wire.js';
import { isVisible } from '../admission.js';
import { resourceAt } from '../live-members.js';
import type { KernelParts } from './method.js';

/** Brings sessions up to date that were anonymous until a principal adopted them. */
export class Adoptions {
  constructor(private readonly parts: Pick<KernelParts, 'registry' | 'reporter' | 'events'>) {}

  /**
   * Restores the subscriptions that an adopted session has held back, without resources that its principal can't see.
   * @param caller the request that the principal adopted the session with
   */
  async recheck(session: Session, caller: Omit<Wire, 'send'>): Promise<void> {
    const { registry, reporter } = this.parts;
    const request = { jsonrpc: '2.0', id: 0, method: 'resources/subscribe' } as const;
    // one exchange for all of them, so that each access function runs once
    const exchange = new Exchange(request, session, { ...caller, send() {} });
    await session.recheck(async (uri) => {
      const plan = (await resourceAt(exchange, uri, { registry, reporter }))?.plan;
      if (plan === undefined || denialOf(exchange.wire, [plan.need ?? BASE]) !== undefined) return false;
      return await isVisible(plan, exchange, reporter);
    });
  }

  /** Tells the client of a session to read all lists again, because its principal may see other members. */
  announce(session: Session): void {
    if (session.record.joined) this.parts.events.announceLists(session);
  }
}
