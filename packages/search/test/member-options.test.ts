// Options of members that say how they are listed and called.
import { afterEach, describe, expect, it } from '@jest/globals';

import { NoInput } from '@decorum/core';
import { revisions } from '@decorum/testing';

import { callOf, clientOf, closeAll, found, textOf } from './clients.js';
import { shop } from './shop.js';

afterEach(closeAll);

describe.each(revisions)('a call through call_tool, in %s', (revision) => {
  it('may use an alias of its target', async () => {
    const server = shop({}, { tools: { pay_back: ['Pays an order back', ['order'], { aliases: ['refund'] }] } });
    const client = await clientOf(server, { revision });
    const direct = await client.callTool('refund', { order: '7' });
    expect(textOf(direct)).toBe('pay_back {"order":"7"}');
    expect(await callOf(client, 'refund', { order: '7' })).toEqual(direct);
  });

  it('may have a target that no list has, and no search finds', async () => {
    const server = shop({}, { tools: { secret_sale: ['Starts the secret sale', [], { listed: false }] } });
    const client = await clientOf(server, { revision });
    expect(await found(client, 'secret sale')).toEqual([]);
    expect(textOf(await callOf(client, 'secret_sale', {}))).toBe('secret_sale {}');
  });
});

it('a name of the two is taken by an alias, too', () => {
  expect(() => shop({}, { tools: { telephone: ['Rings', [], { aliases: ['call_tool'] }] } })).toThrow('call_tool');
});

it('limits of concurrency are those of the target', async () => {
  const server = shop();
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  server.addTool({ name: 'slow', input: NoInput, concurrency: { max: 1, queue: 0 } }, async () => {
    await ended;
    return 'done';
  });
  const client = await clientOf(server);
  const first = callOf(client, 'slow', {});
  expect(textOf(await callOf(client, 'slow', {}))).toMatch(/^Busy/);
  expect(textOf(await callOf(client, 'track_parcel', { parcel: '9' }))).toContain('9');
  end();
  expect(textOf(await first)).toBe('done');
});
