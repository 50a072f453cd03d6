import { loadLruCache } from './libraries.cjs';

/** A result that is kept as JSON, so that nobody who changes what they got changes it for others. */
export interface Kept {
  readonly json: string;
  /** The URI that was read, if one was. */
  readonly uri: string | undefined;
}

/** How much is kept, and how long. */
export interface Keeping {
  readonly ttlMs: number;
  readonly maxEntries: number;
  readonly maxBytes: number;
}

/** A call whose result others wait for. */
export class Flight {
  private readonly followers = new Set<(json: string | undefined) => void>();
  private isOver = false;

  /**
   * @param uri the URI that it reads, if it reads one
   * @param signal aborts when the call is cancelled
   */
  constructor(
    readonly uri: string | undefined,
    private readonly signal: () => AbortSignal,
    private readonly onEnd: (json: string | undefined) => void,
  ) {}

  /**
   * Ends it for those who wait.
   * @param json the result; undefined if others can't have it
   */
  readonly end = (json: string | undefined): void => {
    if (this.isOver) return;
    this.isOver = true;
    this.onEnd(json);
    if (this.followers.size > 0) this.signal().removeEventListener('abort', this.abort);
    for (const follow of this.followers) follow(json);
  };

  private readonly abort = (): void => this.end(undefined);

  /** Waits for the result of the call; undefined if there is none to share. Rejects if the signal aborts before. */
  follow(signal: AbortSignal): Promise<string | undefined> {
    // most calls have no followers, and then need no signal
    if (this.followers.size === 0) this.signal().addEventListener('abort', this.abort, { once: true });
    return new Promise((resolve, reject) => {
      const follow = (json: string | undefined) => {
        signal.removeEventListener('abort', stop);
        resolve(json);
      };
      const stop = () => {
        this.followers.delete(follow);
        reject(signal.reason as Error);
      };
      this.followers.add(follow);
      signal.addEventListener('abort', stop, { once: true });
    });
  }
}

/** The results of one member, and the calls that run. */
export class KeptResults {
  private readonly results: InstanceType<ReturnType<typeof loadLruCache>>;
  private readonly flights = new Map<string, Flight>();

  constructor({ ttlMs, maxEntries, maxBytes }: Keeping) {
    const Cache = loadLruCache();
    this.results = new Cache({
      max: maxEntries,
      maxSize: maxBytes,
      ttl: ttlMs,
      // without a timer, and without 0, which would stand for no time
      ttlResolution: 0,
      perf: { now: () => Date.now() + 1 },
    });
  }

  find(key: string): string | undefined {
    return (this.results.get(key) as Kept | undefined)?.json;
  }

  /** Whether a result is kept, or a call runs that may bring one. */
  knows(key: string): boolean {
    return this.flights.has(key) || this.find(key) !== undefined;
  }

  flight(key: string): Flight | undefined {
    return this.flights.get(key);
  }

  /** Notes a call that runs. If it ends with a result, the result is kept. */
  depart(key: string, uri: string | undefined, signal: () => AbortSignal): Flight {
    const flight: Flight = new Flight(uri, signal, (json) => {
      // a changed resource is read again meanwhile
      if (this.flights.get(key) !== flight) return;
      this.flights.delete(key);
      if (json !== undefined) this.results.set(key, { json, uri }, { size: Buffer.byteLength(json + (uri ?? '')) });
    });
    this.flights.set(key, flight);
    return flight;
  }

  /** Forgets what was read from a resource, and what is being read. */
  forget(uri: string): void {
    for (const [key, kept] of this.results.entries() as Iterable<[string, Kept]>)
      if (kept.uri === uri) this.results.delete(key);
    for (const [key, flight] of this.flights) if (flight.uri === uri) this.flights.delete(key);
  }
}
