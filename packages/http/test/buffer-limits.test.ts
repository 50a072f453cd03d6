// What may wait for readers and for answers, at each limit and one beyond.
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';

import type { ReachedLimit } from '@decorum/core';
import type { Frame } from '@decorum/core/transport';
import { describe, expect, it } from '@jest/globals';

import { EndingSinks } from '../src/streams/stream-parts.js';
import type { Sink } from '../src/endpoint/http-context.js';
import { type Reader, SlowReaders } from '../src/endpoint/slow-readers.js';
import { EventStream } from '../src/streams/stream.js';
import { call, modernCall, modernHeaders, post, request } from './fixture.js';
import { open, start, untilSlow } from './paused.js';

const MIB = 1_048_576;

/** A stream with a slow reader that has not taken some bytes. */
function createSlow(backlog: number, limits: { maxBufferedBytes: number; maxTotalBufferedBytes?: number }) {
  const { maxBufferedBytes, maxTotalBufferedBytes = MIB } = limits;
  const hits: string[] = [];
  const written: string[] = [];
  const hit = ({ limit }: ReachedLimit) => void hits.push(limit);
  const readers = new SlowReaders({ maxTotalBufferedBytes, readerTimeoutMs: 1000 }, hit);
  const stream = new EventStream({ open: new Set(), ending: new EndingSinks(), maxBufferedBytes, readers, hit });
  const sink: Sink & { slow: boolean } = {
    closed: false,
    backlog,
    left: 1,
    slow: true,
    own() {},
    start() {},
    write: (text) => written.push(text) > 0,
    end() {},
    destroy() {},
  };
  stream.attach(sink);
  readers.note(sink);
  /** Lets the reader catch up. Returns the texts that it gets. */
  const catchUp = () => {
    sink.slow = false;
    stream.drained(sink);
    sink.slow = true;
    return Array.from(
      written
        .splice(0)
        .join('')
        .matchAll(/data: (.*)/g),
      ([, text]) => text,
    );
  };
  return { stream, hits, catchUp };
}

const frame = (kind: Frame['kind'], text: string): Frame => ({ kind, text });

describe('a stream with a slow reader', () => {
  it.each(['progress', 'log'] as const)('takes %s until more than `maxBufferedBytes` wait', (kind) => {
    for (const [backlog, expected] of [
      [1000, ['a']],
      [1001, []],
    ] as const) {
      const { stream, hits, catchUp } = createSlow(backlog, { maxBufferedBytes: 1000 });
      stream.send(frame(kind, 'a'));
      expect(hits).toEqual(expected.length === 0 ? ['maxBufferedBytes'] : []);
      expect(catchUp()).toEqual(expected);
    }
  });

  it('counts what waits outside of the connection, in this tick and from earlier ones', () => {
    const { stream, hits, catchUp } = createSlow(0, { maxBufferedBytes: 100 });
    // an event has eight characters more
    stream.send(frame('response', 'x'.repeat(42)));
    stream.flush();
    stream.send(frame('progress', 'y'.repeat(42)));
    stream.send(frame('progress', 'z'));
    stream.send(frame('progress', 'too much'));
    expect(hits).toEqual(['maxBufferedBytes']);
    stream.send(frame('response', 'last'));
    expect(catchUp().map((text) => text?.at(0))).toEqual(['x', 'y', 'z', 'l']);
    // it has caught up, so it counts anew
    stream.send(frame('response', 'x'.repeat(100)));
    stream.send(frame('log', 'too much'));
    expect(hits).toEqual(['maxBufferedBytes', 'maxBufferedBytes']);
  });

  it('takes changes of `maxBufferedBytes` in all, and counts once when there are more', () => {
    const { stream, hits, catchUp } = createSlow(5000, { maxBufferedBytes: 10 });
    const send = (...texts: string[]) => {
      for (const text of texts) stream.send(frame('change', text));
    };
    send('aaaaa', 'bbbbb', 'aaaaa', 'bbbbb');
    expect(hits).toEqual([]);
    send('c', 'd');
    expect(hits).toEqual(['maxBufferedBytes']);
    expect(catchUp()).toEqual(['aaaaa', 'bbbbb']);
    send('c');
    expect(catchUp()).toEqual(['c']);
  });

  it('takes progress until 7/8 of `maxTotalBufferedBytes` would wait for all readers', () => {
    for (const [backlog, expected] of [
      [6999, ['a']],
      [7000, []],
    ] as const) {
      const { stream, hits, catchUp } = createSlow(backlog, { maxBufferedBytes: MIB, maxTotalBufferedBytes: 8000 });
      stream.send(frame('progress', 'a'));
      expect(hits).toEqual(expected.length === 0 ? ['maxTotalBufferedBytes'] : []);
      stream.send(frame('response', 'b'));
      expect(catchUp()).toEqual([...expected, 'b']);
    }
  });
});

describe('slow readers', () => {
  it('stay up to `maxTotalBufferedBytes`; one byte beyond, the one with the largest backlog is disconnected', () => {
    const hits: ReachedLimit[] = [];
    const readers = new SlowReaders({ maxTotalBufferedBytes: 1000, readerTimeoutMs: 1000 }, (hit) => hits.push(hit));
    const dropped: string[] = [];
    const reader = (name: string, backlog: number): Reader => ({ backlog, left: 1, destroy: () => dropped.push(name) });
    const small = reader('small', 300);
    readers.note(reader('large', 400));
    readers.note(small);
    readers.note(reader('medium', 300));
    expect([dropped, hits]).toEqual([[], []]);
    readers.note(small, 1);
    expect([dropped, hits]).toEqual([['large'], [{ limit: 'maxTotalBufferedBytes' }]]);
  });
});

describe('an HTTP+SSE session', () => {
  it.each([
    ['stays while 16 times `maxBufferedBytes` wait', 0],
    ['ends with the next message when one byte more waits', 1],
  ])('%s', async (_name, more) => {
    const { url, server, answers, hits } = await start({ legacySse: true, limits: { maxBufferedBytes: 1000 } });
    const input = { type: 'object', properties: { size: { type: 'number' } } };
    server.addTool({ name: 'say', input }, ({ size }: { size: number }) => 'x'.repeat(size));
    const stream = await open(new URL('/sse', url).href, {});
    const answer = answers[0] as ServerResponse;
    const [first] = (await once(stream.resume(), 'data')) as [Buffer];
    stream.pause();
    const messages = new URL(/^data: (.+)$/m.exec(String(first))?.[1] as string, url).href;
    const send = async (message: object) => (await post(messages, message)).status;
    const params = { protocolVersion: '2024-11-05', capabilities: {}, clientInfo: { name: 'a', version: '1' } };
    await send(request(0, 'initialize', params));
    await send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    // much more than sockets take
    await send(call(1, 'say', { size: 20 * MIB }));
    await untilSlow(answer);
    const event = (text: string) =>
      `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id: 2, result: { content: [{ type: 'text', text }] } })}\n\n`;
    expect(await send(call(2, 'say', { size: 16_000 - event('').length + more }))).toBe(202);
    expect([answer.destroyed, hits]).toEqual([false, []]);
    expect(await send(request(3, 'ping'))).toBe(202);
    expect([answer.destroyed, hits]).toEqual(more === 0 ? [false, []] : [true, [{ limit: 'maxBufferedBytes' }]]);
    expect(await send(request(4, 'ping'))).toBe(more === 0 ? 202 : 404);
  });
});

describe('the bodies of calls that wait', () => {
  const LARGE = 10_000;
  /** Sends a call with a body of this many bytes. Resolves with its answer. */
  const waitWith = async (url: string, bytes: number): Promise<IncomingMessage> => {
    const sized = (pad: number) => modernCall(1, 'wait', {}, { pad: 'x'.repeat(pad) });
    const message = sized(bytes - JSON.stringify(sized(0)).length);
    return await open(url, modernHeaders('tools/call', 'wait'), message);
  };

  it.each([
    ['maxUnfinishedBytesPerAddress', 429],
    ['maxUnfinishedBytes', 503],
  ])('may have %s in all; a byte more is refused, but small bodies are not', async (limit, status) => {
    for (const max of [2 * LARGE, 2 * LARGE - 1]) {
      const { url, probe, hits } = await start({ limits: { bodyLimit: LARGE, [limit]: max } });
      let began = once(probe, 'began');
      const answers = [waitWith(url, LARGE)];
      await began;
      began = once(probe, 'began');
      const second = waitWith(url, LARGE);
      if (max < 2 * LARGE) {
        const { statusCode, headers } = await second;
        expect([statusCode, headers['retry-after']]).toEqual([status, '10']);
        expect(hits).toEqual([{ limit, remoteAddress: '127.0.0.1' }]);
      } else {
        await began;
        expect(hits).toEqual([]);
        answers.push(second);
        expect((await waitWith(url, 4097)).statusCode).toBe(status);
        began = once(probe, 'began');
        answers.push(waitWith(url, 4096));
        await began;
      }
      probe.emit('go');
      for (const answer of answers) expect((await answer).statusCode).toBe(200);
      // they no longer count
      const add = modernCall(2, 'add', { a: 1, b: 2 }, { pad: 'x'.repeat(5000) });
      expect((await open(url, modernHeaders('tools/call', 'add'), add)).statusCode).toBe(200);
    }
  });
});
