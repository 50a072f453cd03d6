import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { newestOf } from '@decorum/core/internal';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { transformSync } from '@swc/core';
import { buildSync } from 'esbuild';

import { answers, conversation, createProject, type Project, ROOT } from './project.js';

// compilers and servers run in separate processes
jest.setTimeout(60_000);

let project: Project;
afterEach(() => project.remove());

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

const compile = (code: string): string =>
  transformSync(code, {
    swcrc: false,
    jsc: {
      target: 'es2022',
      parser: { syntax: 'typescript', decorators: true },
      transform: { legacyDecorator: true, decoratorMetadata: true },
    },
  }).code;

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
  const page = readFileSync(join(ROOT, 'docs/errors.md'), 'utf8');
  const example = /### `DECORUM_MISSING_LIBRARY`[^]*?```ts\n([^]*?)```/.exec(page)?.[1] ?? '';
  const REMEDY = 'Run `npm install class-validator class-transformer`';

  /** The startup error of the example. */
  async function mistake(imports: string): Promise<{ code: string; message: string }> {
    const script = compile(`import { McpServer, Tool } from '@decorum/core';\n${imports}\n${example}`);
    project.write('shop.mjs', script);
    project.write(
      'main.mjs',
      `import('./shop.mjs').catch(({ code, message }) => console.log(JSON.stringify({ code, message })));`,
    );
    return JSON.parse(await project.run('node', ['main.mjs'])) as { code: string; message: string };
  }

  it('if both are missing, as in the documentation', async () => {
    project = createProject({ peers: [] });
    const { code, message } = await mistake('');
    expect(code).toBe('DECORUM_MISSING_LIBRARY');
    expect(message).toContain('Shop.buy: the DTO class Order needs class-validator');
    expect(message).toContain(REMEDY);
  });

  it('if class-transformer is missing', async () => {
    project = createProject({ peers: ['class-validator'] });
    const { code, message } = await mistake(`import 'class-validator';`);
    expect(code).toBe('DECORUM_MISSING_LIBRARY');
    expect(message).toContain('Shop.buy: the DTO class Order needs class-transformer');
    expect(message).toContain(REMEDY);
  });

  it('but not if they are installed and the class only lacks rules', async () => {
    project = createProject({});
    expect((await mistake('')).code).toBe('DECORUM_NO_RULES');
  });
});
