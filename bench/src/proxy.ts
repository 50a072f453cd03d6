// What a proxied call costs: `node bench/dist/proxy.js`. CPU of the process of the proxy, of a server that adds itself, and of a
// client alone, in slices that take turns.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

import { type Client, connectClient, proxy } from '@decorum/client';
import { McpServer } from '@decorum/core';
import { listen } from '@decorum/http';
import { IsInt } from 'class-validator';

import { quantile } from './slices.js';
import { cpuMicros } from './usage.js';

const SLICES = 60;
const CALLS = 300;
const BAR = 2.5;

class Numbers {
  @IsInt() a!: number;
  @IsInt() b!: number;
}

async function times(client: Client, calls = CALLS): Promise<void> {
  for (let n = 0; n < calls; n += 1) await client.callTool('add', { a: 1, b: 2 });
}

function serverOf(role: string, upstream: string | undefined): McpServer {
  const providers = upstream === undefined ? [] : [proxy(upstream)];
  const server = new McpServer({ name: role, version: '1.0.0', providers });
  if (upstream === undefined) server.addTool({ name: 'add', input: Numbers }, ({ a, b }) => `${a + b}`);
  return server;
}

/** A server, or a client that calls when it is told to. Each message is answered with the CPU used so far. */
async function child(role: string, upstream: string | undefined): Promise<void> {
  const client = role === 'client' ? await connectClient(String(upstream)) : undefined;
  const url = client ? '' : (await listen(serverOf(role, upstream), { port: 0 })).url;
  process.on('message', (calls: number) => {
    void (async () => {
      if (client !== undefined) await times(client, calls);
      process.send?.(cpuMicros());
    })();
  });
  process.send?.(String(url));
}

class Process {
  private constructor(
    private readonly forked: ChildProcess,
    readonly url: string,
  ) {}

  static async start(role: string, upstream = ''): Promise<Process> {
    const forked = fork(new URL(import.meta.url), [role, upstream]);
    return new Process(forked, String(((await once(forked, 'message')) as [string])[0]));
  }

  /** CPU of the process so far, once it has made the calls. */
  async cpu(calls = 0): Promise<number> {
    this.forked.send(calls);
    return ((await once(this.forked, 'message')) as [number])[0];
  }

  stop(): void {
    this.forked.kill();
  }
}

/** CPU of a process for each of the calls that are made meanwhile. */
async function slice(process: Process, calls: () => Promise<unknown>): Promise<number> {
  const begun = await process.cpu();
  await calls();
  return ((await process.cpu()) - begun) / CALLS;
}

async function run(): Promise<void> {
  const upstream = await Process.start('upstream');
  const direct = await Process.start('direct');
  const proxied = await Process.start('proxy', upstream.url);
  const alone = await Process.start('client', upstream.url);
  const clients = { direct: await connectClient(direct.url), proxied: await connectClient(proxied.url) };
  const slices: (readonly [direct: number, client: number, proxied: number])[] = [];
  for (let n = 0; n < SLICES; n += 1) {
    const own = await slice(direct, () => times(clients.direct));
    const client = await slice(alone, () => alone.cpu(CALLS));
    slices.push([own, client, await slice(proxied, () => times(clients.proxied))]);
  }
  // the first ones warm up
  const warm = slices.slice(SLICES / 4);
  const middle = (of: (each: (typeof warm)[number]) => number) => quantile(warm.map(of), 0.5);
  const beyond = middle(([own, client, there]) => (there - client) / own);
  console.log(
    `A direct add ${middle(([own]) => own).toFixed(0)} µs, a client alone ${middle(([, client]) => client).toFixed(0)} µs, ` +
      `a proxied add ${middle(([, , there]) => there).toFixed(0)} µs: ` +
      `the client and ${beyond.toFixed(2)} times a direct one (bar ${BAR})`,
  );
  for (const process of [upstream, direct, proxied, alone]) process.stop();
  process.exit(beyond <= BAR ? 0 : 1);
}

const [role, upstream] = process.argv.slice(2);
await (role === undefined ? run() : child(role, upstream === '' ? undefined : upstream));
