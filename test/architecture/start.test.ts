import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { describe, expect, it } from '@jest/globals';

import { PACKAGES, ROOT } from './source.js';

const WEATHER = join(ROOT, 'examples/weather/dist/main.js');

/** Prints on exit the packages whose CommonJS files were loaded. */
const LOADED = `data:text/javascript,${encodeURIComponent(`
  import { createRequire } from 'node:module';
  const { cache } = createRequire(${JSON.stringify(pathToFileURL(WEATHER).href)});
  process.on('exit', () => {
    const names = Object.keys(cache).map((file) => /.*\\/node_modules\\/([^/]+)/.exec(file)?.[1] ?? '');
    console.error('loaded: ' + [...new Set(names)].join(' '));
  });
`)}`;

const message = (id: number, method: string, params: object) =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;

const INITIALIZE = message(1, 'initialize', {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'test', version: '1.0.0' },
});
const CALL = message(3, 'tools/call', { name: 'forecast', arguments: { city: 'Oslo' } });

/** Prints the export name and the own name of each exported class. */
const CLASSES = `
  const exported = Object.entries(await import(process.argv[1]));
  const classes = exported.filter(([, value]) => /^class\\b/.test(String(value)));
  console.log(JSON.stringify(classes.map(([name, { name: itself }]) => [name, itself])));
`;

/** Runs Node in the root directory and waits for its exit. */
function run(args: readonly string[], input = ''): Promise<{ stdout: string; loaded: string[] }> {
  return new Promise((resolve, reject) => {
    const child = execFile(process.execPath, ['--import', LOADED, ...args], { cwd: ROOT }, (error, stdout, stderr) => {
      const loaded = /loaded: (.*)/.exec(stderr)?.[1];
      if (error !== null || loaded === undefined) reject(error ?? new Error(stderr));
      else resolve({ stdout, loaded: loaded.split(' ').filter((name) => name !== '') });
    });
    child.stdin?.end(input);
  });
}

describe('startup', () => {
  it('of @decorum/http does not load Fastify before listen', async () => {
    const { loaded } = await run(['--input-type=module', '--eval', `import '@decorum/http'`]);
    expect(loaded).not.toContain('fastify');
  });

  it('of @decorum/core loads no validator', async () => {
    const { loaded } = await run(['--input-type=module', '--eval', `import '@decorum/core'`]);
    expect(loaded).toContain('reflect-metadata');
    expect(loaded).not.toEqual(expect.arrayContaining([expect.stringMatching(/^(?:ajv|class-)/)]));
  });

  it('of a stdio server does not load ajv before the first call', async () => {
    const listed = await run([WEATHER, '--stdio'], `${INITIALIZE}${message(2, 'tools/list', {})}`);
    expect(listed.stdout).toContain('inputSchema');
    expect(listed.loaded).not.toContain('ajv');
    expect(listed.loaded).not.toContain('fastify');
    const called = await run([WEATHER, '--stdio'], `${INITIALIZE}${CALL}`);
    expect(called.stdout).toContain('structuredContent');
    expect(called.loaded).toContain('ajv');
  });
});

/** Packages that are run, not imported. */
const PROGRAMS = new Set(['cli', 'create-decorum']);

describe('the published code', () => {
  it.each(PACKAGES.filter((name) => !PROGRAMS.has(name)))(
    'of %s keeps class names, which users read in stack traces',
    async (name) => {
      const { stdout } = await run(['--input-type=module', '--eval', CLASSES, `@decorum/${name}`]);
      for (const [exported, itself] of JSON.parse(stdout) as [string, string][]) expect(itself).toBe(exported);
    },
  );
});
