import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { audit, recorder } from '@decorum/audit';
import { connectMemory, type Context, McpServer, type MemoryConnection, type PolicyOptions, Tool } from '@decorum/core';
import type { Plugin } from '@decorum/core/plugin';

import type { Entrant } from '../entrant.js';
import { interleave, quantile } from '../slices.js';
import { cpuMicros } from '../usage.js';

/** Calls that run at once. */
const AT_ONCE = 32;
const WARM_UP = 20_000;
const OTHERS = 'each call with other arguments';
const PLAN = 'each call shows a plan';
const BOTH = 'each plan is carried out by a second call';
const NEW_KEYS = 'each call has a new idempotency key';
const ONE_KEY = 'all calls have one idempotency key';

interface Row {
  readonly options: PolicyOptions & { readonly maxResultChars?: number; readonly idempotent?: string };
  /** The plugin of the server. */
  readonly plugin?: () => Plugin;
  /** What is special about the calls. */
  readonly how?: typeof OTHERS | typeof PLAN | typeof BOTH | typeof NEW_KEYS | typeof ONE_KEY;
  /** What the tool does before it returns. */
  readonly act?: (ctx: Context) => Promise<unknown>;
}

const KEY = 'a key that is only for measuring';

/** A file that is removed with this process. */
function logFile(name: string): string {
  folder ??= mkdtempSync(join(tmpdir(), 'decorum-prices-'));
  return join(folder, name);
}
let folder: string | undefined;

/** What is measured, by the names of the lines. */
export const ROWS: Readonly<Record<string, Row>> = {
  'no options': { options: {} },
  'no options, again': { options: {} },
  '`timeoutMs: 10_000`': { options: { timeoutMs: 10_000 } },
  '`concurrency: 100`, no call waits': { options: { concurrency: 100 } },
  '`concurrency: { perCaller: 100 }`': { options: { concurrency: { perCaller: 100 } } },
  '`concurrency: 1`, 31 of 32 calls wait': { options: { concurrency: 1 } },
  '`retry: { times: 2 }`, no call fails': { options: { retry: { times: 2 } } },
  '`breaker: true`, no call fails': { options: { breaker: true } },
  "`memoize: '1h'`, no result is kept yet": { options: { memoize: '1h' }, how: OTHERS },
  "`memoize: '1h'`, all results are kept": { options: { memoize: '1h' } },
  '`ctx.memory(…).get()`': { options: {}, act: (ctx) => ctx.memory<number>('count').get() },
  '`ctx.memory(…).update(…)`': { options: {}, act: (ctx) => ctx.memory<number>('count').update((now = 0) => now + 1) },
  '`maxResultChars: 20_000`': { options: { maxResultChars: 20_000 } },
  'the plugin `audit`, a function': { options: {}, plugin: () => audit({ key: KEY, write() {} }) },
  'the plugin `audit`, a file': { options: {}, plugin: () => audit({ key: KEY, write: logFile('audit.log') }) },
  'the plugin `audit`, a file with `sync`': {
    options: {},
    plugin: () => audit({ key: KEY, write: logFile('sync.log'), sync: true }),
  },
  'the plugin `recorder`, no call fails': { options: {}, plugin: () => recorder({ folder: tmpdir() }) },
  "`idempotent: '1s'`, no call has a key": { options: { idempotent: '1s' } },
  "`idempotent: '1s'`, each call has a new key": { options: { idempotent: '1s' }, how: NEW_KEYS },
  "`idempotent: '1h'`, all outcomes are recorded": { options: { idempotent: '1h' }, how: ONE_KEY },
  "`preview: 'plan'`, a plan, of a caller who has 100": { options: {}, how: PLAN },
  "`preview: 'plan'`, the same and the call that carries it out": { options: {}, how: BOTH },
};

/** The same tool, which shows its plan first. */
class Previewed {
  @Tool({ description: 'Is measured', input: { type: 'object' }, preview: 'plan' })
  // eslint-disable-next-line @typescript-eslint/require-await
  async tool() {
    return 'done';
  }

  plan() {
    return 'to be done';
  }
}

/** Calls an asynchronous tool with some options, over a connection in this process. */
class MemberEntrant implements Entrant {
  private connection: MemoryConnection | undefined;
  private sent = 0;
  /** Tickets by the calls that got them. */
  private readonly tickets = new Map<unknown, string>();

  constructor(private readonly row: Row) {}

  async prepare(): Promise<void> {
    const { options, plugin, how, act } = this.row;
    const plugins = plugin === undefined ? [] : [plugin()];
    const server = new McpServer({ name: 'prices', version: '1.0.0', plugins });
    const annotations = { readOnlyHint: true };
    if (how === PLAN || how === BOTH) server.addProvider(Previewed);
    else
      server.addTool(
        { name: 'tool', description: 'Is measured', input: { type: 'object' }, annotations, ...options },
        async (_input, ctx) => {
          if (act !== undefined) await act(ctx);
          return 'done';
        },
      );
    this.connection = await connectMemory(server, {
      receive: (message) => {
        const text = JSON.stringify(message);
        if (!text.includes('done') && this.sent > 0) throw new Error('A call failed.');
        const [, ticket] = (how === BOTH && /"dev\.decorum\/ticket":"(\w+)"/.exec(text)) || [];
        if (ticket !== undefined) this.tickets.set((message as { readonly id?: unknown }).id, ticket);
      },
    });
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'prices', version: '1' } };
    await this.connection.send({ jsonrpc: '2.0', id: 0, method: 'initialize', params });
    await this.connection.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  }

  async slice(calls: number): Promise<number> {
    const before = cpuMicros();
    for (let left = calls; left > 0; left -= AT_ONCE) {
      await Promise.all(Array.from({ length: Math.min(left, AT_ONCE) }, () => this.call()));
      // as between the requests of clients elsewhere: what waits for the event loop would never run
      await new Promise(setImmediate);
    }
    return cpuMicros() - before;
  }

  private async call(): Promise<void> {
    const id = await this.send({ n: this.row.how === OTHERS ? this.sent : 0 });
    const ticket = this.tickets.get(id);
    if (ticket !== undefined) await this.send({ n: 0, ticket });
    this.tickets.delete(id);
  }

  private async send(args: object): Promise<number> {
    const id = ++this.sent;
    const { how } = this.row;
    const key = how === NEW_KEYS ? `key-${id}` : how === ONE_KEY ? 'key' : undefined;
    const meta = key !== undefined && { _meta: { 'dev.decorum/idempotency-key': key } };
    const params = { name: 'tool', arguments: args, ...meta };
    await this.connection?.send({ jsonrpc: '2.0', id, method: 'tools/call', params });
    return id;
  }

  async finish(): Promise<void> {
    this.connection?.close();
  }
}

/** Measures what each option of members costs per call. */
export async function runOptions(): Promise<void> {
  const entrants = new Map(Object.entries(ROWS).map(([name, row]) => [name, new MemberEntrant(row)]));
  const costs = await interleave(entrants, WARM_UP);
  const costOf = (name: string) => quantile(costs.get(name) ?? [], 0.25);
  console.log('| a member with | more per call |\n|---|---|');
  for (const name of costs.keys()) {
    const cost = costOf(name);
    const shown =
      name === 'no options' ? `(${cost.toFixed(1)} µs in all)` : `${(cost - costOf('no options')).toFixed(1)} µs`;
    console.log(`| ${name} | ${shown} |`);
  }
  if (folder !== undefined) rmSync(folder, { recursive: true });
}
