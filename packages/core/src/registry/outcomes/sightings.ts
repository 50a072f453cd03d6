import { LEASE_MS } from './claim.js';
import type { Turn } from './key-record.js';

/** Cap on the keys that are remembered. The oldest are forgotten first: a later call sees their turns anew. */
const MAX_KEYS = 1000;

/**
 * When this process has first seen the turns of others as they are. Outlives the calls that wait for them, because a call
 * may have less time than it takes to know that a process has died.
 */
export class Sightings {
  private readonly seen = new Map<string, Turn & { readonly since: number }>();

  note(place: string, { turn, beat }: Turn): void {
    const seen = this.seen.get(place);
    if (seen?.turn === turn && seen?.beat === beat) return;
    this.forget(place);
    const [oldest] = this.seen.keys();
    if (this.seen.size >= MAX_KEYS && oldest !== undefined) this.forget(oldest);
    this.seen.set(place, { turn, beat, since: performance.now() });
  }

  /** The turn of a key, if its process seems to have died. */
  dead(place: string): Turn | undefined {
    const seen = this.seen.get(place);
    return seen !== undefined && performance.now() - seen.since >= LEASE_MS ? seen : undefined;
  }

  forget(place: string): void {
    this.seen.delete(place);
  }
}
