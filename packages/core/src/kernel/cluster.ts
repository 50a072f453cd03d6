import type { ChangeBus } from './change-bus.js';
import type { KeyValueStore } from './records/key-value-store.js';
import type { SingleUse } from './request-states.js';

/** What an engine gets from the server that it serves. */
export interface ClusterServer {
  /** The server's name. Servers with different names share nothing. */
  readonly name: string;
  /** Seals text with the server's secret, before it leaves the process. */
  seal(text: string, binding: string): string;
  /** Opens sealed text; undefined if it was altered, has another binding, or was sealed with an unknown secret. */
  open(sealed: string, binding: string): string | undefined;
  /** Reports an error, which no client sees, to the server's logger and `onError`. */
  report(error: unknown, message?: string): void;
}

/**
 * What processes share that serve the same clients. An engine, such as `redis()` of `@decorum/redis`, provides all
 * parts. `@decorum/http` uses the last three, and has their types: see its `Cluster`.
 */
export interface ClusterParts {
  readonly bus: ChangeBus;
  readonly singleUse: SingleUse;
  readonly store: KeyValueStore;
  readonly sessions: object;
  readonly events: object;
  readonly courier: object;
  /** Runs once, before the server handles its first message. Must not wait for other processes. */
  open?(server: ClusterServer): void | Promise<void>;
  /** Runs once, after the server has handled its last message. */
  close?(): void | Promise<void>;
  /** Fails while the engine can't be reached. `health` calls it. */
  ping?(): unknown;
}

const COUNTS = { letters: 0, untaken: 0, adopted: 0, conflicts: 0, timeouts: 0 };

/**
 * What happened between this process and others: letters sent, and those that no process took; GET streams that moved
 * here; times that another process had changed something first; calls of stores that weren't answered in time.
 */
export type ClusterCounts = Record<keyof typeof COUNTS, number>;

/** What a server shares with other processes, for its transports. */
export class Sharing {
  readonly counts: ClusterCounts = { ...COUNTS };

  /**
   * @param cluster the engine, if there is one
   * @param lacks the options that the server lacks if other processes serve the same clients
   */
  constructor(
    readonly cluster: ClusterParts | undefined,
    readonly lacks: readonly string[],
  ) {}
}

/** Whether this is a worker of `node:cluster`. Not imported: only Node.js and its likes have the module. */
export function isWorker(): boolean {
  const cluster = process.getBuiltinModule?.('node:cluster') as { readonly isWorker?: boolean } | undefined;
  return cluster?.isWorker === true;
}
