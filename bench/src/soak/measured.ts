import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Child } from '../child.js';

/** A question to the server process. */
export type Question = { readonly kind: 'figures' } | { readonly kind: 'snapshot'; readonly file: string };

/** The state of the server process when it should be idle. */
export interface Figures {
  /** Bytes of the heap that are in use after garbage collection. */
  readonly heap: number;
  /** Resident memory of the process, in bytes. */
  readonly rss: number;
  /** Sessions that have not ended, over all transports. */
  readonly sessions: number;
  /** Calls whose handler has not ended. */
  readonly running: number;
  /** Resources that keep the process alive, by kind. */
  readonly resources: Readonly<Record<string, number>>;
  /** Listeners of the process, by event. */
  readonly listeners: Readonly<Record<string, number>>;
}

/** By default, glibc keeps freed memory, depending on the order in which buffers were freed. */
const RETURNING = { MALLOC_MMAP_THRESHOLD_: '131072', MALLOC_TRIM_THRESHOLD_: '131072' };

let started = 0;

/** The measured server process. */
export class Measured {
  private constructor(
    private readonly child: Child,
    /** URL of the endpoint. */
    readonly url: URL,
    /** Path of the local socket that serves lines. */
    readonly pipe: string,
  ) {}

  static async start(): Promise<Measured> {
    const pipe = join(tmpdir(), `soak-${process.pid}-${(started += 1)}.sock`);
    // otherwise V8 drops code that several collections have found unused, which would look like memory of the clients
    const flags = ['--expose-gc', '--no-flush-bytecode'];
    const child = new Child({ file: 'soak/server.js', flags, env: { ...RETURNING, SOAK_PIPE: pipe } });
    const { url } = await child.next<{ readonly url: string }>();
    return new Measured(child, new URL(url), pipe);
  }

  /** Waits until the server is idle, and measures it. */
  async figures(): Promise<Figures> {
    return await this.child.ask<Figures>({ kind: 'figures' });
  }

  /** Writes a heap snapshot. */
  async snapshot(file: string): Promise<void> {
    await this.child.ask({ kind: 'snapshot', file });
  }

  async stop(): Promise<void> {
    await this.child.stop();
    rmSync(this.pipe, { force: true });
  }
}
