import { setImmediate as turn } from 'node:timers/promises';

import { describe, expect, it } from '@jest/globals';

import { type FrameKind, notificationFrame } from '../../src/protocol/frame.js';
import { Outbox } from '../../src/transports/outbox.js';
import { PendingChanges } from '../../src/transports/slow-reader.js';

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

const frame = (kind: FrameKind, text: string) => ({ kind, text });
const progress = frame('progress', 'progress');
const message = frame('log', 'message');
const changed = frame('change', 'changed');
const big = 'x'.repeat(2000);

describe('An outbox', () => {
  it('writes once per turn of the event loop', async () => {
    const { outbox, writes, taken } = outboxOf();
    outbox.write('a');
    await Promise.resolve();
    outbox.write('b');
    expect(writes).toEqual([]);
    await turn();
    expect(writes).toEqual(['a\nb\n']);
    taken();
    await outbox.flushed();
    outbox.write('c');
    await turn();
    expect(writes).toEqual(['a\nb\n', 'c\n']);
  });

  it('does not write again before the last write has finished', async () => {
    const { outbox, writes, taken } = outboxOf();
    outbox.write('a');
    await turn();
    outbox.write('b');
    outbox.write('c');
    await turn();
    expect(writes).toEqual(['a\n']);
    taken();
    expect(writes).toEqual(['a\n', 'b\nc\n']);
  });

  it('drops only progress and log messages while the reader is slow', async () => {
    const { outbox, writes, pressure, taken } = outboxOf();
    outbox.send(progress);
    outbox.write(big);
    for (const each of [progress, message, frame('response', 'response'), changed]) outbox.send(each);
    expect(pressure).toEqual([true]);
    await turn();
    for (const each of [progress, message, frame('notice', 'another')]) outbox.send(each);
    taken();
    expect(writes).toEqual([`progress\n${big}\nresponse\nchanged\n`, 'another\n']);
    expect(pressure).toEqual([true, false]);
    outbox.send(progress);
    taken();
    expect(writes.at(-1)).toBe('progress\n');
  });

  it('coalesces repeated changes while the reader is slow', async () => {
    const { outbox, writes, taken } = outboxOf();
    outbox.write(big);
    await turn();
    for (let count = 0; count < 100; count += 1) outbox.send(changed);
    taken();
    expect(writes.at(-1)).toBe('changed\n');
    // those are already sent, so the next change is a new one
    for (let count = 0; count < 2; count += 1) outbox.send(changed);
    taken();
    expect(writes.at(-1)).toBe('changed\n');
    taken();
    for (let count = 0; count < 2; count += 1) outbox.send(changed);
    await turn();
    expect(writes.at(-1)).toBe('changed\nchanged\n');
  });

  it('is flushed when everything is taken', async () => {
    const { outbox, taken } = outboxOf();
    await outbox.flushed();
    outbox.write('a');
    let flushed = false;
    const done = outbox.flushed().then(() => (flushed = true));
    await turn();
    expect(flushed).toBe(false);
    taken();
    expect(await done).toBe(true);
  });

  it('drops everything when a write fails', async () => {
    const { outbox, writes, taken } = outboxOf();
    outbox.write('a');
    await turn();
    outbox.write('b');
    taken(new Error('gone'));
    outbox.write('c');
    await outbox.flushed();
    await turn();
    expect(writes).toEqual(['a\n']);
  });
});

describe('A notification that a slow reader can do without', () => {
  it('follows from the method of a notification', () => {
    const kindOf = (method: string) => notificationFrame(`notifications/${method}`, {}).kind;
    const kinds = (...methods: string[]) => methods.map(kindOf);
    expect(kinds('progress', 'message')).toEqual(['progress', 'log']);
    expect(kinds('tools/list_changed', 'prompts/list_changed', 'resources/list_changed', 'resources/updated')).toEqual(
      Array(4).fill('change'),
    );
    expect(kinds('cancelled', 'subscriptions/acknowledged', 'progressive')).toEqual(Array(3).fill('notice'));
  });

  it('is a change that is already buffered or exceeds the buffer', () => {
    const changes = new PendingChanges(10);
    const admitted = ['aaaa', 'aaaa', 'bbbb', 'cccc'].map((text) => changes.admit({ kind: 'change', text }));
    expect(admitted).toEqual([true, false, true, false]);
  });
});
