import { clearTimeout, setTimeout } from 'node:timers';

import type { ReachedLimit } from '@decorum/core';

import type { Sink } from '../endpoint/http-context.js';
import type { SlowReaders } from '../endpoint/slow-readers.js';

/** A stream with a reader. */
export interface OpenStream {
  /** Sends something if nothing else is waiting for the reader. */
  keepAlive(): void;
}

/** The ended responses that clients may not have received completely yet. */
export class EndingSinks extends Set<Sink> {
  private onEmpty = () => {};

  override delete(sink: Sink): boolean {
    const isDeleted = super.delete(sink);
    if (this.size === 0) this.onEmpty();
    return isDeleted;
  }

  /** Resolves when clients have received all of them, or after `limitMs`. */
  async delivered(limitMs: number): Promise<void> {
    if (this.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, limitMs);
      this.onEmpty = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** What all streams of an endpoint share. */
export interface StreamParts {
  /** The streams with a reader. */
  readonly open: Set<OpenStream>;
  readonly ending: EndingSinks;
  /** Bytes to buffer for a slow reader before dropping progress and log messages. Changes may take up as much again. */
  readonly maxBufferedBytes: number;
  /** The readers that are behind. */
  readonly readers: SlowReaders;
  /** Reports a limit that a client has reached. */
  readonly hit: (hit: ReachedLimit) => void;
}
