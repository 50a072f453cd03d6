// The command line of the official inspector against the conformance fixture.
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, expect, it } from '@jest/globals';

import { ExampleProcess, programOf } from './example-process.js';

const run = promisify(execFile);
const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/inspector/package.json');
const inspector = join(dirname(manifest), 'clients/launcher/build/index.js');

const FIXTURE = programOf('everything');
let fixture: ExampleProcess;

beforeAll(async () => {
  fixture = await ExampleProcess.start(FIXTURE);
});

afterAll(async () => {
  await fixture.stop();
});

async function inspect(...args: string[]): Promise<Record<string, unknown>> {
  const { stdout } = await run(process.execPath, [inspector, '--cli', ...args]);
  return JSON.parse(stdout) as Record<string, unknown>;
}

it.each([
  ['HTTP', () => [fixture.url]],
  ['stdio', () => [process.execPath, FIXTURE, '--stdio']],
])(
  'the inspector lists and calls tools over %s',
  async (_name, target) => {
    const { tools } = await inspect(...target(), '--method', 'tools/list');
    expect(tools).toContainEqual(expect.objectContaining({ name: 'test_simple_text' }));
    const called = await inspect(...target(), '--method', 'tools/call', '--tool-name', 'test_simple_text');
    expect(called).toMatchObject({ content: [{ text: 'This is a simple text response for testing.' }] });
  },
  60_000,
);
