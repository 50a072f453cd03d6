/**
 * The process of a program. It starts before it is needed, loads the modules that every program needs, and waits. When
 * the relay tells it to start, it runs the entry and reports where the program listens.
 */
import { open, close, url as inspectorUrl } from 'node:inspector';
import { register } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';

import { exportedServer, loadEntry } from '../../entry.js';
import { installLoader } from '../../loader/install.js';
import type { ChildMessage, ParentMessage, StandIn, StartMessage } from '../messages.js';
import { serveHttp, servePipe } from './exported.js';
import { failureOf } from './failure.js';
import { moveServers } from './listening.js';
import { coreOf, warmUp } from './warm.js';

const PATIENCE_MS = 3000;

const [entryUrl = '', transport = 'http', ...packages] = process.argv.splice(2);
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

function isServing(port?: number, asked?: Extract<ChildMessage, { type: 'serving' }>['asked']): void {
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
  toParent({ type: 'failed', failure: failureOf(error) } satisfies ChildMessage, undefined, undefined, done);
}

/** Reports when a stdio program begins to read stdin. The returned function tells whether it reads stdin now. */
function watchStdin(): () => boolean {
  const reads = () => ['data', 'readable'].some((event) => process.stdin.listenerCount(event) > 0);
  process.stdin.on('newListener', (event) => {
    if (transportOf() === 'stdio' && (event === 'data' || event === 'readable')) setImmediate(isServing);
  });
  return reads;
}

const transportOf = (): 'stdio' | 'http' => (transport === 'stdio' ? 'stdio' : 'http');

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
  await (transportOf() === 'stdio' ? servePipe(server) : serveHttp(server, port));
}

async function run(message: StartMessage, readsStdin: () => boolean): Promise<void> {
  if (message.inspect !== undefined) await inspect(message.inspect);
  let moved = 0;
  const { publicPort, defaultPort } = message;
  moveServers({
    publicPort,
    defaultPort,
    asking: () => (moved += 1),
    listening(port, asked, isFirst) {
      if (!isFirst) send({ type: 'also', port, asked });
      else if (transportOf() === 'http') isServing(port, asked);
    },
  });
  if (message.standIn) return standIn(message.standIn, defaultPort);
  const exports = await loadEntry(entry, message.args);
  sendFiles();
  const servesItself = () => (transportOf() === 'stdio' ? readsStdin() : moved > 0);
  if (servesItself()) return;
  const server = await exportedServer(exports);
  if (servesItself()) return;
  if (server === undefined) return wait(readsStdin);
  await (transportOf() === 'stdio' ? servePipe(server) : serveHttp(server, defaultPort));
}

/** Gives a program without an exported server time to start its own, then reports the problem. */
function wait(readsStdin: () => boolean): void {
  const timer = setTimeout(() => {
    if (serving) return;
    const other = transportOf() === 'http' && readsStdin() ? ' It reads stdin: run `decorum dev --stdio`.' : '';
    send({
      type: 'waiting',
      problem: `exports no server and ${transportOf() === 'http' ? 'listens to no port' : 'does not read stdin'} yet.${other || ' Export it as `server`.'}`,
    });
  }, PATIENCE_MS);
  timer.unref();
}

process.on('uncaughtException', fail);
const readsStdin = watchStdin();
process.on('message', (message: ParentMessage) => {
  if (message.type === 'inspect') return void inspect(message.address);
  // from now on only the program keeps the process alive
  process.channel?.unref();
  run(message, readsStdin).catch(fail);
});
await warmUp(entry, transportOf(), packages);
sendFiles();
send({ type: 'warm' });
