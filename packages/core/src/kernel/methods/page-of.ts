import type { Exchange } from '../../protocol/exchange.js';
import { ownerOf } from '../../protocol/owner.js';
import type { Listing } from '../../registry/listing.js';
import type { LiveKind } from '../../registry/live-members.js';
import type { Listed, ListPages, PageRequest } from '../../registry/page.js';
import { admission } from '../admission.js';
import { isLiveList, type LiveParts, withLive } from '../live-members.js';

/**
 * The page that a request asks for.
 * @param personal whether the list depends on the caller
 */
export function pageRequest({ peer, wire, revision, params }: Exchange, personal: boolean): PageRequest {
  const scope = peer.cursorScope ?? ownerOf(wire.principal) ?? '';
  return { revision, cursor: params['cursor'], scope, personal };
}

interface PageParts extends LiveParts {
  readonly kind: LiveKind;
  readonly exchange: Exchange;
  /** Whether the list depends on the caller anyway. */
  readonly personal?: boolean;
}

/** Chooses what to list of what the caller may see. */
export type Select<T> = (visible: readonly Listed<T>[]) => readonly Listed<T>[];

/**
 * One page of the entries that the caller may see, as JSON.
 * @param parts.select chooses some of them for the request; all without it
 */
export function pageOf<T>(
  listing: Listing<Listed<T>>,
  pages: ListPages<T>,
  { personal = false, kind, select, ...parts }: PageParts & { readonly select?: Select<T> | undefined },
): string | Promise<string> {
  const { exchange, registry, reporter } = parts;
  const write = (visible: readonly Listed<T>[], isOwn: boolean) =>
    pages.page(select?.(visible) ?? visible, pageRequest(exchange, isOwn || select !== undefined));
  if (isLiveList(kind, registry)) {
    const visible = listing.visible(admission(exchange, reporter));
    return withLive(visible, kind, parts).then((listed) => write(listed, true));
  }
  if (!listing.restricted) return write(listing.all, personal);
  const visible = listing.visible(admission(exchange, reporter));
  return visible.then((listed) => write(listed, true));
}
