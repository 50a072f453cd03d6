import { TicketError } from '../protocol/errors.js';
import type { Tickets, UrlElicitation } from '../protocol/peer.js';
import { type Account, accountOf } from '../protocol/owner.js';
import type { KeyRing } from './key-ring.js';

/** Seals URL visits into tickets that expire. Only the principal that a ticket was issued to can open it. */
export class SealedTickets implements Tickets {
  constructor(private readonly keys: KeyRing) {}

  issue(visit: UrlElicitation): string {
    const { subject, issuer } = visit;
    const account = subject === undefined ? undefined : { subject, issuer };
    return this.keys.seal(JSON.stringify(visit), bindingOf(account));
  }

  /**
   * Opens a ticket, if it was issued to this account.
   * @throws {TicketError}
   */
  open(ticket: string, account: Account | undefined): UrlElicitation {
    const isNobody = account?.subject === '';
    const visit = isNobody ? undefined : this.keys.open(ticket, bindingOf(account));
    if (visit === undefined) throw new TicketError();
    return JSON.parse(visit) as UrlElicitation;
  }
}

/** `null` stands for an anonymous caller. */
const bindingOf = (account: Account | undefined) => ({ account: accountOf(account) ?? null });
