// Races between processes that have the same GET stream.
import { setImmediate as turn } from 'node:timers/promises';

import { describe, expect, it } from '@jest/globals';
import type { Kernel, Session } from '@decorum/core/transport';
import fc from 'fast-check';

import { MemoryCluster } from '../../../test/support/memory-cluster.js';
import { Letters } from '../src/cluster/letters.js';
import type { Sink, SinkOwner } from '../src/endpoint/http-context.js';
import { PendingCallbacks } from '../src/endpoint/pending-callbacks.js';
import { SlowReaders } from '../src/endpoint/slow-readers.js';
import type { SessionSettings } from '../src/sessions/session-settings.js';
import { SessionStreams } from '../src/sessions/session-streams.js';
import { StoreCalls } from '../src/sessions/store-calls.js';
import { EndingSinks } from '../src/streams/stream-parts.js';

const EVENT = /id: ((g[\w-]{8})\.(\w+)-(\d+))\ndata: (.*)\n/g;

/** One connection of a client, which takes everything at once. */
class Connection implements Sink {
  readonly slow = false;
  readonly backlog = 0;
  readonly left = 0;
  closed = false;
  private owner: SinkOwner | undefined;

  constructor(private readonly take: (text: string, from: Connection) => void) {}

  own(owner: SinkOwner): void {
    this.owner = owner;
  }

  start(): void {}

  write(text: string): boolean {
    this.take(text, this);
    return true;
  }

  end(text: string): void {
    this.write(text);
    this.destroy();
  }

  destroy(): void {
    if (this.closed) return;
    this.closed = true;
    this.owner?.closed(this);
  }
}

/** The streams of one session in several processes, and its client. */
class Race {
  readonly received = new Set<number>();
  /** The number of the last change before the client was told to read everything again. */
  covered = 0;
  sent = 0;
  private readonly cluster = new MemoryCluster();
  private readonly nodes: { readonly streams: SessionStreams; readonly kill: () => void }[] = [];
  private last: RegExpExecArray | undefined;
  private current: Connection | undefined;
  private readonly counts = { letters: 0, untaken: 0, adopted: 0, conflicts: 0, timeouts: 0 };

  constructor(count: number) {
    for (let n = 0; n < count; n += 1) this.nodes.push(this.node());
    this.current = this.connection();
    const stream = this.nodes[0]?.streams.open();
    stream?.attach(this.current);
    stream?.prime();
    stream?.flush();
  }

  /** All processes hear of a change. */
  change(): void {
    this.sent += 1;
    for (const { streams } of this.nodes) streams.push({ kind: 'notice', text: String(this.sent) });
  }

  kill(at: number): void {
    this.nodes[at % this.nodes.length]?.kill();
  }

  /** @param leaves whether the server learns that the earlier connection is gone */
  async resume(at: number, leaves: boolean): Promise<boolean> {
    const before = this.current;
    const opened = this.connection();
    this.current = opened;
    if (leaves) before?.destroy();
    const [, , id, node, position] = this.last as RegExpExecArray;
    const stream = this.nodes[at % this.nodes.length]?.streams.lost(id as string, node);
    return (await stream?.resume(Number(position), () => opened, node)) === true;
  }

  /** Whether the server has ended the client's connection. */
  get isCut(): boolean {
    return this.current?.closed === true;
  }

  stored(): number[] {
    const [, , id] = this.last as RegExpExecArray;
    return (this.cluster.events.read(`session/${id}`, 0) ?? []).map(({ frame }) => Number(frame));
  }

  private connection(): Connection {
    return new Connection((text, from) => {
      if (from !== this.current) return;
      for (const event of text.matchAll(EVENT)) {
        this.last = event;
        if (event[5] !== '') this.received.add(Number(event[5]));
      }
    });
  }

  private node() {
    const { counts } = this;
    const parts = this.cluster.node();
    const { courier, events } = parts;
    const report = () => {};
    const calls = { storeTimeoutMs: 60_000, maxStoreCalls: 1000, report, counts };
    const stores = new StoreCalls(new PendingCallbacks(), calls);
    const letters = new Letters({ courier, stores, counts, report });
    const readers = new SlowReaders({ maxTotalBufferedBytes: 1e9, readerTimeoutMs: 60_000 }, () => {});
    const settings = {
      kernel: { catchUp: () => void (this.covered = this.sent) } as unknown as Kernel,
      streams: { open: new Set(), ending: new EndingSinks(), maxBufferedBytes: 1e9, readers, hit: () => {} },
      events,
      letters,
      counts,
      stores,
      appends: stores,
      retryMs: 1,
      maxStreams: 100,
    } as unknown as SessionSettings;
    const session = { id: 'session', logKey: 'session', node: courier.node, state: {} as Session, report };
    const streams = new SessionStreams(
      { ...session, mayHaveMoved: true, isShared: true, primes: true, recheck() {} },
      settings,
    );
    letters.open((letter) => letter.kind === 'adopted' && streams.giveUp(letter.stream));
    return { streams, kill: () => this.cluster.kill(parts) };
  }
}

const at = fc.nat({ max: 2 });
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('change' as const) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('turns' as const), count: fc.integer({ min: 1, max: 6 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('resume' as const), at, leaves: fc.boolean(), waits: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('kill' as const), at }) },
);

describe('GET streams that move between two or three processes while changes happen', () => {
  it('lose no stored event, and no change of which their client is not told to read everything again', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 2, max: 3 }), fc.array(step, { maxLength: 40 }), async (count, steps) => {
        const race = new Race(count);
        const pending: Promise<boolean>[] = [];
        for (const each of steps) {
          if (each.kind === 'change') race.change();
          else if (each.kind === 'kill') race.kill(each.at);
          else if (each.kind === 'turns') for (let n = 0; n < each.count; n += 1) await turn();
          else {
            const resumed = race.resume(each.at, each.leaves);
            pending.push(resumed);
            if (each.waits) await resumed;
          }
        }
        expect(await Promise.all(pending)).not.toContain(false);
        const stored = race.stored();
        // a client comes back when its connection ends, but not for ever
        for (let time = 0; time < 5 && (time < 1 || race.isCut); time += 1) {
          expect(await race.resume(0, true)).toBe(true);
          if (time === 0) race.change();
          for (let n = 0; n < 200; n += 1) await turn();
        }
        expect(race.isCut).toBe(false);
        expect(stored.filter((n) => !race.received.has(n))).toEqual([]);
        const missed = Array.from({ length: race.sent }, (_, n) => n + 1).filter((n) => !race.received.has(n));
        expect(missed.filter((n) => n > race.covered)).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });
});
