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

/** The server's answer to `initialize`, or undefined as long as there is none. */
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

async function waitFor(what, ms, attempt) {
  const end = Date.now() + ms;
  for (;;) {
    const found = await attempt();
    if (found !== undefined) return found;
    if (Date.now() > end) throw new Error(`${what} within ${ms / 1000} s`);
    await sleep(100);
  }
}

/** Starts, asks, stops; throws where the promise is broken. */
async function check(folder) {
  const port = await freePort();
  const began = Date.now();
  const child = spawn('npm', ['start'], {
    cwd: folder,
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  let printed = '';
  child.stdout.on('data', (chunk) => (printed += chunk));
  const ended = new Promise((resolve) => child.on('exit', (code, signal) => resolve(code ?? signal)));
  let exit;
  void ended.then((value) => (exit = value));
  try {
    const answer = await waitFor('no answer', START_MS, async () => {
      if (exit !== undefined) throw new Error(`npm start ended with ${exit}`);
      return await initialize(new RegExp(`http://[^\\s/]+:${port}/\\S*`).exec(printed)?.[0]);
    });
    console.log(`npm start: answered after ${((Date.now() - began) / 1000).toFixed(1)} s: ${answer.slice(0, 120)}`);
    child.kill('SIGTERM');
    await waitFor('not ended by SIGTERM', STOP_MS, () => exit);
    console.log(`npm start: SIGTERM ended it with ${exit}`);
    if (exit !== 0) throw new Error(`SIGTERM ended npm start with ${exit}, not with 0`);
    if ((await initialize(`http://127.0.0.1:${port}/mcp`)) !== undefined)
      throw new Error('the server outlived npm start');
  } catch (error) {
    process.stderr.write(`${printed}\n`);
    throw error;
  } finally {
    // whatever is left of the group
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // nothing is
    }
  }
}

const folder = copyWorkTree();
try {
  await check(folder);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
