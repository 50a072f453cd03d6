import type { Exchange } from '../../protocol/exchange.js';
import type { SerializedResult } from '../../protocol/jsonrpc.js';
import type { Access } from '../../protocol/wire.js';
import type { Admits, Listing } from '../../registry/listing.js';
import type { ListPages, PageRequest } from '../../registry/page.js';
import type { Faults } from '../faults.js';

/**
 * Whom the members of a server admit: the sender of one request. Each function is asked once, however many members
 * share it. Who cannot be judged is not admitted: an error of the function is reported, and refuses.
 */
export function admission(exchange: Exchange, faults: Faults): Admits {
  const { principal, transport } = exchange.wire;
  const ask = async (access: Access) => {
    try {
      return (await access(principal, transport)) === true;
    } catch (error) {
      faults.report(error, exchange);
      return false;
    }
  };
  const asked = new Map<Access, Promise<boolean>>();
  return (access) => {
    const answer = asked.get(access) ?? ask(access);
    asked.set(access, answer);
    return answer;
  };
}

/**
 * Which page is wanted, and whom its cursor is for.
 * @param personal the list depends on who asks
 */
export function pageRequest({ peer, wire, revision, params }: Exchange, personal: boolean): PageRequest {
  const scope = peer.sessionId ?? wire.principal?.subject ?? '';
  return { revision, cursor: params['cursor'], scope, personal };
}

/** One page of what the sender of a request may see of a list. */
export function pageOf<T>(
  listing: Listing<T>,
  pages: ListPages<T>,
  { exchange, faults }: { readonly exchange: Exchange; readonly faults: Faults },
): SerializedResult | Promise<SerializedResult> {
  if (!listing.restricted) return pages.page(listing.all, pageRequest(exchange, false));
  const visible = listing.visible(admission(exchange, faults));
  return visible.then((listed) => pages.page(listed, pageRequest(exchange, true)));
}
