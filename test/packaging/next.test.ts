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

async function post(url: string, method: string, params: object): Promise<unknown> {
  const envelope = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const response = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...('name' in params && { 'mcp-name': String(params.name) }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: envelope } }),
  });
  return await response.json();
}

it('a route handler of Next.js serves a tool with a nested DTO', async () => {
  project = createProject({ from: 'next' });
  await project.run('node', [NEXT, 'build'], { env: { NEXT_TELEMETRY_DISABLED: '1' } });
  const url = await start();
  const lines = { type: 'array', items: { type: 'object', required: ['sku', 'quantity'] } };
  expect(await post(url, 'tools/list', {})).toMatchObject({
    result: { tools: [{ name: 'order', inputSchema: { properties: { lines }, required: ['lines'] } }] },
  });
  const order = { name: 'order', arguments: { lines: [{ sku: 'TEA', quantity: 2 }] } };
  expect(await post(url, 'tools/call', order)).toMatchObject({ result: { content: [{ text: 'true 2 tea' }] } });
  const wrong = { name: 'order', arguments: { lines: [{ sku: 'TEA', quantity: 0 }] } };
  expect(await post(url, 'tools/call', wrong)).toMatchObject({ result: { isError: true } });
  for (const [, connect] of CLIENTS) {
    const client = await connect(`${url}/mcp`);
    expect(await client.callTool(order)).toMatchObject({ content: [{ text: 'true 2 tea' }] });
    await client.close();
  }
  await sendLargeBodies(`${url}/mcp`, order.name, order.arguments);
});
