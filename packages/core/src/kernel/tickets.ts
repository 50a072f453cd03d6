import { TicketError } from '../protocol/errors.js';
import type { Tickets, Visit } from '../protocol/exchange.js';
import type { Principal } from '../protocol/wire.js';
import type { KeyRing } from './key-ring.js';

/** Seals who was sent to a URL and by which question, for the subject of one principal and a limited time. */
export class SealedTickets implements Tickets {
  /** @param ttlMs milliseconds that the user has to go to the URL */
  constructor(
    private readonly keys: KeyRing,
    private readonly ttlMs: number,
  ) {}

  issue(visit: Visit): string {
    return this.keys.seal(JSON.stringify({ expires: Date.now() + this.ttlMs, visit }), holder(visit.subject));
  }

  /**
   * What a ticket says, if the principal is who it was made for.
   * @throws {TicketError}
   */
  open(ticket: string, principal: Principal | undefined): Visit {
    try {
      const text = this.keys.open(ticket, holder(principal?.subject));
      const { expires, visit } = JSON.parse(text) as { readonly expires: number; readonly visit: Visit };
      if (Date.now() <= expires) return visit;
    } catch {
      // what exactly was wrong with it is of use to nobody but an attacker
    }
    throw new TicketError();
  }
}

/** Nobody is not the same as somebody without a name. */
const holder = (subject: string | undefined) => ({ subject: subject ?? null });
