// Machines that lack optional packages, and runtimes with less than Node.js has.
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { newestOf } from '@decorum/core/internal';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { build, buildSync } from 'esbuild';

import { answers, compiledCode, conversation, createProject, type Project, ROOT } from './project.js';

// compilers and servers run in separate processes
jest.setTimeout(180_000);

let project: Project;
afterEach(() => project.remove());

/** The first example of a page, or of a section of it. */
function exampleOf(page: string, section = ''): string {
  const text = readFileSync(join(ROOT, 'docs', page), 'utf8');
  return /```ts\n([^]*?)```/.exec(text.slice(text.indexOf(section)))?.[1] ?? '';
}

/** A server in plain JavaScript, as a compiler would emit it. */
const ZOD_SERVER = `
  import { McpServer, serveStdio, Tool } from '@decorum/core';
  import { z } from 'zod';

  class Shop {
    buy({ id }) { return 'bought ' + id; }
    sell({ id }) { return 'sold ' + id; }
  }
  const decorate = (key, options) => Tool(options)(Shop.prototype, key, Object.getOwnPropertyDescriptor(Shop.prototype, key));
  decorate('buy', { input: z.object({ id: z.string() }) });
  decorate('sell', { input: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] } });
  void serveStdio(new McpServer({ name: 'shop', version: '1.0.0', providers: [Shop] }));
`;
const INPUT = conversation([
  ['buy', { id: 'tea' }],
  ['sell', { id: 'tea' }],
  ['buy', { id: 1 }],
]);
const SERVED = [
  {},
  { result: { tools: [{ name: 'buy' }, { name: 'sell' }] } },
  { result: { content: [{ text: 'bought tea' }] } },
  { result: { content: [{ text: 'sold tea' }] } },
  { result: { isError: true } },
];

it('a runtime that has frozen `Reflect` gets an explanation', async () => {
  project = createProject({ peers: [] });
  project.write('server.mjs', `import '@decorum/core';`);
  const started = project.run('node', ['--frozen-intrinsics', 'server.mjs'], {});
  await expect(started).rejects.toThrow(
    'Decorum needs reflect-metadata, which could not be loaded. This runtime has frozen `Reflect`. Import Decorum before ' +
      'it is, and omit `--frozen-intrinsics`. [DECORUM_MISSING_LIBRARY]',
  );
});

describe('without class-validator and class-transformer', () => {
  it('a server with zod and JSON Schema starts and serves', async () => {
    project = createProject({ peers: [], tools: ['zod'] });
    project.write('server.mjs', ZOD_SERVER);
    expect(answers(await project.run('node', ['server.mjs'], { input: INPUT }))).toMatchObject(SERVED);
  });

  it('such a server can be bundled', async () => {
    project = createProject({ peers: [], tools: ['zod', 'rolldown'] });
    const entry = project.write('server.mjs', ZOD_SERVER);
    const options = { bundle: true, platform: 'node', logLevel: 'silent' } as const;
    for (const [format, ending] of [
      ['esm', 'mjs'],
      ['cjs', 'cjs'],
    ] as const) {
      const outfile = project.path(`esbuild.${ending}`);
      expect(buildSync({ ...options, entryPoints: [entry], outfile, format }).errors).toEqual([]);
      expect(answers(await project.run('node', [outfile], { input: INPUT }))).toMatchObject(SERVED);
      const file = project.path(`rolldown.${ending}`);
      const rolldown = ['node_modules/rolldown/bin/cli.mjs', entry, '--file', file, '--format', format];
      await project.run('node', [...rolldown, '--platform', 'node']);
      expect(answers(await project.run('node', [file], { input: INPUT }))).toMatchObject(SERVED);
    }
  });
});

it('programs compile without any optional library, and with checks of all types', async () => {
  project = createProject({ peers: [], tools: ['zod', 'typescript', '@types/node'] });
  const entries = [
    'core',
    'core/plugin',
    'core/transport',
    'http',
    'http/node',
    'http/fetch',
    'http/lambda',
    'http/cluster',
    'schema',
  ];
  const code = entries.map((entry, at) => `export * as entry${at} from '@decorum/${entry}';`).join('\n');
  const files = [project.write('module.mts', code), project.write('commonjs.cts', code)];
  const options = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2022', '--types', 'node'];
  expect(await project.run('node', ['node_modules/typescript/bin/tsc', ...options, ...files])).toBe('');
});

describe('without fastify', () => {
  it('`listen` names the package to install', async () => {
    project = createProject({ peers: [] });
    project.write(
      'server.mjs',
      `import { McpServer } from '@decorum/core';
       import { listen } from '@decorum/http';
       listen(new McpServer({ name: 'shop', version: '1.0.0' })).catch(({ message }) => console.log(message));`,
    );
    expect(await project.run('node', ['server.mjs'])).toBe(
      'listen needs fastify, which could not be loaded. Run `npm install fastify`, or serve with `nodeHandler` of ' +
        '@decorum/http/node. [DECORUM_MISSING_LIBRARY]\n',
    );
  });
});

describe('without @decorum/http and test runners', () => {
  const CONNECT = `
    import { McpServer } from '@decorum/core';
    import { connect } from '@decorum/testing';
    const server = new McpServer({ name: 'shop', version: '1.0.0' });
  `;

  it('`connect` works in memory and over stdio, and names the package that HTTP needs', async () => {
    project = createProject({ peers: [] });
    rmSync(project.path('node_modules/@decorum/http'), { recursive: true });
    project.write(
      'test.mjs',
      `${CONNECT}
       for (const via of ['memory', 'stdio']) console.log((await connect(server, { via })).revision);
       await connect(server, { via: 'http' }).catch(({ message }) => console.log(message));`,
    );
    const newest = newestOf('stateful').id;
    expect((await project.run('node', ['test.mjs'])).split('\n')).toEqual([
      newest,
      newest,
      "`via: 'http'` needs @decorum/http, which could not be loaded. Run `npm install -D @decorum/http`, or connect with " +
        "`via: 'memory'` or `via: 'stdio'`. [DECORUM_MISSING_LIBRARY]",
      '',
    ]);
  });

  it('`connect` over HTTP needs no Fastify', async () => {
    project = createProject({ peers: [] });
    project.write('test.mjs', `${CONNECT} console.log((await connect(server, { via: 'http' })).revision);`);
    expect(await project.run('node', ['test.mjs'])).toBe(`${newestOf('stateful').id}\n`);
  });
});

describe('a DTO class without its libraries fails at startup and names the packages to install', () => {
  const example = exampleOf('reference/errors.md', '### `DECORUM_MISSING_LIBRARY`');

  /** The startup error of the example. */
  async function mistake(imports: string): Promise<{ code: string; message: string }> {
    const script = compiledCode(`import { McpServer, Tool } from '@decorum/core';\n${imports}\n${example}`);
    project.write('shop.mjs', script);
    project.write(
      'main.mjs',
      `import('./shop.mjs').catch(({ code, message }) => console.log(JSON.stringify({ code, message })));`,
    );
    return JSON.parse(await project.run('node', ['main.mjs'])) as { code: string; message: string };
  }

  it.each([
    ['both are missing, as in the documentation', [], '', 'class-validator'],
    ['class-transformer is missing', ['class-validator'], `import 'class-validator';`, 'class-transformer'],
  ])('if %s', async (_what, peers, imports, needed) => {
    project = createProject({ peers });
    const { code, message } = await mistake(imports);
    expect(code).toBe('DECORUM_MISSING_LIBRARY');
    expect(message).toContain(`Shop.buy: the DTO class Order needs ${needed}`);
    expect(message).toContain('Run `npm install class-validator class-transformer`');
  });

  it('but not if they are installed and the class only lacks rules', async () => {
    project = createProject({});
    expect((await mistake('')).code).toBe('DECORUM_NO_RULES');
  });
});

const REQUEST = `
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'buy', arguments: { id: 'tea' } } };
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const request = () => new Request('http://127.0.0.1:3000/mcp', { method: 'POST', headers, body: JSON.stringify(body) });
`;
const FORBIDDEN = '--disallow-code-generation-from-strings';

describe('a runtime that forbids generated code', () => {
  it('runs the Worker of the documentation', async () => {
    project = createProject({});
    const code = compiledCode(exampleOf('operate/cloudflare.md')).replace('shop.example.workers.dev', '127.0.0.1');
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

  it('checks DTO classes and JSON Schemas, and creates instances', async () => {
    project = createProject({});
    const code = `
      import { McpServer, Tool } from '@decorum/core';
      import { fetchHandler } from '@decorum/http/fetch';
      import { IsInt, IsString, Max } from 'class-validator';

      class Order {
        @IsString() id!: string;
        @IsInt() @Max(9) count = 1;
        text() { return this.count + ' ' + this.id; }
      }
      class Shop {
        @Tool({ input: Order }) buy(order: Order) { return 'bought ' + order.text(); }
        @Tool({ input: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] } })
        sell({ id }: { id: string }) { return 'sold ' + id; }
      }
      const handler = fetchHandler(new McpServer({ name: 'shop', version: '1.0.0', providers: [Shop] }), { sessions: false });
      ${REQUEST}
      for (const [name, args] of [['buy', { id: 'tea' }], ['sell', { id: 'tea' }], ['buy', { count: 10 }], ['sell', {}]]) {
        Object.assign(body.params, { name, arguments: args });
        console.log(await (await handler(request())).text());
      }`;
    project.write('main.mjs', compiledCode(code));
    const generated = await project.run('node', ['main.mjs']);
    expect(await project.run('node', [FORBIDDEN, 'main.mjs'])).toBe(generated);
    const said = [
      'bought 1 tea',
      'sold tea',
      String.raw`id: is required\n- count: must be at most 9`,
      'id: is required',
    ];
    expect(generated.trim().split('\n')).toEqual(said.map((text) => expect.stringContaining(text) as unknown));
  });

  it('fails at startup with `listen`, and the error names the remedy', async () => {
    project = createProject({ tools: ['fastify'] });
    const example = exampleOf('reference/errors.md', '### `DECORUM_NO_CODE_GENERATION`');
    project.write(
      'main.mjs',
      `import { McpServer } from '@decorum/core';
       import { listen } from '@decorum/http';
       try { ${example} } catch ({ message }) { console.log(message); }`,
    );
    expect(await project.run('node', [FORBIDDEN, 'main.mjs'])).toBe(
      'listen needs fastify, which generates code. This runtime forbids that. Serve with `nodeHandler` of ' +
        '@decorum/http/node. [DECORUM_NO_CODE_GENERATION]\n',
    );
  });
});

describe.each(['fetch', 'node', 'lambda'])('@decorum/http/%s', (entry) => {
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
