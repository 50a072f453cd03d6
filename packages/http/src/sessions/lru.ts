/**
 * An item in two lists, which are ordered by use. The links are fields of the item, because separate nodes would double
 * the memory of small items. Each list is a ring: a sentinel item connects its ends. An item that is in no list links
 * to itself.
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
