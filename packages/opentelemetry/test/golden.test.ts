// Golden files: everything that a conversation leaves behind, in both eras, over stdio and HTTP. To write them again, run
// the test with UPDATE_GOLDEN=1, and read the difference.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { connect, type TestClient } from '@decorum/testing';
import { telemetry } from '@decorum/opentelemetry';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { portrait, Sdk, TRACEPARENT } from './sdk.js';
import { type Weather, weatherServer } from './weather.js';

const GOLDEN = join(import.meta.dirname, 'golden');
const META = { meta: { traceparent: TRACEPARENT } };

let sdk: Sdk;
beforeEach(() => {
  sdk = new Sdk().register();
});
afterEach(() => sdk.shutdown());

const failing = (promise: Promise<unknown>) => expect(promise).rejects.toBeInstanceOf(Error);

async function converse(client: TestClient, weather: Weather): Promise<void> {
  await client.listTools();
  await client.callTool('forecast', { city: 'Oslo' }, META);
  await client.callTool('forecast', { city: 7 });
  await client.callTool('refuse', { city: 'Rome' });
  await client.callTool('crash', { city: 'Rome' });
  await client.callTool('book', { city: 'Oslo' }, META);
  await failing(client.callTool('none', {}));
  await failing(client.request('none/none', {}));
  await client.readResource('weather://oslo/today', META);
  await failing(client.readResource('weather://broken'));
  await client.getPrompt('pack', { city: 'Oslo' });
  await client.complete({ prompt: 'pack' }, { name: 'city', value: 'O' });
  await cancel(client, weather);
}

async function cancel(client: TestClient, weather: Weather): Promise<void> {
  const controller = new AbortController();
  weather.onWait = () => controller.abort(new Error('enough'));
  const aborted = new Promise<void>((resolve) => {
    weather.onAbort = resolve;
  });
  await failing(client.callTool('wait', { city: 'Oslo' }, { signal: controller.signal }));
  await aborted;
}

describe.each(['stateful', 'stateless'] as const)('A %s conversation', (era) => {
  it.each(['stdio', 'http'] as const)('over %s leaves the spans and metrics of its golden file', async (via) => {
    const { server, weather } = weatherServer([telemetry()]);
    const client = await connect(server, {
      via,
      era,
      onElicit: () => ({ action: 'accept', content: { answer: true } }),
    });
    if (era === 'stateless') await client.request('server/discover', {});
    await converse(client, weather);
    await client.close();
    await server.close();

    const file = join(GOLDEN, `${era}-${via}.json`);
    const text = `${JSON.stringify(await portrait(sdk), undefined, 2)}\n`;
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(file, text);
    expect(JSON.parse(text)).toEqual(JSON.parse(readFileSync(file, 'utf8')));
  });
});
