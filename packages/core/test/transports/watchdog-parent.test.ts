// A file of its own: the module must not be loaded before the test.
import { PassThrough } from 'node:stream';

import { expect, it, jest } from '@jest/globals';

it('The watchdog of a stdio server knows the client that started it, even if that has ended before it starts (#22)', async () => {
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
  parentIs(500);
  const { startWatchdog } = await import('../../src/transports/watchdog.js');
  parentIs(1);
  const stop = await startWatchdog(new PassThrough(), { graceMs: 1, pollMs: 1 });
  expect(threads).toMatchObject([{ workerData: { ppid: 500 } }]);
  stop();
});
