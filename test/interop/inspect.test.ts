// `decorum inspect` with a server of the official SDK.
import { fileURLToPath } from 'node:url';

import { expect, it } from '@jest/globals';

import { DECORUM, runNode } from '../../packages/cli/test/project.js';

const COMMAND = ['--', process.execPath, fileURLToPath(new URL('sdk-server.js', import.meta.url)), '--stdio'];

const inspect = async (...args: string[]) => await runNode([DECORUM, 'inspect', ...args, ...COMMAND]);

it('decorum inspect shows and calls a server of the official SDK, and answers its questions', async () => {
  const ended = await Promise.all([
    inspect(),
    inspect('call', 'add', 'a=1', 'b=2'),
    inspect('call', 'seat', '--answer', '{"seat":"4A"}'),
    inspect('read', 'docs://readme'),
  ]);
  const [shown = { stdout: '' }, ...others] = ended;
  expect(shown.stdout).toMatch(/^official 1\.0\.0 [^]*\nadd +a:number b:number +Adds\n/);
  expect(others.map(({ code, stdout }) => [code, stdout])).toEqual([
    [0, '3\n'],
    [0, 'accept 4A\n'],
    [0, 'Read me\n'],
  ]);
});
