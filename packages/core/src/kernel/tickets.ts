import { TicketError } from '../protocol/errors.js';
import type { Tickets, Visit } from '../protocol/exchange.js';
import type { Principal } from '../protocol/wire.js';
import type { KeyRing } from './key-ring.js';

/** Seals who was sent to a URL and by which question, for the subject of one principal and a limited time. */
export class SealedTickets implements Tickets {
  constructor(private readonly keys: KeyRing) {}

  issue(visit: Visit): string {
    return this.keys.seal(JSON.stringify(visit), holder(visit.subject));
  }

  /**
   * What a ticket says, if the principal is who it was made for.
   * @throws {TicketError}
   */
  open(ticket: string, principal: Principal | undefined): Visit {
    const visit = this.keys.open(ticket, holder(principal?.subject));
    if (visit === undefined) throw new TicketError();
    return JSON.parse(visit) as Visit;
  }
}

/** Nobody is not the same as somebody without a name. */
const holder = (subject: string | undefined) => ({ subject: subject ?? null });
