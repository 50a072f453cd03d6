// An `.env` file with `PORT=` sets PORT to nothing.
import { symlinkSync } from 'node:fs';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { fileURLToPath } from 'node:url';

import { afterEach, expect, it } from '@jest/globals';

import { Desk } from './program.js';

const MODULES = fileURLToPath(new URL('../../../node_modules', import.meta.url));
const run = promisify(execFile);

let desk: Desk;
afterEach(() => desk.remove());

/** Prints the address that a program asks for, and ends it: another program may listen on port 3000. */
const SPY = `
require('node:net').Server.prototype.listen = (options, host) => {
  const asked = typeof options === 'object' ? options : { port: options, host };
  require('node:fs').writeSync(1, 'asked ' + JSON.stringify({ port: Number(asked.port), host: asked.host }));
  process.exit(0);
};`;

const PROGRAM = ['--import', '@decorum/cli/register', 'src/main.ts'];
const DECORUM = (command: string) => [`${MODULES}/@decorum/cli/bin/decorum.js`, command];

it.each([
  { of: 'the template http', template: 'http', args: PROGRAM },
  { of: 'the template secured', template: 'secured', args: PROGRAM },
  { of: 'the template nestjs', template: 'nestjs', args: PROGRAM },
  { of: 'decorum start', template: 'minimal', args: [...DECORUM('start'), '--http', 'src/server.ts'] },
  { of: 'decorum dev', template: 'minimal', args: [...DECORUM('dev'), 'src/server.ts'] },
])('an empty PORT and HOST mean port 3000 of this machine in $of (#23)', async ({ template, args }) => {
  desk = new Desk();
  await desk.run(['weather', '--template', template, '--no-install']);
  symlinkSync(MODULES, desk.path('weather/node_modules'));
  desk.write('weather/spy.cjs', SPY);
  const { NODE_OPTIONS: _, ...env } = process.env;
  const { stdout } = await run(process.execPath, ['--require', './spy.cjs', ...args], {
    cwd: desk.path('weather'),
    env: { ...env, PORT: '', HOST: '', ISSUER: 'http://127.0.0.1:9' },
  });
  expect(/asked (.+)$/.exec(stdout)?.[1]).toBe(JSON.stringify({ port: 3000, host: '127.0.0.1' }));
});
