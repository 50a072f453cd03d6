// A server that another one mounts may have a recorder of its own. Its files are replayed without the other server.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { recorder } from '@decorum/audit';
import { type Context, McpServer, mount, NoInput, Prompt, Tool, ToolError } from '@decorum/core';
import type { Plugin } from '@decorum/core/plugin';
import { connect, replayOf } from '@decorum/testing';
import { afterAll, describe, expect, it } from '@jest/globals';

import { CORPUS, type Failing, SERVERS } from './corpus.js';

const folders: string[] = [];
afterAll(() => {
  for (const each of folders) rmSync(each, { recursive: true, force: true });
});

const logger = { warn() {}, error() {} };

/** Makes a call through a server that mounts another one, and returns the files that the mounted one has recorded. */
async function record(
  serverWith: (plugins: readonly Plugin[]) => McpServer,
  { call, client }: Pick<Failing, 'call' | 'client'>,
  revision: string,
): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'recordings-'));
  folders.push(folder);
  const mounted = mount(serverWith([recorder({ folder })]));
  const server = new McpServer({ name: 'outer', version: '1.0.0', providers: [mounted], logger });
  const connected = await connect(server, { ...client, revision });
  await call(connected).catch(() => {});
  await server.close({ deadlineMs: 0 });
  await connected.close().catch(() => {});
  return readdirSync(folder).map((each) => join(folder, each));
}

/** Without calls that a replay can't end in the same way, wherever they were recorded. */
const CALLS = Object.entries(CORPUS).filter(
  ([title, { server }]) => server === 'faults' && !['a server that closes', 'a tool for admins'].includes(title),
);

class Shop {
  static paid = 0;
  @Tool({ description: 'Pays, and has a bug' }) async pay(_input: NoInput, ctx: Context) {
    await ctx.once('pay', () => void (Shop.paid += 1));
    throw new TypeError('Paid, but broken');
  }
  @Prompt({ description: 'Has nothing left' }) order(_input: NoInput) {
    throw new ToolError('Sold out');
  }
}

const shop = (plugins: readonly Plugin[]) =>
  new McpServer({ name: 'shop', version: '1.0.0', providers: [Shop], logger, plugins });

describe.each(['2025-11-25', '2026-07-28'])('a call of a mounted server that was recorded in %s', (revision) => {
  it.each(CALLS)('fails again on its own with the same cause: %s', async (_title, failing) => {
    const differences: unknown[] = [];
    for (const file of await record(SERVERS.faults, failing, revision)) {
      const replay = await replayOf(file, { server: SERVERS.faults([]), timeoutMs: 2000 });
      differences.push(...replay.differences);
    }
    expect(differences).toEqual([]);
  });

  it('has what the client was told', async () => {
    const [file] = await record(shop, { call: (client) => client.getPrompt('order') }, revision);
    expect(await replayOf(String(file), { server: shop([]) })).toMatchObject({
      recorded: { message: 'Sold out' },
      replayed: { message: 'Sold out' },
    });
  });

  it('does not run its effects again', async () => {
    Shop.paid = 0;
    const [file] = await record(shop, { call: (client) => client.callTool('pay') }, revision);
    expect(await replayOf(String(file), { server: shop([]) })).toMatchObject({
      recorded: { cause: 'bug' },
      differences: [],
    });
    expect(Shop.paid).toBe(1);
  });
});
