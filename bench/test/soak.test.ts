import { afterEach, describe, expect, jest, test } from '@jest/globals';

import { Call } from '../src/soak/call.js';
import { growth } from '../src/soak/census.js';
import { Ledger } from '../src/soak/ledger.js';
import type { Figures } from '../src/soak/measured.js';
import { readOptions } from '../src/soak/options.js';
import { Random } from '../src/soak/random.js';
import { report } from '../src/soak/report.js';
import { SseReader } from '../src/soak/sse.js';

const answer = { jsonrpc: '2.0', id: 1, result: {} } as const;
const note = { jsonrpc: '2.0', method: 'notifications/progress', params: { progress: 1 } } as const;

afterEach(() => {
  jest.restoreAllMocks();
});

describe('a request', () => {
  const begin = () => {
    const ledger = new Ledger();
    return { ledger, call: new Call(1, 'ping', { name: 'client', ledger }) };
  };

  test('is answered once', async () => {
    const { call, ledger } = begin();
    call.receive(answer);
    expect(await call.answer).toBe(answer);
    ledger.balance();
    expect(ledger).toMatchObject({ calls: 1, answered: 1, abandoned: 0, failed: 0 });
  });

  test('fails the run if it is answered twice, or hears of progress after its answer', () => {
    const { call, ledger } = begin();
    call.receive(answer);
    call.receive(answer);
    call.note(note);
    expect(ledger.failures).toEqual([
      expect.stringContaining('client: ping 1 was answered twice'),
      expect.stringContaining('client: ping 1 got a notification after its answer'),
    ]);
  });

  test('may be answered once more after the client has abandoned it', () => {
    const { call, ledger } = begin();
    call.abandon();
    call.receive(answer);
    expect(ledger.failed).toBe(0);
    call.receive(answer);
    expect(ledger.failures).toEqual([expect.stringContaining('answered twice')]);
  });

  test('fails the run if it is lost', async () => {
    const { call, ledger } = begin();
    call.lose('was in flight');
    await expect(call.answer).rejects.toThrow('ping 1 was in flight');
    ledger.balance();
    expect(ledger.failures).toEqual([
      'client: ping 1 was in flight',
      'ledger: 1 of 1 requests were neither answered nor abandoned',
    ]);
  });

  test('tells when it has heard of progress', async () => {
    const { call } = begin();
    const noted = call.noted(2);
    call.note(note);
    call.note(note);
    await noted;
    expect(call.steps).toEqual([1, 1]);
    call.abandon();
  });
});

describe('a run', () => {
  const figures: Figures = {
    heap: 10_000_000,
    rss: 100_000_000,
    sessions: 0,
    running: 0,
    resources: { TCPServerWrap: 1 },
    listeners: { message: 1 },
  };
  const failuresOf = (last: Partial<Figures>, objects = 1): number => {
    jest.spyOn(console, 'log').mockReturnValue();
    jest.spyOn(console, 'error').mockReturnValue();
    const ledgers = [new Ledger(), new Ledger()] as const;
    for (const ledger of ledgers) Object.assign(ledger, { calls: 100_000, answered: 100_000 });
    const census = { before: new Map([['Session', 1]]), after: new Map([['Session', objects]]) };
    return report({ fresh: figures, between: figures, last: { ...figures, ...last }, ledgers, ...census });
  };

  test('passes when the second half leaves nothing behind but the noise of an idle heap', () => {
    expect(failuresOf({})).toBe(0);
    expect(failuresOf({ heap: 10_500_000 })).toBe(0);
  });

  test.each<[what: string, ...left: Parameters<typeof failuresOf>]>([
    ['8 bytes of heap a call', { heap: 10_800_000 }],
    ['more than a tenth of memory, and 24 MiB', { rss: 126_000_000 }],
    ['a session', { sessions: 1 }],
    ['a handler', { running: 1 }],
    ['a timer', { resources: { TCPServerWrap: 1, Timeout: 1 } }],
    ['a listener', { listeners: { message: 2 } }],
    ['objects of one class', {}, 201],
  ])('fails when it leaves %s behind', (_what, ...left) => {
    expect(failuresOf(...left)).toBe(1);
  });
});

test('the same seed gives the same numbers', () => {
  const draw = (seed: string) => {
    const random = new Random(seed);
    return Array.from({ length: 100 }, () => random.int(1, 6));
  };
  expect(draw('1')).toEqual(draw('1'));
  expect(draw('1')).not.toEqual(draw('2'));
  expect(new Set(draw('1'))).toEqual(new Set([1, 2, 3, 4, 5, 6]));
});

test('growth lists the classes with more objects than before, most first', () => {
  const after = new Map([
    ['A', 5],
    ['B', 30],
    ['C', 100],
  ]);
  expect(growth(new Map([['A', 5]]), after, 20)).toEqual([
    { name: 'C', before: 0, after: 100 },
    { name: 'B', before: 0, after: 30 },
  ]);
});

test('an event stream is read across chunks', () => {
  const events = new SseReader();
  expect(events.feed('id: a-1\ndata: {"a"')).toEqual([]);
  expect(events.feed(':1}\n\n: keep-alive\n\nid: a-2\n')).toEqual([
    { id: 'a-1', data: '{"a":1}' },
    { comment: 'keep-alive' },
  ]);
});

test('the length of a run must be a number', () => {
  expect(() => readOptions(['--minutes', 'long'])).toThrow('--minutes is "long", but must be a number above 0.');
  expect(readOptions(['--seed', '7'])).toMatchObject({ minutes: 10, seed: '7' });
});
