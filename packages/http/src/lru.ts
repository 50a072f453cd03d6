/**
 * An item of two lists in order of use. Its neighbours are fields of its own, because separate nodes would double the
 * memory of small items. The ends of a list are an item too, which closes the ring. An item that is in no list is its
 * own neighbour.
 */
export class Linked {
  next: Linked = this;
  previous: Linked = this;
  nextOwn: Linked = this;
  previousOwn: Linked = this;
}

interface Links {
  readonly next: 'next' | 'nextOwn';
  readonly previous: 'previous' | 'previousOwn';
}

/** The links of the first list. */
export const ALL: Links = { next: 'next', previous: 'previous' };

/** The links of the second list. */
export const OWN: Links = { next: 'nextOwn', previous: 'previousOwn' };

/** Takes an item out of a list. */
export function unlink(item: Linked, { next, previous }: Links): void {
  item[previous][next] = item[next];
  item[next][previous] = item[previous];
  item[next] = item[previous] = item;
}

/** Appends an item to a list. */
export function append(item: Linked, ends: Linked, { next, previous }: Links): void {
  item[previous] = ends[previous];
  item[next] = ends;
  ends[previous][next] = item;
  ends[previous] = item;
}
