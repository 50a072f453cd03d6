// A server with tools that run once for each key, in its own process, which tests kill. It notes what its tools do.
import { appendFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

import { McpServer } from '@decorum/core';
import { listen } from '@decorum/http';
import { redis } from '@decorum/redis';
import { IsInt } from 'class-validator';

/** Settings of a process. */
export interface KeyedNodeSettings {
  /** The URL of Redis. */
  readonly redis: string;
  /** The file for notes. */
  readonly notes: string;
}

class Paced {
  /** Milliseconds that a run takes. */
  @IsInt() paceMs!: number;
}

const settings = JSON.parse(process.env['KEYED_NODE'] ?? '') as KeyedNodeSettings;
const note = (...words: readonly unknown[]) => appendFileSync(settings.notes, `${words.join(' ')}\n`);

const server = new McpServer({
  name: 'keyed node',
  version: '1.0.0',
  secret: 'the secret of all processes of these tests',
  logger: { warn: () => {}, error: () => {} },
  onError: (error) => note('error', String(error)),
  cluster: redis(settings.redis),
});

let runs = 0;
const receipt = () => `${process.pid}-${(runs += 1)}`;

server.addTool({ name: 'plain', input: Paced, idempotent: '1h' }, async ({ paceMs }) => {
  const own = receipt();
  note('ran', own);
  if (paceMs > 0) await wait(paceMs);
  return own;
});

server.addTool({ name: 'once', input: Paced, idempotent: '1h' }, async ({ paceMs }, ctx) => {
  note('run', receipt());
  return await ctx.once('pay', async (key) => {
    const own = receipt();
    note('begin', key, own);
    if (paceMs > 0) await wait(paceMs);
    // the service honors keys: the first payment counts
    note('paid', key, own);
    return key;
  });
});

const { url } = await listen(server, { port: 0, principal: () => ({ subject: 'ada' }) });
process.on('disconnect', () => process.exit());
process.send?.({ url });
