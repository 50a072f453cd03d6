/** Cap on the visits of a connection that may still end; the oldest is forgotten first. */
const MAX_VISITS = 100;

/** URLs to which an upstream has sent users: its ids, and those that the client in front knows. */
export class Visits {
  private readonly ids = new Map<string, string>();

  add(upstreamId: string, frontId: string): void {
    const [oldest] = this.ids.keys();
    if (oldest !== undefined && this.ids.size >= MAX_VISITS) this.ids.delete(oldest);
    this.ids.set(upstreamId, frontId);
  }

  /** Ends a visit. Returns the id that the client in front knows; undefined if the upstream sent nobody. */
  end(upstreamId: unknown): string | undefined {
    const id = this.ids.get(upstreamId as string);
    this.ids.delete(upstreamId as string);
    return id;
  }
}
