import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import type { Answer, Question } from './arena.js';
import type { Case, SliceCase } from './cases.js';
import { Child } from './child.js';
import { HttpEntrant } from './http-entrant.js';
import type { Samples } from './entrant.js';
import { ArenaProcess } from './run-case.js';
import { firstQuartile, interleave } from './slices.js';

/** Another framework. */
interface Peer {
  readonly name: string;
  /** Name of the file in `bench/peers`. */
  readonly file: string;
  /** Whether it supports the stateless era. */
  readonly stateless: boolean;
}

/** The other frameworks. `bench/peers/package.json` pins their versions. */
export const PEERS: readonly Peer[] = [
  { name: 'SDK 2', file: 'sdk-2.js', stateless: true },
  { name: 'SDK 1', file: 'sdk-1.js', stateless: false },
  { name: 'tmcp', file: 'tmcp.js', stateless: true },
  { name: 'fastmcp', file: 'fastmcp.js', stateless: false },
  { name: 'MCP-Nest', file: 'mcp-nest.js', stateless: true },
];

const COMPARED = new Set(['add', 'echo', 'add-1000', 'list-1000', 'blob']);
/** Other frameworks get fewer warm-up calls, because each call takes much longer. */
const WARM_UP_SHARE = 0.25;

/** Whether other frameworks are measured in a case. */
export const hasPeers = (one: Case): one is SliceCase => one.kind === 'slices' && COMPARED.has(one.name);

/**
 * Installs the dependencies of `bench/peers`. Quick if nothing has changed.
 * @throws {Error} if the installation fails
 */
export function installPeers(): void {
  const folder = fileURLToPath(new URL('../peers', import.meta.url));
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const { packageManager } = JSON.parse(manifest) as { readonly packageManager: string };
  const args = ['-y', packageManager, '--ignore-workspace', 'install', '--frozen-lockfile', '--silent'];
  if (spawnSync('npx', args, { cwd: folder, stdio: 'inherit' }).status !== 0)
    throw new Error(`Cannot install ${folder}.`);
}

/** Measures one peer once, against the limit. Each runs in its own process. */
export async function runPeer(one: SliceCase, peer: Peer, connections: number): Promise<Samples> {
  const arena = new ArenaProcess(0);
  const env = { BENCH_TOOLS: String(one.moreTools) };
  const child = new Child({ file: `../peers/${peer.file}`, env });
  try {
    const { url } = await child.next<{ readonly url: string }>();
    const { urls = {} } = await arena.ask({ kind: 'open', parts: ['limit'], moreTools: one.moreTools });
    const measured = { ask: (question: Question) => child.ask<Answer>(question) };
    const how = { call: one.call, connections: Math.min(connections, one.maxConnections) };
    const limit = new HttpEntrant(arena, { ...how, url: urls.limit ?? '', style: 'plain', bare: true });
    const session = new HttpEntrant(measured, { ...how, url, style: 'session', bare: false });
    const stateless = new HttpEntrant(measured, { ...how, url, style: 'stateless', bare: false });
    const entrants = new Map([
      ['limit', limit],
      [`${peer.name}, session`, session],
      ...(peer.stateless ? [[`${peer.name}, stateless`, stateless] as const] : []),
    ]);
    const costs = await interleave(entrants, one.warmUp * WARM_UP_SHARE);
    const quartiles = [...costs].map(([name, values]) => [name, firstQuartile(values)] as const);
    const [, limitCost = NaN] = quartiles[0] ?? [];
    return new Map(quartiles.slice(1).map(([name, cost]) => [name, { cost, limit: limitCost }]));
  } finally {
    await Promise.all([arena.stop(), child.stop()]);
  }
}
