import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { McpServer, ToolError, NoInput } from '@decorum/core';
import { recorder } from '@decorum/audit';
import { connect, replayOf } from '@decorum/testing';

it.each(['stateful','stateless'] as const)('x %s', async (era) => {
  const folder = mkdtempSync(join(tmpdir(), 'rec-'));
  const server = new McpServer({ name: 'shop', version: '1.0.0', logger: { warn() {}, error() {} }, plugins: [recorder({ folder })] });
  let fixed = false;
  server.addTool({ name: 'charge', description: 'x', input: NoInput }, async (_o, ctx) => {
    await ctx.once('k', () => 'tok');
    if (!(await ctx.confirm('Sure?'))) throw new ToolError('no');
    if (!fixed) throw new TypeError('oh');
    return 'ok';
  });
  const c = await connect(server, { era, onElicit: () => ({ action: 'accept' }) });
  await c.callTool('charge').catch(() => {});
  await c.close();
  await server.close();
  const [file] = readdirSync(folder);
  console.log(readFileSync(join(folder, file as string), 'utf8'));
  const again = new McpServer({ name: 'shop', version: '1.0.0', logger: { warn() {}, error() {} } });
  again.addTool({ name: 'charge', description: 'x', input: NoInput }, async (_o, ctx) => {
    await ctx.once('k', () => 'tok');
    if (!(await ctx.confirm('Sure?'))) throw new ToolError('no');
    if (!fixed) throw new TypeError('oh');
    return 'ok';
  });
  console.log(await replayOf(join(folder, file as string), { server: again }));
  fixed = true;
  console.log(await replayOf(join(folder, file as string), { server: again }));
});
