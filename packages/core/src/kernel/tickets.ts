import { TicketError } from '../protocol/errors.js';
import type { Tickets, Visit } from '../protocol/exchange.js';
import type { Principal } from '../protocol/wire.js';
import type { KeyRing } from './key-ring.js';

/** Seals URL visits into tickets that expire. Only the principal that a ticket was issued to can open it. */
export class SealedTickets implements Tickets {
  constructor(private readonly keys: KeyRing) {}

  issue(visit: Visit): string {
    return this.keys.seal(JSON.stringify(visit), holder(visit.subject));
  }

  /**
   * Opens a ticket, if it was issued to this principal.
   * @throws {TicketError}
   */
  open(ticket: string, principal: Principal | undefined): Visit {
    const visit = this.keys.open(ticket, holder(principal?.subject));
    if (visit === undefined) throw new TicketError();
    return JSON.parse(visit) as Visit;
  }
}

/** `null` stands for an anonymous caller, because a principal's subject may be an empty string. */
const holder = (subject: string | undefined) => ({ subject: subject ?? null });
