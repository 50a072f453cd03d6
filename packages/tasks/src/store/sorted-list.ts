/** Items in order. Finding a place takes a binary search, so pages are cheap however long the list is. */
export class SortedList<T> {
  private readonly items: T[] = [];

  /** @param compare negative if the first item comes first; 0 for items that take the same place */
  constructor(private readonly compare: (one: T, other: T) => number) {}

  get size(): number {
    return this.items.length;
  }

  get first(): T | undefined {
    return this.items[0];
  }

  /** Adds an item, or replaces the one at its place. */
  add(item: T): void {
    const at = this.placeOf(item);
    this.items.splice(at, this.isAt(at, item) ? 1 : 0, item);
  }

  /** Removes the item at the place of another. */
  remove(item: T): void {
    const at = this.placeOf(item);
    if (this.isAt(at, item)) this.items.splice(at, 1);
  }

  /** The first items, or those after the place of an item, which may be missing. */
  page(limit: number, after?: T): T[] {
    if (after === undefined) return this.items.slice(0, limit);
    const at = this.placeOf(after);
    const start = this.isAt(at, after) ? at + 1 : at;
    return this.items.slice(start, start + limit);
  }

  private isAt(at: number, item: T): boolean {
    const found = this.items[at];
    return found !== undefined && this.compare(found, item) === 0;
  }

  private placeOf(item: T): number {
    let low = 0;
    let high = this.items.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.compare(this.items[middle] as T, item) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
