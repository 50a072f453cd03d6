/** Runs the authorization-server scenarios of the official conformance suite, which need a browser. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';

import { allowByClicking, findChromium, startChromium } from './chromium.js';
import { exitIssue, report } from './conformance-report.js';
import { COMMAND, readResults, RESULTS, startFixture } from './conformance-suite.js';
import { allowByForms } from './form-browser.js';
import { freePort } from './workspace.js';

/** The name of the run. The suite has no requirement set for authorization servers, because no revision demands one. */
export const AUTHORIZATION = 'authorization';

/** All others that the suite runs must pass as well. */
const SCENARIOS = ['authorization-server-metadata-endpoint', 'authorization-code-grant'];

const USER = { username: 'alice', password: 'conformance' };

/**
 * Registers a client (RFC 7591).
 * @param {string} issuer
 * @param {string} callback
 * @returns {Promise<string>} its id
 */
async function register(issuer, callback) {
  const response = await fetch(`${issuer}/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: 'Conformance', redirect_uris: [callback], token_endpoint_auth_method: 'none' }),
  });
  return /** @type {{ client_id: string }} */ (await response.json()).client_id;
}

/**
 * Signs in, allows, and opens the callback of the suite.
 * @param {string} url
 * @param {string} callback
 */
async function visit(url, callback) {
  const path = findChromium();
  if (path === undefined) {
    console.log('No Chromium was found: forms are sent by fetch.');
    await fetch(await allowByForms(url, callback, USER));
    return;
  }
  const browser = await startChromium(path);
  try {
    const page = await browser.newPage();
    await page.goto(url);
    await allowByClicking(page, USER);
    await page.waitForURL(`${callback}?*`);
  } finally {
    await browser.close();
  }
}

/**
 * Runs the scenarios against `examples/secured` with an issuer of its own.
 * @returns {Promise<import('./conformance-report.js').Issue[]>}
 */
export async function examineAuthorization() {
  const folder = join(RESULTS, AUTHORIZATION);
  rmSync(folder, { recursive: true, force: true });
  const env = { PORT: String(await freePort()), SECURED_PASSWORD: USER.password };
  const resource = await startFixture('examples/secured/dist/embedded.js', env);
  const issuer = new URL(resource).origin;
  const port = await freePort();
  const callback = `http://127.0.0.1:${port}/callback`;
  const id = await register(issuer, callback);
  const options = ['--url', issuer, '--resource', resource, '--client-id', id, '--port', `${port}`, '-o', folder];
  const suite = spawn(process.execPath, [...COMMAND, 'authorization', ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  let visiting = false;
  suite.stdout.on('data', (chunk) => {
    printed += chunk;
    const [url] = /^http:\S+\/authorize\?\S+$/m.exec(printed) ?? [];
    if (url === undefined || visiting) return;
    visiting = true;
    visit(url, callback).catch((error) => {
      console.error(error);
      suite.kill();
    });
  });
  const [code] = await once(suite, 'close');
  const results = readResults(folder, 'authorization-server');
  const server = [...new Set([...SCENARIOS, ...results.keys()])];
  const { issues, summary } = report(AUTHORIZATION, { server, not_scored: [], no_skips: true }, results);
  console.log(summary);
  return [...issues, ...exitIssue(AUTHORIZATION, issues, code)];
}
