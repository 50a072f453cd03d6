import type { ReachedLimit } from '@decorum/core';

import type { Sink } from '../endpoint/http-context.js';
import type { SlowReaders } from '../endpoint/slow-readers.js';

/** A stream with a reader. */
export interface OpenStream {
  /** Sends something if nothing else is waiting for the reader. */
  keepAlive(): void;
}

/** State shared by all streams of an endpoint. */
export interface StreamSettings {
  /** The streams with a reader. */
  readonly open: Set<OpenStream>;
  /** The ended responses that clients may not have received completely yet. */
  readonly ending: Set<Sink>;
  /** Bytes to buffer for a slow reader before dropping progress and log messages. Changes may take up as much again. */
  readonly maxBufferedBytes: number;
  /** The readers that are behind. */
  readonly readers: SlowReaders;
  /** Reports a limit that a client has reached. */
  readonly hit: (hit: ReachedLimit) => void;
  /** Called when `ending` becomes empty. */
  delivered?: (() => void) | undefined;
}
