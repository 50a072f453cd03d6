// One node of a cluster, in its own process. It tells its parent what happens in it.
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';

import { Context } from '@decorum/core';
import { listen } from '@decorum/http';
import { redis } from '@decorum/redis';
import { IsInt, IsString } from 'class-validator';

import { createSoakServer } from '../soak/soak-server.js';
import type { NodeReport, NodeSettings } from './nodes.js';

class Named {
  @IsString() name!: string;
}

class Steps {
  @IsInt() steps!: number;
}

/** The errors of a tool that always fails, and of a Redis that is away. */
const EXPECTED = /always fails|does not answer|timed out|MaxRetries|ECONN|EPIPE|isn't writeable|not there/;

const settings = JSON.parse(process.env['CLUSTER_NODE'] ?? '') as NodeSettings;
const report = (told: NodeReport) => void process.send?.(told);

const { server, running } = createSoakServer({
  ...(settings.redis !== undefined && {
    cluster: redis(settings.redis, { events: { maxAgeMs: settings.eventsMs ?? 300_000 } }),
  }),
  onError: (error) => {
    if (!EXPECTED.test(String(error))) console.error(error);
  },
  requestStateTtlMs: settings.stateTtlMs ?? 600_000,
});

server.addTool({ name: 'changed' }, () => {
  server.notify.toolsChanged();
  return 'done';
});

server.addTool({ name: 'hold', input: Named }, async ({ name }, ctx: Context) => {
  report({ kind: 'begun', name });
  ctx.progress(1);
  if (!ctx.signal.aborted) await once(ctx.signal, 'abort');
  report({ kind: 'stopped', name });
});

server.addTool({ name: 'tick', input: Steps }, async ({ steps }, ctx: Context) => {
  for (let step = 1; step <= steps && !ctx.signal.aborted; step += 1) {
    ctx.progress(step, steps);
    await wait(10);
  }
  return 'done';
});

server.addTool({ name: 'chatter', input: Steps }, async ({ steps }, ctx: Context) => {
  for (let step = 1; step <= steps && !ctx.signal.aborted; step += 1) {
    ctx.log.debug(`Step ${step}`);
    ctx.progress(step, steps);
    await wait(10);
  }
  return 'done';
});

server.addTool({ name: 'twice', input: Named }, async ({ name }, ctx: Context) => {
  await ctx.once('effect', () => report({ kind: 'effect', name }));
  const answers = [await ctx.confirm('One?'), await ctx.confirm('Two?')];
  return answers.join(' ');
});

const { url } = await listen(server, {
  port: settings.port,
  // the proxies leave the host as it is
  allowedHosts: ['127.0.0.1'],
  keepAliveMs: settings.keepAliveMs ?? 15_000,
  limits: { sessionIdleMs: settings.sessionIdleMs ?? 1_800_000 },
});

process.on('message', () => report({ kind: 'usage', cpuUs: cpuUs(), running: running() }));
process.on('disconnect', () => process.exit());
report({ kind: 'up', url });

function cpuUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}
