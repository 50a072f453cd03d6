/** A list in order of use, the least recently used item first. Every operation takes constant time. */
export class LruList<T> {
  /** Closes the ring: `next` is the least recently used item. */
  readonly ends = new LruNode<T>();

  /** The least recently used item; undefined if the list is empty. */
  get oldest(): T | undefined {
    return this.ends.next.item;
  }
}

/** The place of an item in a list. A node that is in no list is linked to itself. */
export class LruNode<T> {
  /** The ends of the list. */
  ends: LruNode<T> = this;
  next: LruNode<T> = this;
  previous: LruNode<T> = this;

  /**
   * @param item undefined for the ends of a list
   * @param also the place of the same item in another list
   */
  constructor(
    readonly item?: T,
    readonly also?: LruNode<T>,
  ) {}

  /** Moves to the end of a list, from wherever it is. */
  moveTo({ ends }: LruList<T>): void {
    this.remove();
    this.ends = ends;
    this.next = ends;
    this.previous = ends.previous;
    this.previous.next = this;
    ends.previous = this;
  }

  /** Leaves the list. */
  remove(): void {
    this.previous.next = this.next;
    this.next.previous = this.previous;
    this.next = this;
    this.previous = this;
  }
}
