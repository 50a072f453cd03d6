import { PassThrough } from 'node:stream';
import { runInNewContext } from 'node:vm';

import { describe, expect, it, jest } from '@jest/globals';

const [CLIENT, INIT] = [500, 1];

const threads: { readonly workerData: object }[] = [];

class Worker {
  constructor(_code: string, options: { readonly workerData: object }) {
    threads.push(options);
  }

  on() {
    return this;
  }

  unref() {}

  terminate() {}
}

jest.unstable_mockModule('node:worker_threads', () => ({ Worker }));
const parentIs = (value: number) => Object.defineProperty(process, 'ppid', { value, configurable: true });
parentIs(CLIENT);
const { startWatchdog, WATCH } = await import('../../src/transports/watchdog.js');
parentIs(INIT);
const POLL_MS = 10;

/** Runs the code of the thread in a process with a fake clock, a parent and a main thread. */
function watched(graceMs: number) {
  const killed: unknown[][] = [];
  const process = { ppid: CLIENT, pid: 700, kill: (...args: unknown[]) => killed.push(args) };
  const main = { isBlocked: false, hasEnded: false, asked: 0 };
  const clock = { now: 0 };
  let tick = () => {};
  let receive = (_isEnd: boolean) => {};
  const parentPort = {
    on: (_event: string, listener: typeof receive) => (receive = listener),
    postMessage() {
      main.asked += 1;
      if (!main.isBlocked) receive(main.hasEnded);
    },
  };
  runInNewContext(WATCH, {
    require: () => ({ parentPort, workerData: { ppid: CLIENT, graceMs, pollMs: POLL_MS } }),
    setInterval: (each: () => void) => (tick = each),
    performance: { now: () => clock.now },
    process,
  });
  return {
    process,
    main,
    killed,
    endInput: () => receive((main.hasEnded = true)),
    pass(ms: number) {
      const end = clock.now + ms;
      while (clock.now < end) {
        clock.now += POLL_MS;
        tick();
      }
    },
  };
}

describe('The watchdog of a stdio server', () => {
  it('knows the client that started the server, even if that has ended before the watchdog starts (#22)', async () => {
    const stop = await startWatchdog(new PassThrough(), { graceMs: 1, pollMs: 1 });
    expect(threads).toMatchObject([{ workerData: { ppid: CLIENT } }]);
    stop();
  });

  it('leaves a process alone whose client lives, however long its event loop is blocked (#22)', () => {
    const { main, killed, pass } = watched(100);
    main.isBlocked = true;
    pass(10_000);
    expect([killed, main.asked]).toEqual([[], 0]);
  });

  it('kills a process that is blocked when its client dies (#22)', () => {
    const { process, main, killed, pass } = watched(100);
    main.isBlocked = true;
    pass(1000);
    process.ppid = INIT;
    pass(100);
    expect(killed).toEqual([]);
    pass(20);
    expect(killed).toContainEqual([700, 'SIGKILL']);
  });

  it('leaves a process alone that takes its time to close, and kills it if it is blocked meanwhile (#22)', () => {
    const { process, main, killed, endInput, pass } = watched(100);
    process.ppid = INIT;
    endInput();
    pass(10_000);
    expect(killed).toEqual([]);
    main.isBlocked = true;
    pass(120);
    expect(killed).toContainEqual([700, 'SIGKILL']);
  });

  it('kills a process that is blocked after the end of stdin, also where the parent seems to live (#22)', () => {
    const { main, killed, endInput, pass } = watched(100);
    endInput();
    main.isBlocked = true;
    pass(120);
    expect(killed).toContainEqual([700, 'SIGKILL']);
  });

  it('leaves a process alone whose launcher has exited while its client lives (#22)', () => {
    const { process, main, killed, pass } = watched(100);
    process.ppid = INIT;
    pass(200);
    main.isBlocked = true;
    pass(10_000);
    expect(killed).toEqual([]);
  });
});
