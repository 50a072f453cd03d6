import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { LineReader } from '../../src/transports/line-reader.js';

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
