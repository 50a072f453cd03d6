import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';

import { describe, expect, it } from '@jest/globals';

import { Bodies } from '../src/dev/http/bodies.js';

const MIB = 1024 * 1024;

function arriving(headers: Record<string, string> = {}) {
  const stream = new PassThrough({ highWaterMark: 32 * MIB });
  const controller = new AbortController();
  const request = Object.assign(stream, { headers }) as unknown as IncomingMessage;
  return { stream, request, gone: controller.signal, leave: () => controller.abort() };
}

async function rest(stream: PassThrough): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

describe('the bodies that wait in decorum dev', () => {
  it('are capped all together, until their clients leave (#22)', async () => {
    const bodies = new Bodies();
    const waiting = Array.from({ length: 4 }, () => arriving());
    const read = waiting.map(({ request, gone }) => bodies.read(request, gone));
    for (const { stream } of waiting) stream.write(Buffer.alloc(16 * MIB, ' '));
    const more = arriving();
    more.stream.end('{}');
    await expect(bodies.read(more.request, more.gone)).resolves.toBe('busy');
    await expect(rest(more.stream)).resolves.toEqual(Buffer.from('{}'));
    const [first] = waiting;
    first?.stream.end();
    await expect(read[0]).resolves.toMatchObject({ written: undefined });
    first?.leave();
    const next = arriving();
    next.stream.end('{}');
    await expect(bodies.read(next.request, next.gone)).resolves.toMatchObject({ bytes: Buffer.from('{}') });
  });

  it('can be passed on from their first byte if they are too large (#22)', async () => {
    const { stream, request, gone } = arriving();
    const read = new Bodies().read(request, gone);
    stream.write('first');
    stream.end(Buffer.alloc(16 * MIB, 'x'));
    await expect(read).resolves.toBe('too large');
    const all = await rest(stream);
    expect(all.subarray(0, 6).toString()).toBe('firstx');
    expect(all).toHaveLength(16 * MIB + 5);
  });

  it('are not read at all if they announce that they are too large (#22)', async () => {
    const { request, gone } = arriving({ 'content-length': String(16 * MIB + 1) });
    await expect(new Bodies().read(request, gone)).resolves.toBe('too large');
  });

  it('hold no message unless they are UTF-8 (#22)', async () => {
    const { stream, request, gone } = arriving();
    stream.end(Buffer.concat([Buffer.from('{"jsonrpc":"2.0","method":"'), Buffer.from([0xff]), Buffer.from('"}')]));
    await expect(new Bodies().read(request, gone)).resolves.toMatchObject({ written: undefined });
  });
});
