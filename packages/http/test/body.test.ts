import { setImmediate as turn } from 'node:timers/promises';
import { runInNewContext } from 'node:vm';
import { setFlagsFromString } from 'node:v8';

import { describe, expect, it } from '@jest/globals';

import { Bodies, type BodyLimits, BodyReader } from '../src/endpoint/body.js';
import { closing } from '../src/endpoint/http-error.js';
import { afterwards } from './fixture.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

class TestReader extends BodyReader {
  protected override readonly remoteAddress = '192.0.2.7';
  protected override stop() {}
}

const LIMITS = {
  bodyLimit: 1_000_000,
  bodyTimeoutMs: 20_000,
  maxUnfinishedBytes: 10_000_000,
  maxUnfinishedBytesPerAddress: 10_000_000,
  maxValues: 1000,
};

function createReader(headers: Record<string, string> = {}, limits: Partial<BodyLimits> = {}) {
  const bodies = new Bodies({ ...LIMITS, ...limits });
  afterwards(() => bodies.close(closing()));
  const answers: unknown[] = [];
  const body = (...answer: unknown[]) => void answers.push(answer);
  return { reader: new TestReader(bodies, { method: 'POST', headers }, { body }), answers, bodies };
}

/** Bytes that this process retains. */
function retained(): number {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

describe('a body in chunks of one byte', () => {
  it('takes a few bytes of memory for each, and is read correctly', async () => {
    const { reader, answers } = createReader();
    const count = 100_000;
    const before = retained();
    reader.push(Buffer.from('"'));
    for (let n = 0; n < count; n++) reader.push(Buffer.from(n === 500 ? '\u00e9' : 'x'));
    expect(retained() - before).toBeLessThan(20 * count);
    reader.push(Buffer.from('"'));
    reader.end();
    while (answers.length === 0) await turn();
    expect(answers).toEqual([[null, `${'x'.repeat(500)}\u00e9${'x'.repeat(count - 501)}`]]);
  });

  it('takes no memory for bytes that are only announced', () => {
    const announced = 200_000_000;
    const bodyLimit = announced;
    const { reader } = createReader({ 'content-length': `${announced}` }, { bodyLimit });
    reader.begin();
    const before = retained();
    for (const byte of 'ab') reader.push(Buffer.from(byte));
    // far above what the process allocates for itself meanwhile
    expect(retained() - before).toBeLessThan(announced / 10);
  });
});

describe('a large body that has arrived', () => {
  it('is not refused for its time when many others are parsed before', async () => {
    const { reader, answers, bodies } = createReader({}, { bodyTimeoutMs: 4 });
    const others = 12;
    // each takes a turn of its own, in which the timer may run once
    for (let n = 0; n < others; n += 1) {
      bodies.turns.add(() => {
        const until = performance.now() + 11;
        while (performance.now() < until);
      });
    }
    const body = JSON.stringify('x'.repeat(10_000));
    reader.push(Buffer.from(body));
    reader.end();
    while (answers.length === 0) await turn();
    expect(answers).toEqual([[null, JSON.parse(body)]]);
  });
});
