// Runtimes with less than Node.js has.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { transformSync } from '@swc/core';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { build } from 'esbuild';

import { createProject, type Project, ROOT } from './project.js';

// servers run in separate processes
jest.setTimeout(60_000);

let project: Project;
afterEach(() => project.remove());

const REQUEST = `
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'buy', arguments: { id: 'tea' } } };
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const request = () => new Request('http://127.0.0.1:3000/mcp', { method: 'POST', headers, body: JSON.stringify(body) });
`;
const FORBIDDEN = '--disallow-code-generation-from-strings';

function compile(code: string): string {
  return transformSync(code, {
    swcrc: false,
    jsc: {
      target: 'es2022',
      parser: { syntax: 'typescript', decorators: true },
      transform: { legacyDecorator: true, decoratorMetadata: true },
    },
  }).code;
}

/** The first example of a page, or of a section of it. */
function exampleOf(page: string, section = ''): string {
  const text = readFileSync(join(ROOT, 'docs', page), 'utf8');
  return /```ts\n([^]*?)```/.exec(text.slice(text.indexOf(section)))?.[1] ?? '';
}

describe('a runtime that forbids generated code', () => {
  it('runs the Worker of the documentation', async () => {
    project = createProject({ peers: [], tools: ['zod'] });
    const code = compile(exampleOf('workers.md')).replace('shop.example.workers.dev', '127.0.0.1');
    project.write('worker.mjs', code);
    project.write(
      'main.mjs',
      `import worker from './worker.mjs';
       ${REQUEST}
       for (let n = 0; n < 2; n += 1) console.log(await (await worker.fetch(request())).text());`,
    );
    const printed = (await project.run('node', [FORBIDDEN, 'main.mjs'])).trim().split('\n');
    const bought = { result: { content: [{ type: 'text', text: 'bought tea' }] } };
    expect(printed.map((line) => JSON.parse(line) as object)).toMatchObject([bought, bought]);
  });

  it('serves tools without input', async () => {
    project = createProject({ peers: [] });
    project.write(
      'main.mjs',
      `import { McpServer } from '@decorum/core';
       import { fetchHandler } from '@decorum/http/fetch';
       const server = new McpServer({ name: 'clock', version: '1.0.0' });
       server.addTool({ name: 'now' }, () => 'noon');
       const handler = fetchHandler(server, { sessions: false });
       ${REQUEST}
       for (const args of [{}, { zone: 'UTC' }]) {
         body.params = { name: 'now', arguments: args };
         console.log(await (await handler(request())).text());
       }`,
    );
    const [now, wrong] = (await project.run('node', [FORBIDDEN, 'main.mjs'])).trim().split('\n');
    expect(now).toContain('noon');
    expect(wrong).toContain('zone: is not a known field');
  });

  it('is recognized at startup, and the error names the remedy', async () => {
    project = createProject({ peers: [] });
    const example = exampleOf('errors.md', '### `DECORUM_NO_CODE_GENERATION`');
    project.write('shop.mjs', compile(`import { McpServer, Tool } from '@decorum/core';\n${example}`));
    project.write('main.mjs', `import('./shop.mjs').catch(({ message }) => console.log(message));`);
    expect(await project.run('node', [FORBIDDEN, 'main.mjs'])).toMatch(
      /^Shop\.buy: this runtime forbids .* Pass a Standard Schema.* \[DECORUM_NO_CODE_GENERATION\]\n$/,
    );
    expect(await project.run('node', ['main.mjs'])).toBe('');
  });
});

describe.each(['fetch', 'node'])('@decorum/http/%s', (entry) => {
  it('is bundled without Fastify, which need not be installed', async () => {
    project = createProject({ peers: [], tools: ['zod'] });
    const main = project.write('main.mjs', `export * from '@decorum/http/${entry}';`);
    const options = { bundle: true, platform: 'node', format: 'esm', logLevel: 'silent', metafile: true } as const;
    const { metafile, errors } = await build({ ...options, entryPoints: [main], outfile: project.path('out.mjs') });
    const files = Object.keys(metafile.inputs);
    expect(errors).toEqual([]);
    expect(files.filter((file) => file.includes('node_modules/fastify'))).toEqual([]);
    expect(readFileSync(project.path('out.mjs'), 'utf8')).not.toMatch(
      /from\s*["']fastify|import\(["']fastify|require\(["']fastify/,
    );
  });
});
