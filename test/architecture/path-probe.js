/**
 * `node path-probe.js <stdio|http> <stateful|stateless>`: serves one tool, warms it up, and prints the functions of our
 * packages that run during one more call: `{ "packages/core/src/kernel/kernel.ts": ["handle", …], … }`.
 */
import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { SourceMap } from 'node:module';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { McpServer, serveStdio, Tool } from '@decorum/core';
import { listen } from '@decorum/http';
import { IsIn, IsOptional, IsString, MaxLength } from 'class-validator';

const WARM_CALLS = 30;
const [transport, era] = process.argv.slice(2);

// Typical user classes. There is no compiler here, so the decorators are applied manually.
/** @type {(prototype: object, key: string, ...decorators: Function[]) => void} */
const decorate = (prototype, key, ...decorators) => {
  for (const each of decorators) each(prototype, key, Object.getOwnPropertyDescriptor(prototype, key));
};

class ForecastQuery {
  units = 'metric';
}
decorate(ForecastQuery.prototype, 'city', IsString(), MaxLength(80));
decorate(ForecastQuery.prototype, 'units', IsOptional(), IsIn(['metric', 'imperial']));

class Weather {
  /** @param {{ city: string }} query */
  async forecast({ city }) {
    return `7 degrees in ${city}`;
  }
}
const description = 'Tomorrow’s weather in a city';
decorate(Weather.prototype, 'forecast', Tool({ description, input: ForecastQuery }));

const server = new McpServer({ name: 'probe', version: '1.0.0', providers: [Weather] });

const INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'probe', version: '1.0.0' },
};
const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};
const CALL = {
  name: 'forecast',
  arguments: { city: 'Oslo' },
  ...(era === 'stateless' && { _meta: ENVELOPE }),
};

/** @typedef {(message: { id?: number, method: string, params?: object }) => Promise<string>} Post sends a message and returns the response */

/** @returns {Promise<Post>} */
async function overStdio() {
  const input = new PassThrough();
  const output = new PassThrough();
  const lines = createInterface(output)[Symbol.asyncIterator]();
  await serveStdio(server, { input, output });
  return async (message) => {
    input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    return message.id === undefined ? '' : (await lines.next()).value;
  };
}

/** @returns {Promise<Post>} */
async function overHttp() {
  const { url } = await listen(server, { port: 0 });
  /** @type {Record<string, string>} */
  const session = { 'mcp-protocol-version': era === 'stateless' ? '2026-07-28' : '2025-11-25' };
  return async (message) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...session,
        ...(era === 'stateless' && { 'mcp-method': message.method, 'mcp-name': CALL.name }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    });
    const id = response.headers.get('mcp-session-id');
    if (id !== null) session['mcp-session-id'] = id;
    return await response.text();
  };
}

const post = await (transport === 'stdio' ? overStdio() : overHttp());
if (era === 'stateful') {
  await post({ id: 0, method: 'initialize', params: INITIALIZE });
  await post({ method: 'notifications/initialized' });
}
let calls = 0;
/** Calls the tool once and waits until the server has finished. */
const call = async () => {
  const answer = await post({ id: ++calls, method: 'tools/call', params: CALL });
  if (!answer.includes('7 degrees in Oslo')) throw new Error(`The call failed: ${answer}`);
  await sleep(20);
};
for (let i = 0; i < WARM_CALLS; i++) await call();

const inspector = new Session();
inspector.connect();
await inspector.post('Profiler.enable');
await inspector.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
await call();
// reading the counts resets them, so only the next call is counted
await inspector.post('Profiler.takePreciseCoverage');
await call();
const { result } = await inspector.post('Profiler.takePreciseCoverage');

/**
 * Finds the source file of a function in a bundle with the bundle's source map.
 * @param {string} bundle
 * @returns {(offset: number) => string} a function that returns the path from the root
 */
function sourceFinder(bundle) {
  const text = readFileSync(bundle, 'utf8');
  const map = new SourceMap(JSON.parse(readFileSync(`${bundle}.map`, 'utf8')));
  return (offset) => {
    const before = text.slice(0, offset);
    const lineStart = before.lastIndexOf('\n') + 1;
    const entry = map.findEntry(before.split('\n').length - 1, offset - lineStart);
    if (!('originalSource' in entry))
      throw new Error(`${bundle}.map has no entry for ${text.slice(offset, offset + 80)}`);
    const source = fileURLToPath(new URL(entry.originalSource, pathToFileURL(bundle)));
    return source.slice(source.lastIndexOf('packages/'));
  };
}

/** @type {Record<string, string[]>} */
const ran = {};
for (const { url, functions } of result) {
  const called = functions.filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0);
  if (called.length === 0 || !/packages\/(?:core|http|schema)\/dist\//.test(url)) continue;
  const sourceOf = sourceFinder(fileURLToPath(url));
  for (const { functionName, ranges } of called) {
    (ran[sourceOf(ranges[0]?.startOffset ?? 0)] ??= []).push(functionName || '(anonymous)');
  }
}
process.stdout.write(JSON.stringify(ran));
process.exit(0);
