import { setImmediate as turn } from 'node:timers/promises';

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { type FrameKind, notificationFrame } from '../../src/protocol/frame.js';
import { LineReader } from '../../src/transports/line-reader.js';
import { Outbox } from '../../src/transports/outbox.js';
import { PendingChanges } from '../../src/transports/slow-reader.js';

function readerOf(limit = 1000) {
  const found: string[] = [];
  const reader = new LineReader(limit, {
    line: (text) => found.push(text),
    unreadable: ({ kind }) => found.push(`<${kind}>`),
  });
  const feed = (...chunks: (string | number[])[]) => {
    for (const chunk of chunks) reader.feed(typeof chunk === 'string' ? Buffer.from(chunk) : Buffer.from(chunk));
    return found;
  };
  return { found, reader, feed };
}

describe('A line reader', () => {
  it('finds the lines of a chunk, and ignores empty ones', () => {
    expect(readerOf().feed('{a}\n\n{b}\r\n \r\n\t\n{c}\n')).toEqual(['{a}', '{b}\r', '{c}']);
  });

  it('assembles a line from its parts', () => {
    const { feed } = readerOf();
    expect(feed('{a', 'b')).toEqual([]);
    expect(feed('c}\n{d', '}', '\n', '\n', '{e}\n{f}\n{g')).toEqual(['{abc}', '{d}', '{e}', '{f}']);
    expect(feed('}\n')).toHaveLength(5);
  });

  it('treats the rest as a line at the end', () => {
    const { found, reader, feed } = readerOf();
    feed('{a}\n{b}');
    reader.end();
    reader.end();
    expect(found).toEqual(['{a}', '{b}']);
  });

  it('rejects only the line that is not UTF-8', () => {
    const { feed } = readerOf();
    expect(feed([0x61, 0x0a, 0xff, 0x0a, 0x62, 0x0a])).toEqual(['a', '<parse-error>', 'b']);
    expect(feed([0xc3], [0x0a], [0xc3], [0xa9, 0x0a])).toEqual(['a', '<parse-error>', 'b', '<parse-error>', 'é']);
  });

  it.each([1, 3, 7, 64])('rejects a line over the limit once, in chunks of %i bytes', (size) => {
    const { found, reader } = readerOf(10);
    const bytes = Buffer.from(`${'a'.repeat(10)}\n${'b'.repeat(11)}\n${'c'.repeat(50)}\nd\n`);
    for (let start = 0; start < bytes.length; start += size) reader.feed(bytes.subarray(start, start + size));
    expect(found).toEqual(['a'.repeat(10), '<invalid-request>', '<invalid-request>', 'd']);
  });

  it('counts bytes, not characters, against the limit', () => {
    expect(readerOf(10).feed(`${'é'.repeat(5)}\n${'é'.repeat(6)}\n`)).toEqual(['ééééé', '<invalid-request>']);
  });

  it('does not buffer a line that is too long', () => {
    const { found, reader } = readerOf(4 * 1024 * 1024);
    const chunk = Buffer.alloc(65_536, 'x');
    reader.feed(chunk);
    const before = process.memoryUsage().arrayBuffers;
    for (let count = 0; count < 4096; count += 1) reader.feed(chunk);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 * 1024 * 1024);
    reader.feed(Buffer.from('\n{}\n'));
    expect(found).toEqual(['<invalid-request>', '{}']);
  });

  it('finds the same lines for any chunking', () => {
    const lines = fc.array(fc.oneof(fc.string({ unit: 'grapheme' }), fc.constant('x'.repeat(30))), { maxLength: 20 });
    const property = fc.property(lines, fc.infiniteStream(fc.integer({ min: 1, max: 9 })), (texts, sizes) => {
      const bytes = Buffer.from(texts.map((text) => `${text.replaceAll('\n', '')}\n`).join(''));
      const [whole, cut] = [readerOf(25), readerOf(25)];
      whole.reader.feed(bytes);
      let start = 0;
      while (start < bytes.length) {
        const size = sizes.next().value;
        cut.reader.feed(bytes.subarray(start, start + size));
        start += size;
      }
      expect(cut.found).toEqual(whole.found);
    });
    expect(() => fc.assert(property, { numRuns: 500 })).not.toThrow();
  });
});

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
