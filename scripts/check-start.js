/**
 * Checks what the README promises of `npm start`: in a fresh copy of the work tree, with nothing installed and nothing
 * built, it serves MCP within two minutes, and a signal ends it.
 */
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { freePort, ROOT } from './workspace.js';

const START_MS = 120_000;
const STOP_MS = 15_000;

const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'check-start', version: '1.0.0' } },
});

/** Copies what git knows or would take in: no dependencies, no build. */
function copyWorkTree() {
  const folder = mkdtempSync(join(tmpdir(), 'decorum-start-'));
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], { cwd: ROOT, encoding: 'utf8' });
  for (const file of listed.split('\0').filter((name) => name !== '' && existsSync(join(ROOT, name)))) {
    cpSync(join(ROOT, file), join(folder, file));
  }
  return folder;
}

/**
 * The server's answer to `initialize`, or undefined as long as there is none.
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
 * Tries until something is there.
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
 * Starts, asks, stops; throws where the promise is broken.
 * @param {string} folder
 */
async function check(folder) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/mcp`;
  const began = Date.now();
  // a group of its own, so that whatever it leaves behind can be found
  const child = spawn('npm', ['start'], {
    cwd: folder,
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'inherit', 'inherit'],
    detached: true,
  });
  /** How it ended, as long as it runs undefined. */
  const exit = () => child.exitCode ?? child.signalCode ?? undefined;
  try {
    const answer = await waitFor({ ms: START_MS, otherwise: 'npm start: no answer' }, async () => {
      if (exit() !== undefined) throw new Error(`npm start ended with ${exit()}`);
      return await initialize(url);
    });
    console.log(`npm start: answered after ${((Date.now() - began) / 1000).toFixed(1)} s: ${answer.slice(0, 120)}`);
    child.kill('SIGTERM');
    const ended = await waitFor({ ms: STOP_MS, otherwise: 'npm start: did not end by SIGTERM' }, exit);
    if (ended !== 0) throw new Error(`SIGTERM ended npm start with ${ended}, not with 0`);
    if ((await initialize(url)) !== undefined) throw new Error('the server outlived npm start');
    console.log('npm start: SIGTERM ended it, exit code 0');
  } finally {
    endGroup(child.pid ?? 0);
  }
}

/**
 * Ends what is left of a group of processes.
 * @param {number} leader
 */
function endGroup(leader) {
  try {
    if (leader > 0) process.kill(-leader, 'SIGKILL');
  } catch {
    // nothing is left
  }
}

const folder = copyWorkTree();
try {
  await check(folder);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
