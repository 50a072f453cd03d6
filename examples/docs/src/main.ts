import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { type McpServer, serveStdio } from '@decorum/core';
import { listen } from '@decorum/http';

import { skills } from '@decorum/skills';

import { DocsServer } from './docs-server.js';

const DEFAULT_FOLDER = fileURLToPath(new URL('../../../docs', import.meta.url));
const SKILLS = fileURLToPath(new URL('../../../skills', import.meta.url));

const REMEDIES = new Map([
  ['EADDRINUSE', 'Choose another port: PORT=3001 npm start'],
  ['DECORUM_UNSAFE_HOST', 'Name the hosts in the environment: ALLOWED_HOSTS=docs.example.com npm start'],
]);

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { stdio: { type: 'boolean' } } });
  const [folder] = positionals;
  const server = folder === undefined ? new DocsServer(DEFAULT_FOLDER, [skills(SKILLS)]) : new DocsServer(folder);
  try {
    await (values.stdio ? serveStdio(server) : serveHttp(server));
  } catch (error) {
    // otherwise the running watcher would keep the process alive
    await server.close();
    throw error;
  }
}

async function serveHttp(server: McpServer): Promise<void> {
  const port = portOf(process.env['PORT'] || '3000');
  const host = process.env['HOST'] || '127.0.0.1';
  const allowedHosts = process.env['ALLOWED_HOSTS']?.split(',');
  const { url } = await listen(server, { port, host, ...(allowedHosts && { allowedHosts }) });
  console.log(`Serving the documentation at ${url}

Try it: npx @modelcontextprotocol/inspector --cli ${url} --method tools/list
    or: ${curl(url)}`);
}

function portOf(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new Error(`PORT is "${text}", but must be a whole number from 0 to 65535.`);
}

/** The first request of a session, as a shell command. */
function curl(url: string): string {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'curl', version: '0' } };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
  return `curl ${url} -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' -d '${body}'`;
}

function explain(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const remedy = REMEDIES.get(code);
  return remedy ? `${message}\n${remedy}` : message;
}

try {
  await main();
} catch (error) {
  console.error(explain(error));
  process.exitCode = 1;
}
