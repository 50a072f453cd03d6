import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';

import { describe, expect, it } from '@jest/globals';

const fixture = (name: string) => fileURLToPath(new URL(`fixtures/${name}.mjs`, import.meta.url));

/** Starts a client that starts the server, and waits until the server has answered the ping after the call. */
async function startFamily(stderr: string, mode: string) {
  const parent = spawn(process.execPath, [fixture('parent'), stderr, fixture('orphan'), mode], {
    stdio: ['ignore', 'pipe', 'ignore', 'pipe'],
  });
  const output = parent.stdio[1] as Readable;
  let stdout = '';
  output.on('data', (chunk: Buffer) => {
    stdout += String(chunk);
  });
  while (!stdout.includes('"id":3')) await once(output, 'data');
  return parent;
}

describe('A stdio server whose client was killed', () => {
  it.each(
    ['piped', 'inherited'].flatMap((stderr) => ['works', 'logs', 'throws', 'hangs'].map((mode) => [stderr, mode])),
  )('leaves no process behind, with stderr %s, while it %s', async (stderr = '', mode = '') => {
    const parent = await startFamily(stderr, mode);
    // both processes have the other end: it closes when the last of them is gone
    const lifeline = parent.stdio[3] as Readable;
    lifeline.resume();
    const gone = once(lifeline, 'end');
    parent.kill('SIGKILL');
    await gone;
    expect(lifeline.readableEnded).toBe(true);
  });

  it('leaves no process behind with `watchdog`, while a handler blocks the event loop (#22)', async () => {
    const parent = await startFamily('inherited', 'blocks');
    const lifeline = parent.stdio[3] as Readable;
    expect(String((await once(lifeline, 'data'))[0])).toBe('blocked');
    const gone = once(lifeline.resume(), 'end');
    parent.kill('SIGKILL');
    await gone;
    expect(lifeline.readableEnded).toBe(true);
  });
});
