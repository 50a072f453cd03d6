/**
 * The process of a program. It starts before it is needed, loads the modules that every program needs, and waits. When
 * the relay tells it to start, it runs the entry and reports where the program listens.
 */
import { subscribe } from 'node:diagnostics_channel';
import { open, close, url as inspectorUrl } from 'node:inspector';
import { register } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';

import { exportedServer, loadEntry } from '../../entry.js';
import { loadFailure } from '../../failures.js';
import { installLoader } from '../../loader/install.js';
import type { Asked, ChildMessage, ParentMessage, StandIn, StartMessage } from '../messages.js';
import { serveHttp, servePipe } from './exported.js';
import { moveServers } from './listening.js';
import { watchReads } from './reads.js';
import { coreOf, warmUp } from './warm.js';

const PATIENCE_MS = 3000;

const [entryUrl = '', given, ...packages] = process.argv.splice(2);
const transport = given === 'stdio' ? 'stdio' : 'http';
const entry = fileURLToPath(entryUrl);
const toParent = process.send?.bind(process);
// hide the IPC channel from the program
Object.defineProperty(process, 'send', { value: undefined, configurable: true });

let serving = false;
const seen = new Set<string>();

function send(message: ChildMessage): void {
  if (process.connected) toParent?.(message);
}

/** Reports the files that the program has imported or required so far. */
function sendFiles(): void {
  const urls: string[] = [];
  const names: string[] = [];
  for (let each; (each = receiveMessageOnPort(loaded));) {
    const message = each.message as string | { readonly name: string };
    if (typeof message === 'string') urls.push(message);
    else names.push(message.name);
  }
  if (names.length > 0) send({ type: 'packages', names });
  for (const file of installLoader().files()) {
    if (seen.has(file)) continue;
    seen.add(file);
    urls.push(pathToFileURL(file).href);
  }
  if (urls.length > 0) send({ type: 'files', urls });
}

const { port1: loaded, port2 } = new MessageChannel();
register('./hooks.js', { parentURL: import.meta.url, data: { port: port2, entry: entryUrl }, transferList: [port2] });

function isServing(port?: number, asked?: Asked): void {
  if (serving) return;
  serving = true;
  process.off('uncaughtException', fail);
  sendFiles();
  send({ type: 'serving', ...(port !== undefined && { port }), ...(asked && { asked }) });
  // the program may load more files later
  setInterval(sendFiles, 250).unref();
}

function fail(error: unknown): void {
  sendFiles();
  const done = () => process.exit(1);
  if (!toParent || !process.connected) return done();
  const { message: problem } = loadFailure({ file: entry, sources: installLoader().files() }, error);
  toParent({ type: 'failed', problem } satisfies ChildMessage, undefined, undefined, done);
}

/** Reports when a stdio program begins to read stdin. The returned function tells whether it reads stdin now. */
function watchStdin(): () => boolean {
  const reads = () => ['data', 'readable'].some((event) => process.stdin.listenerCount(event) > 0);
  process.stdin.on('newListener', (event) => {
    if (transport === 'stdio' && (event === 'data' || event === 'readable')) setImmediate(isServing);
  });
  return reads;
}

/** Opens the debugger once the previous program has closed its own. Without an address, closes it. */
async function inspect(address: string | undefined): Promise<void> {
  if (address === undefined) return close();
  const [host, port] = address.split(/:(?=\d+$)/);
  for (let tries = 0; tries < 50 && inspectorUrl() === undefined; tries += 1) {
    open(Number(port), host);
    if (inspectorUrl() === undefined) await sleep(20);
  }
}

async function standIn({ name, version }: StandIn, port: number): Promise<void> {
  const { McpServer } = await coreOf();
  const server = new McpServer({ name, version });
  await (transport === 'stdio' ? servePipe(server) : serveHttp(server, port));
}

async function run(message: StartMessage, readsStdin: () => boolean): Promise<void> {
  if (message.inspect !== undefined) await inspect(message.inspect);
  let moved = 0;
  const { publicPort, defaultPort } = message;
  moveServers({
    publicPort,
    defaultPort,
    asking: () => (moved += 1),
    listening(port, asked) {
      if (transport === 'http') isServing(port, asked);
    },
  });
  if (message.standIn) return standIn(message.standIn, defaultPort);
  if (transport === 'http') watchReads(process.cwd(), (file) => send({ type: 'read', file }));
  const exports = await loadEntry(entry, message.args);
  sendFiles();
  const servesItself = () => (transport === 'stdio' ? readsStdin() : moved > 0);
  if (servesItself()) return;
  const server = await exportedServer(exports);
  if (servesItself()) return;
  if (server === undefined) return wait(readsStdin);
  await (transport === 'stdio' ? servePipe(server) : serveHttp(server, defaultPort));
}

/** Gives a program without an exported server time to start its own, then reports the problem. */
function wait(readsStdin: () => boolean): void {
  const timer = setTimeout(() => {
    if (serving) return;
    const missing = transport === 'http' ? 'listens to no port' : 'does not read stdin';
    const isForStdio = transport === 'http' && readsStdin();
    const remedy = isForStdio ? 'It reads stdin: run `decorum dev --stdio`.' : 'Export it as `server`.';
    send({ type: 'waiting', problem: `exports no server and ${missing} yet. ${remedy}` });
  }, PATIENCE_MS);
  timer.unref();
}

// `fileStore` of @decorum/auth-server publishes to it
subscribe('decorum:folder-busy', () => send({ type: 'blocked' }));
process.on('uncaughtException', fail);
const readsStdin = watchStdin();
process.on('message', (message: ParentMessage) => {
  if (message.type === 'inspect') return void inspect(message.address);
  // from now on only the program keeps the process alive
  process.channel?.unref();
  run(message, readsStdin).catch(fail);
});
await warmUp(entry, transport, packages);
sendFiles();
send({ type: 'warm' });
