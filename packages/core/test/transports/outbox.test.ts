import { setImmediate as turn } from 'node:timers/promises';

import { describe, expect, it } from '@jest/globals';

import { notificationFrame, resultFrame } from '../../src/protocol/jsonrpc.js';
import { Outbox } from '../../src/transports/outbox.js';

function outboxOf(limit = 1000) {
  const writes: string[] = [];
  const pressure: boolean[] = [];
  const pending: ((error?: Error) => void)[] = [];
  const outbox = new Outbox({
    limit,
    write: (text, done) => {
      writes.push(text);
      pending.push(done);
    },
    onPressure: (slow) => pressure.push(slow),
  });
  return { outbox, writes, pressure, taken: (error?: Error) => pending.shift()?.(error) };
}

const progress = notificationFrame('notifications/progress', { progressToken: 1, progress: 1 });
const message = notificationFrame('notifications/message', { level: 'info', data: '' });
const changed = notificationFrame('notifications/tools/list_changed', {});
const big = resultFrame(1, { text: 'x'.repeat(2000) });

describe('An outbox', () => {
  it('writes once per turn of the event loop', async () => {
    const { outbox, writes, taken } = outboxOf();
    outbox.send('a');
    await Promise.resolve();
    outbox.send('b');
    expect(writes).toEqual([]);
    await turn();
    expect(writes).toEqual(['a\nb\n']);
    taken();
    await outbox.flushed();
    outbox.send('c');
    await turn();
    expect(writes).toEqual(['a\nb\n', 'c\n']);
  });

  it('does not write again before the last write is through', async () => {
    const { outbox, writes, taken } = outboxOf();
    outbox.send('a');
    await turn();
    outbox.send('b');
    outbox.send('c');
    await turn();
    expect(writes).toEqual(['a\n']);
    taken();
    expect(writes).toEqual(['a\n', 'b\nc\n']);
  });

  it('drops progress and log messages while the reader is slow, and nothing else', async () => {
    const { outbox, writes, pressure, taken } = outboxOf();
    outbox.send(progress);
    outbox.send(big);
    for (const frame of [progress, message, 'response', changed]) outbox.send(frame);
    expect(pressure).toEqual([true]);
    await turn();
    for (const frame of [progress, message, 'another']) outbox.send(frame);
    taken();
    expect(writes).toEqual([`${progress}\n${big}\nresponse\n${changed}\n`, 'another\n']);
    expect(pressure).toEqual([true, false]);
    outbox.send(progress);
    taken();
    expect(writes.at(-1)).toBe(`${progress}\n`);
  });

  it('announces the same change once while the reader is slow', async () => {
    const { outbox, writes, taken } = outboxOf();
    outbox.send(big);
    await turn();
    for (let count = 0; count < 100; count += 1) outbox.send(changed);
    taken();
    expect(writes.at(-1)).toBe(`${changed}\n`);
    // those are on their way: the next change is another
    for (let count = 0; count < 2; count += 1) outbox.send(changed);
    taken();
    expect(writes.at(-1)).toBe(`${changed}\n`);
    taken();
    for (let count = 0; count < 2; count += 1) outbox.send(changed);
    await turn();
    expect(writes.at(-1)).toBe(`${changed}\n${changed}\n`);
  });

  it('is flushed when everything is taken', async () => {
    const { outbox, taken } = outboxOf();
    await outbox.flushed();
    outbox.send('a');
    let flushed = false;
    const done = outbox.flushed().then(() => (flushed = true));
    await turn();
    expect(flushed).toBe(false);
    taken();
    expect(await done).toBe(true);
  });

  it('drops everything when a write fails', async () => {
    const { outbox, writes, taken } = outboxOf();
    outbox.send('a');
    await turn();
    outbox.send('b');
    taken(new Error('gone'));
    outbox.send('c');
    await outbox.flushed();
    await turn();
    expect(writes).toEqual(['a\n']);
  });
});
