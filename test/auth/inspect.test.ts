// `decorum inspect` signs in to a protected server, in processes of their own.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { createProject, type Ended, type Project } from '../../packages/cli/test/project.js';
import { freePort } from '../support/dev-project.js';
import { Program } from './processes.js';
import { consent } from './user.js';

const PASSWORD = 'open sesame';

let secured: Program;
let project: Project;
let env: { readonly XDG_CONFIG_HOME: string };
beforeAll(async () => {
  project = createProject();
  env = { XDG_CONFIG_HOME: mkdtempSync(join(tmpdir(), 'decorum-config-')) };
  const PORT = String(await freePort());
  secured = await Program.start('../../examples/secured/dist/embedded.js', [], { PORT, SECURED_PASSWORD: PASSWORD });
});
afterAll(async () => {
  await secured.stop();
  project.remove();
  rmSync(env.XDG_CONFIG_HOME, { recursive: true });
});

const inspect = async (...args: string[]) => await project.decorum(['inspect', secured.url, ...args], { env });

/** Signs in by the page that the command prints. */
async function signedIn(args: readonly string[]): Promise<Ended> {
  const running = project.start(['inspect', secured.url, '--no-browser', ...args], env);
  const [url] = await running.printed(/http:\S+code_challenge\S+/);
  const back = await consent(new URL(url), { name: 'alice', password: PASSWORD });
  const wrong = new URL(back);
  wrong.searchParams.set('state', 'guessed');
  expect((await fetch(wrong)).status).toBe(404);
  expect(await (await fetch(back)).text()).toContain('You are signed in.');
  return await running.ended;
}

const file = () => {
  const folder = join(env.XDG_CONFIG_HOME, 'decorum/sign-ins');
  const [name = ''] = readdirSync(folder);
  return join(folder, name);
};

describe('decorum inspect with a protected server', () => {
  it('signs in by the browser once, and keeps the tokens for the user alone', async () => {
    const first = await signedIn(['call', 'whoami']);
    expect(first).toMatchObject({ code: 0, stdout: expect.stringContaining('"subject":"alice"') });
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    const again = await inspect('call', 'whoami');
    expect(again).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('"subject":"alice"') });
  });

  it('gets new tokens without the user when the access token is refused', async () => {
    const kept = JSON.parse(readFileSync(file(), 'utf8')) as { tokens: object };
    writeFileSync(file(), JSON.stringify({ ...kept, tokens: { ...kept.tokens, access_token: 'expired' } }));
    expect(await inspect('call', 'whoami')).toMatchObject({ code: 0, stderr: '' });
  });

  it('asks the user again for more scopes', async () => {
    const { code, stdout } = await signedIn(['call', 'admin_only']);
    expect([code, stdout]).toEqual([0, 'alice may.\n']);
  });

  it('signs out', async () => {
    expect(await inspect('sign-out')).toEqual({ code: 0, stdout: '', stderr: 'Signed out.\n' });
    expect(await inspect('sign-out')).toMatchObject({ stderr: 'You are not signed in.\n' });
  });

  it('has an exit code for denied access, and names the flag for a token', async () => {
    expect(await inspect('--header', 'authorization: Bearer wrong', 'call', 'whoami')).toMatchObject({
      code: 7,
      stdout: '',
      stderr: expect.stringMatching(/ 401 .+\nPass credentials: `--header 'Authorization: Bearer TOKEN'`\.\n$/),
    });
  });
});
