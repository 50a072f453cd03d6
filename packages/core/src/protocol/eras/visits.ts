/** Cap on pending URL visits; the oldest is evicted first. */
const MAX_VISITS = 100;

/** The pending URL visits of a session, by id. */
export class Visits {
  private ids: Set<string> | undefined;

  add(id: string): void {
    const ids = (this.ids ??= new Set());
    const [oldest] = ids;
    if (oldest !== undefined && ids.size >= MAX_VISITS) ids.delete(oldest);
    ids.add(id);
  }

  /** Ends a visit. Returns whether it was pending. */
  delete(id: string): boolean {
    return this.ids?.delete(id) === true;
  }
}
