// A process of `decorum dev`, as the relay sees it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { describe, expect, it } from '@jest/globals';

import { Project } from '../../../test/support/dev-project.js';

/** Files are closed without the knowledge of the process, which then waits: a newer Node would abort at their use. */
const LOSES_PIPES = `
  const { isMainThread } = require('node:worker_threads');
  const { send } = process;
  if (isMainThread) process.send = (message) => {
    send.call(process, message);
    if (message.type !== 'warm') return;
    require('node:fs').writeSync(2, 'lost its pipes');
    for (const fd of [0, 1, 2, 3]) require('node:fs').closeSync(fd);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  };
`;
const RELAY = `
  import { Program } from ${JSON.stringify(new URL('../dist/dev/program.js', import.meta.url).href)};
  const env = () => ({ ...process.env, NODE_OPTIONS: '--require=./loses-pipes.cjs', DECORUM_DEV: String(process.pid) });
  const events = { printed: () => program.kill(), loaded() {} };
  const program = new Program({ entry: process.cwd() + '/main.ts', transport: 'stdio', packages: [], env }, events);
  console.log(await program.ended);
`;

describe('a process of decorum dev', () => {
  it('has ended as soon as it was killed, also if its pipes were closed before', async () => {
    const project = new Project({ 'loses-pipes.cjs': LOSES_PIPES, 'relay.mjs': RELAY, 'main.ts': '' });
    const relay = spawn(process.execPath, ['relay.mjs'], { cwd: project.folder, stdio: ['ignore', 'pipe', 'inherit'] });
    let printed = '';
    relay.stdout.on('data', (text) => (printed += String(text)));
    // 13 if it still waits and nothing can happen any more
    await expect(once(relay, 'close')).resolves.toEqual([0, null]);
    expect(printed).toBe('signal SIGKILL\n');
  });
});
