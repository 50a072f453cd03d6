import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

import { afterEach, expect, it, jest } from '@jest/globals';

import { CLIENTS, sendLargeBodies } from '../frameworks/weather.js';
import { createProject, type Project } from './project.js';

// compilers and servers run in separate processes
jest.setTimeout(180_000);

const NEXT = 'node_modules/next/dist/bin/next';

let project: Project;
let server: ChildProcess | undefined;
afterEach(async () => {
  if (server?.exitCode === null) {
    server.kill();
    await once(server, 'exit');
  }
  project.remove();
});

/** Starts the built application on a free port and returns its URL. */
async function start(): Promise<string> {
  const child = spawn('node', [NEXT, 'start', '--port', '0', '--hostname', '127.0.0.1'], {
    cwd: project.folder,
    env: { ...process.env, NODE_OPTIONS: '', NEXT_TELEMETRY_DISABLED: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  server = child;
  let printed = '';
  for await (const line of createInterface(child.stdout)) {
    printed += `${line}\n`;
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0];
    if (url !== undefined) return url;
  }
  throw new Error(`next start gave no address:\n${printed}`);
}

it('a route handler of Next.js serves a tool with a nested DTO', async () => {
  project = createProject({ from: 'next' });
  await project.run('node', [NEXT, 'build'], { env: { NEXT_TELEMETRY_DISABLED: '1' } });
  const url = await start();
  const lines = { type: 'array', items: { type: 'object', required: ['sku', 'quantity'] } };
  const order = (quantity: number) => ({ name: 'order', arguments: { lines: [{ sku: 'TEA', quantity }] } });
  for (const [, connect] of CLIENTS) {
    const client = await connect(`${url}/mcp`);
    expect((await client.listTools()).tools).toMatchObject([
      { name: 'order', inputSchema: { properties: { lines }, required: ['lines'] } },
    ]);
    expect(await client.callTool(order(2))).toMatchObject({ content: [{ text: 'true 2 tea' }] });
    expect(await client.callTool(order(0))).toMatchObject({ isError: true });
    await client.close();
  }
  await sendLargeBodies(`${url}/mcp`, 'order', order(2).arguments);
});
