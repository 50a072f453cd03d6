/**
 * `npm run bench:dev`: measures how fast an edit reaches the clients of `decorum dev`, and how much memory and how many
 * processes 200 reloads leave behind. `-- times` and `-- reloads` measure only one of them: what reloads leave behind doesn't
 * depend on what else runs. Exits with 1 if a target is missed.
 *
 * The bars of time hold for a quiet machine. Before and after each edit, the bench measures how long Node.js takes to
 * start, and divides the time of the edit by how much longer than on a quiet machine that is. So a busy machine, which
 * slows both down, doesn't fail the bench, and a slow `decorum dev`, which slows only the edits down, does. The largest
 * time is left out: a machine may stall just between two measurements. A stall of `decorum dev` itself happens again.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

import { ROOT } from './workspace.js';

const EDITS = 31;
const RELOADS = 200;
/** Milliseconds between edits. A person would also leave the spare process this much time. */
const PAUSE_MS = 1000;
/** Milliseconds that `node -e 0` takes to start and end on the machine where the bars were set, if nothing else runs. */
const QUIET_START_MS = 60;
const BARS = { medianMs: 200, worstMs: 1000, grownMb: 20 };

const source = (/** @type {number} */ version) => `
import { McpServer, Tool } from '@decorum/core';
import { IsString } from 'class-validator';
class Place { @IsString() city!: string; }
class Weather {
  @Tool({ description: 'Forecast, version ${version}' }) forecast({ city }: Place) { return city; }
}
export const server = new McpServer({ name: 'weather', version: '1.0.0', providers: [Weather] });
`;

/** @returns {Promise<number>} */
async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

function createProject() {
  const folder = mkdtempSync(join(tmpdir(), 'decorum-bench-'));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  mkdirSync(join(folder, 'src'));
  writeFileSync(join(folder, 'package.json'), '{ "name": "weather", "version": "1.0.0", "type": "module" }');
  writeFileSync(join(folder, 'src/main.ts'), source(0));
  return folder;
}

/** A client with a session and an open stream. */
class Client {
  /** @type {(() => void) | undefined} */
  told;
  /** @type {string | undefined} */
  session;

  /** @param {string} url */
  constructor(url) {
    this.url = url;
  }

  /** @param {object} message */
  post(message) {
    return fetch(this.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(this.session && { 'mcp-session-id': this.session }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    });
  }

  async connect() {
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1.0.0' } };
    const response = await this.post({ id: 0, method: 'initialize', params });
    this.session = response.headers.get('mcp-session-id') ?? undefined;
    await this.post({ method: 'notifications/initialized' });
    const stream = await fetch(this.url, {
      headers: { accept: 'text/event-stream', 'mcp-session-id': this.session ?? '' },
    });
    void this.read(stream).catch(() => {});
  }

  /** @param {Response} stream */
  async read(stream) {
    const decoder = new TextDecoder();
    for await (const chunk of stream.body ?? []) {
      if (decoder.decode(chunk).includes('tools/list_changed')) this.told?.();
    }
  }

  /** @param {number} version */
  async serves(version) {
    const response = await this.post({ id: 1, method: 'tools/list' });
    return (await response.text()).includes(`version ${version}`);
  }
}

/** The child processes of a process. @param {number} parent */
function childrenOf(parent) {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return (
        readFileSync(`/proc/${pid}/stat`, 'utf8')
          .replace(/^.*\) /, '')
          .split(' ')[1] === String(parent)
      );
    } catch {
      return false;
    }
  });
}

/** Resident megabytes of an idle process: the least of some seconds, so that garbage counts as little as possible. */
async function megabytesOf(/** @type {number} */ pid) {
  let least = Infinity;
  for (let count = 0; count < 8; count += 1) {
    await wait(PAUSE_MS / 2);
    const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    least = Math.min(least, Number(kilobytes) / 1024);
  }
  return least;
}

/** How many times slower than a quiet machine this one is now; at least 1. */
async function slowness() {
  const began = performance.now();
  await once(spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' }), 'exit');
  return Math.max(1, (performance.now() - began) / QUIET_START_MS);
}

/** @param {readonly number[]} values */
const ascending = (values) => [...values].sort((a, b) => a - b);

/** @param {readonly number[]} values */
const medianOf = (values) => ascending(values)[Math.floor(values.length / 2)] ?? Infinity;

const folder = createProject();
const port = await freePort();
const main = join(ROOT, 'packages/cli/dist/main.js');
// with a small heap, V8 collects garbage often, so that garbage doesn't look like a leak
const SMALL_HEAP = ['--max-old-space-size=32', '--max-semi-space-size=1'];
const relay = spawn(process.execPath, [...SMALL_HEAP, main, 'dev', '--port', String(port)], {
  cwd: folder,
  stdio: ['ignore', 'ignore', 'pipe'],
});
const pid = relay.pid ?? 0;
await once(relay.stderr, 'data');
relay.stderr.resume();
const client = new Client(`http://127.0.0.1:${port}/mcp`);
await client.connect();
let version = 0;

/** Edits the program. Resolves with the milliseconds until the client was notified and got the new list. */
async function edit() {
  version += 1;
  const told = new Promise((resolve) => (client.told = () => resolve(undefined)));
  const began = performance.now();
  writeFileSync(join(folder, 'src/main.ts'), source(version));
  await told;
  if (!(await client.serves(version))) throw new Error(`The client was told of version ${version}, and got another.`);
  return performance.now() - began;
}

/** @typedef {[name: string, value: string, bar: string, isMet: boolean]} Row */

/** How long edits take. @returns {Promise<Row[]>} */
async function timeEdits() {
  /** @type {number[]} */
  const measured = [];
  /** The times as they would be on a quiet machine. @type {number[]} */
  const times = [];
  /** @type {number[]} */
  const factors = [];
  for (let count = 0, before = await slowness(); count < EDITS; count += 1) {
    await wait(PAUSE_MS * before);
    before = await slowness();
    const time = await edit();
    const factor = (before + (await slowness())) / 2;
    measured.push(time);
    factors.push(factor);
    times.push(time / factor);
  }
  const median = medianOf(times);
  const worst = ascending(times).at(-2) ?? Infinity;
  console.log(
    `Starting Node.js takes ${medianOf(factors).toFixed(2)} times as long as on a quiet machine (at most ` +
      `${Math.max(...factors).toFixed(2)}). Unscaled: median ${medianOf(measured).toFixed(0)} ms, worst ` +
      `${Math.max(...measured).toFixed(0)} ms.`,
  );
  return [
    ['median edit to served', `${median.toFixed(0)} ms`, `${BARS.medianMs} ms`, median <= BARS.medianMs],
    [`second worst of ${EDITS}`, `${worst.toFixed(0)} ms`, `${BARS.worstMs} ms`, worst <= BARS.worstMs],
  ];
}

/** What reloads leave behind. @returns {Promise<Row[]>} */
async function countLeft() {
  // what is loaded once is no leak
  while (version < EDITS) await edit();
  const before = await megabytesOf(pid);
  for (let count = 0; count < RELOADS; count += 1) await edit();
  const grown = (await megabytesOf(pid)) - before;
  const living = childrenOf(pid);
  return [
    [`growth over ${RELOADS} reloads`, `${grown.toFixed(1)} MB`, `${BARS.grownMb} MB`, grown < BARS.grownMb],
    ['processes of the program', `${living.length}`, '2', living.length === 2],
  ];
}

const part = process.argv[2];
const rows = [...(part === 'reloads' ? [] : await timeEdits()), ...(part === 'times' ? [] : await countLeft())];
const living = childrenOf(pid);
relay.kill('SIGTERM');
await once(relay, 'exit');
const orphans = living.filter((child) => readdirSync('/proc').includes(child));
rmSync(folder, { recursive: true });

rows.push(['processes after the end', `${orphans.length}`, '0', orphans.length === 0]);
for (const [name, value, bar, isMet] of rows)
  console.log(`${isMet ? '✔' : '✘'} ${name.padEnd(26)} ${value.padStart(8)}   (bar: ${bar})`);
if (rows.some(([, , , isMet]) => !isMet)) process.exitCode = 1;
