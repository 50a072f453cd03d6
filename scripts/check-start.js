/**
 * Checks the README's promise about `npm start`: in a fresh copy of the work tree, with nothing installed or built, it
 * serves MCP within two minutes, and a signal stops it. With `--here`, it checks the work tree itself.
 */
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { copyWorkTree, freePort, ROOT } from './workspace.js';

const START_MS = 120_000;
const STOP_MS = 15_000;

const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'check-start', version: '1.0.0' } },
});

/**
 * The server's response to `initialize`, or undefined if it doesn't respond.
 * @param {string} url
 */
async function initialize(url) {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  try {
    const response = await fetch(url, { method: 'POST', headers, body: INITIALIZE, signal: AbortSignal.timeout(5000) });
    const text = await response.text();
    return response.ok && text.includes('"serverInfo"') ? text : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Retries until an attempt returns something.
 * @template T
 * @param {{ ms: number, otherwise: string }} limit
 * @param {() => T | undefined | Promise<T | undefined>} attempt
 * @returns {Promise<T>}
 */
async function waitFor({ ms, otherwise }, attempt) {
  const end = Date.now() + ms;
  for (;;) {
    const found = await attempt();
    if (found !== undefined) return found;
    if (Date.now() > end) throw new Error(`${otherwise} within ${ms / 1000} s`);
    await sleep(100);
  }
}

/**
 * Starts the server, sends a request and stops it.
 * @param {string} folder
 */
async function check(folder) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/mcp`;
  const began = Date.now();
  // in its own process group, so that left-over processes can be killed
  const child = spawn('npm', ['start'], {
    cwd: folder,
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'inherit', 'inherit'],
    detached: true,
  });
  /** Exit code or signal; undefined while it runs. */
  const exit = () => child.exitCode ?? child.signalCode ?? undefined;
  try {
    const answer = await waitFor({ ms: START_MS, otherwise: 'npm start did not respond' }, async () => {
      if (exit() !== undefined) throw new Error(`npm start exited with ${exit()}`);
      return await initialize(url);
    });
    console.log(`npm start: responded after ${((Date.now() - began) / 1000).toFixed(1)} s: ${answer.slice(0, 120)}`);
    child.kill('SIGTERM');
    const ended = await waitFor({ ms: STOP_MS, otherwise: 'npm start did not exit on SIGTERM' }, exit);
    if (ended !== 0) throw new Error(`npm start exited with ${ended} on SIGTERM, expected 0`);
    if ((await initialize(url)) !== undefined)
      throw new Error('The server is still running after npm start has exited.');
    console.log('npm start: exited with 0 on SIGTERM');
  } finally {
    endGroup(child.pid ?? 0);
  }
}

/**
 * Kills the remaining processes of a group.
 * @param {number} leader
 */
function endGroup(leader) {
  try {
    if (leader > 0) process.kill(-leader, 'SIGKILL');
  } catch {
    // no process is left
  }
}

if (process.argv.includes('--here')) await check(ROOT);
else {
  const folder = copyWorkTree();
  try {
    await check(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
