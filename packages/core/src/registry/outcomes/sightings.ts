import { BEAT_MS, LEASE_MS } from './claim.js';
import type { Turn } from './key-record.js';

/** Cap on the keys that are remembered. The oldest are forgotten first: a later call sees their turns anew. */
const MAX_KEYS = 1000;

/** A turn, since when it was seen in the same state, and for how long it was watched. */
interface Sighting extends Turn {
  readonly at: number;
  readonly watchedMs: number;
}

/**
 * For how long this process has watched the turns of others without a change. Outlives the calls that wait for them,
 * because a call may have less time than it takes to know that a process has died. The time between two looks counts as
 * one beat at most: the store may have been away, so nobody could say that they live.
 */
export class Sightings {
  private readonly seen = new Map<string, Sighting>();

  note(place: string, { turn, beat }: Turn): void {
    const seen = this.seen.get(place);
    const isSame = seen?.turn === turn && seen?.beat === beat;
    const watchedMs = seen !== undefined && isSame ? watched(seen) : 0;
    if (!isSame) this.forget(place);
    const [oldest] = this.seen.keys();
    if (this.seen.size >= MAX_KEYS && oldest !== undefined && !isSame) this.forget(oldest);
    this.seen.set(place, { turn, beat, at: performance.now(), watchedMs });
  }

  /** The turn of a key, if its process seems to have died. */
  dead(place: string): Turn | undefined {
    const seen = this.seen.get(place);
    return seen !== undefined && watched(seen) >= LEASE_MS ? seen : undefined;
  }

  forget(place: string): void {
    this.seen.delete(place);
  }
}

const watched = ({ at, watchedMs }: Sighting): number => watchedMs + Math.min(performance.now() - at, BEAT_MS);
