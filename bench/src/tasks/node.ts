// A server with tasks in its own process, which tests kill and stop. It notes in a file what its handlers do.
import { appendFileSync } from 'node:fs';
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';

import { type Context, McpServer } from '@decorum/core';
import { listen } from '@decorum/http';
import { redis } from '@decorum/redis';
import { fileTasks, tasks } from '@decorum/tasks';
import { IsInt, IsString } from 'class-validator';

/** Settings of a process. */
export interface TaskNodeSettings {
  /** The URL of Redis; undefined for a store in files. */
  readonly redis?: string;
  /** The folder of the store in files. */
  readonly folder: string;
  /** The file for notes. */
  readonly notes: string;
  /** 0 for a free one. */
  readonly port: number;
  readonly leaseMs: number;
}

class Named {
  @IsString() name!: string;
}

class Paced extends Named {
  /** Milliseconds that each effect takes. */
  @IsInt() paceMs!: number;
}

const settings = JSON.parse(process.env['TASK_NODE'] ?? '') as TaskNodeSettings;
const engine = settings.redis === undefined ? undefined : redis(settings.redis);
const note = (...words: readonly unknown[]) => appendFileSync(settings.notes, `${words.join(' ')}\n`);

const server = new McpServer({
  name: 'task node',
  version: '1.0.0',
  secret: 'the secret of all processes of these tests',
  logger: { warn: () => {}, error: () => {} },
  onError: (error) => note('error', String(error)),
  ...(engine !== undefined && { cluster: engine }),
  plugins: [
    tasks({
      store: engine?.tasks ?? fileTasks(settings.folder),
      leaseMs: settings.leaseMs,
    }),
  ],
});

/** Lets the request end its round: what a handler asks later belongs to its task. */
async function leaveRound(): Promise<void> {
  await turn();
  await turn();
}

async function effect(ctx: Context, { name, paceMs }: Paced, step: number): Promise<void> {
  const seen = await ctx.once(`effect ${step}`, async (key) => {
    note('begin', name, step, key);
    await wait(paceMs);
    return key;
  });
  note('seen', name, step, seen);
}

server.addTool({ name: 'steps', input: Paced, task: 'required' }, async (paced, ctx) => {
  await leaveRound();
  await effect(ctx, paced, 1);
  await effect(ctx, paced, 2);
  const isSure = await ctx.confirm('Go on?');
  await effect(ctx, paced, 3);
  await ctx.sleep('rest', 2 * paced.paceMs);
  await effect(ctx, paced, 4);
  return `${paced.name} ${isSure}`;
});

server.addTool({ name: 'short', input: Paced, task: 'required' }, async (paced, ctx) => {
  await leaveRound();
  await effect(ctx, paced, 1);
  return paced.name;
});

server.addTool({ name: 'hold', input: Paced, task: 'required' }, async ({ name, paceMs }, ctx) => {
  await leaveRound();
  note('held', name, process.pid);
  await wait(paceMs);
  try {
    await ctx.once('late', () => note('ran', name, process.pid));
  } catch (error) {
    note('lost', name, process.pid, (error as Error).name, ctx.signal.aborted);
  }
  return `${process.pid}`;
});

const { url } = await listen(server, { port: settings.port });
process.on('disconnect', () => process.exit());
process.on('SIGTERM', () => void server.close().then(() => process.disconnect()));
process.send?.({ url });
