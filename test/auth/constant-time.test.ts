// How API keys are compared. Time can't be measured reliably, so the comparisons are counted.
import * as crypto from 'node:crypto';

import { expect, it, jest } from '@jest/globals';

import { json, post, request } from '../../packages/http/test/fixture.js';

const compared: [number, number][] = [];
const timingSafeEqual: typeof crypto.timingSafeEqual = (a, b) => {
  compared.push([a.byteLength, b.byteLength]);
  return crypto.timingSafeEqual(a, b);
};
jest.unstable_mockModule('node:crypto', () => ({ ...crypto, timingSafeEqual }));

it('every API key, known or not, is compared with all digests, each in constant time', async () => {
  const { oauth } = await import('@decorum/auth');
  const { McpServer } = await import('@decorum/core');
  const { listen } = await import('@decorum/http');
  const keys = ['first', 'second', 'third'];
  const digestOf = (key: string) => ({ sha256: crypto.createHash('sha256').update(key).digest('hex') });
  const auth = oauth({ apiKeys: Object.fromEntries(keys.map((key) => [key, digestOf(key)])) });
  const server = new McpServer({ name: 'keys', version: '1.0.0', logger: { warn: () => {}, error: () => {} } });
  const { url } = await listen(server, { auth, port: 0, signals: false });
  for (const key of [...keys, 'unknown', 'f', 'x'.repeat(1000)]) {
    compared.length = 0;
    const answer = await post(url, request(1, 'ping'), { authorization: `Bearer ${key}` });
    await json(answer);
    expect([key, answer.status === 401, compared]).toEqual([
      key,
      !keys.includes(key),
      [
        [32, 32],
        [32, 32],
        [32, 32],
      ],
    ]);
  }
  await server.close();
});
