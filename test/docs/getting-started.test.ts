import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { ROOT } from '../architecture/source.js';

const page = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const firstBlock = (markdown: string, language: string) =>
  new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'm').exec(markdown)?.[1] ?? '';

/** A project as a reader creates it: the files of the pages, in a folder that resolves the built packages. */
let project: string;
const file = (name: string, text: string) => {
  mkdirSync(dirname(join(project, name)), { recursive: true });
  writeFileSync(join(project, name), text);
};

beforeAll(() => {
  project = mkdtempSync(join(ROOT, '.tmp-getting-started-'));
  const readme = page('README.md');
  file('package.json', '{ "type": "module" }');
  file('tsconfig.json', firstBlock(readme, 'json'));
  file('src/greeter.ts', firstBlock(readme, 'ts'));
  const blocks = page('docs/getting-started.md').matchAll(/^```ts file=(\S+)\n([^]*?)^```$/gm);
  for (const [, name = '', text = ''] of blocks) file(name, text);
  execFileSync(process.execPath, [join(ROOT, 'node_modules/ts7/bin/tsc'), '-p', project], { stdio: 'pipe' });
}, 60_000);
afterAll(() => rmSync(project, { recursive: true }));

/** Lists the tools of a stdio program. */
async function toolsOf(...args: string[]): Promise<string[]> {
  const child = spawn(process.execPath, args, { cwd: project, stdio: ['pipe', 'pipe', 'inherit'] });
  const envelope = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const params = { _meta: envelope };
  child.stdin.end(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params })}\n`);
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const { result } = JSON.parse(line) as { result: { tools: readonly { name: string }[] } };
  return result.tools.map(({ name }) => name);
}

describe('a reader who copies', () => {
  it('the first example of the README gets a server with its tool', async () => {
    expect(await toolsOf('dist/greeter.js')).toEqual(['greet']);
  });

  it('the files of the page gets its server', async () => {
    expect(await toolsOf('dist/main.js', '--stdio')).toEqual(['remember', 'forget']);
  });

  it('the test of the page sees it pass', () => {
    const report = execFileSync(process.execPath, ['--test', 'dist/notes.test.js'], { cwd: project, encoding: 'utf8' });
    expect(report).toMatch(/^(?:#|ℹ) pass 1$/m);
  });
});
