import { createServer, type AddressInfo } from 'node:net';

import { McpServer } from '@decorum/core';
import { connect } from '@decorum/testing';
import { afterEach, describe, expect, it } from '@jest/globals';

import { exportedServer } from '../src/entry.js';

import { conversation } from '../../../test/packaging/project.js';
import { CLOCK, createProject, type Project, type Running } from './project.js';

let project: Project | undefined;
afterEach(() => project?.remove());

const URL_LINE = /clock 1\.0\.0 {3}(http:\/\/127\.0\.0\.1:\d+\/mcp)/;

const INITIALIZE = conversation([]).split('\n')[0]!;
const EXPORTED = `${CLOCK} export default Clock;`;

/** Calls a tool of a program, once that serves. */
async function called(running: Running, name = 'now'): Promise<unknown> {
  const client = await connect((await running.printed(URL_LINE))[1]!);
  try {
    return (await client.callTool(name)).content;
  } finally {
    await client.close();
  }
}

const NOON = [{ type: 'text', text: 'noon' }];

class Greeter extends McpServer {
  constructor() {
    super({ name: 'greeter', version: '1.0.0' });
  }
}

describe('decorum start serves what the entry exports', () => {
  const greeter = new Greeter();
  it.each([
    { as: 'an instance as `server`', exports: { server: greeter } },
    { as: 'a subclass as `default`', exports: { default: Greeter } },
    { as: 'a subclass as `server`', exports: { server: Greeter, default: class {} } },
    { as: 'a factory as `server`', exports: { server: () => greeter } },
    { as: 'an asynchronous factory as `default`', exports: { server: class {}, default: async () => greeter } },
  ])('$as', async ({ exports }) => {
    expect((await exportedServer(exports))?.info).toMatchObject({ name: 'greeter' });
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('over HTTP, until %s', async (signal) => {
    project = createProject({
      'package.json': { type: 'module' },
      'src/clock.ts': CLOCK,
      'src/main.ts': `import { Clock } from './clock.js'; export default async () => new Clock();`,
    });
    const running = project.start(['start', '--http']);
    expect(await called(running)).toEqual(NOON);
    running.child.kill(signal);
    const { code, stderr } = await running.ended;
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: 'src/main.ts is TypeScript and compiled as it loads. Run `decorum build` for production.\n',
    });
  });

  it('from a CommonJS program, over HTTP without a flag', async () => {
    project = createProject({
      'package.json': { name: 'app' },
      'tsconfig.json': {
        compilerOptions: { module: 'commonjs', experimentalDecorators: true, emitDecoratorMetadata: true },
      },
      'src/clock.ts': CLOCK,
      'src/server.ts': `import { Clock } from './clock'; export const server = new Clock();`,
    });
    expect(await called(project.start(['start']))).toEqual(NOON);
  });

  it('over stdio, with nothing but messages on stdout', async () => {
    // printed before the server owns stdout
    project = createProject({ 'main.ts': `console.log('loading'); ${EXPORTED}` });
    const { code, stdout, stderr } = await project.decorum(['start', '--stdio', 'main.ts'], { input: INITIALIZE });
    expect(JSON.parse(stdout)).toMatchObject({ result: { serverInfo: { name: 'clock' } } });
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('loading\n') });
  });

  it('with the environment of a file, where variables that are set win', async () => {
    project = createProject({
      '.env.test': 'GREETING=file\nOTHER=file\n',
      'main.ts': `${EXPORTED} console.error(process.env['GREETING'], process.env['OTHER']);`,
    });
    const { stderr } = await project.decorum(['start', '--stdio', '--env-file', '.env.test', 'main.ts'], {
      env: { GREETING: 'shell' },
    });
    expect(stderr).toContain('shell file\n');
  });

  it('to the hosts of ALLOWED_HOSTS', async () => {
    project = createProject({ 'main.ts': EXPORTED });
    const env = { HOST: '0.0.0.0', ALLOWED_HOSTS: 'mcp.example.com, other.example.com' };
    const running = project.start(['start', '--http', 'main.ts'], env);
    expect(await called(running)).toEqual(NOON);
  });
});

describe('decorum start runs a program that serves by itself', () => {
  it('and does not serve the server that it exports once more', async () => {
    project = createProject({
      'main.ts': `
        import { listen } from '@decorum/http';
        ${CLOCK}
        export const server = new Clock();
        const { url } = await listen(server, { port: Number(process.env['PORT']) });
        console.log('clock 1.0.0   ' + url, process.argv.slice(2).join(' '));`,
    });
    const running = project.start(['start', '--http', 'main.ts', '--', '--city', 'Oslo']);
    expect(await called(running)).toEqual(NOON);
    running.child.kill('SIGINT');
    const { code, stdout } = await running.ended;
    expect({ code, lines: stdout.trim().split('\n') }).toEqual({
      code: 0,
      lines: [expect.stringMatching(/mcp --http --city Oslo$/)],
    });
  });

  it('and lets calls end on SIGTERM, also if the program handles no signals', async () => {
    project = createProject({
      'package.json': { name: 'app' },
      'tsconfig.json': {
        compilerOptions: { module: 'nodenext', experimentalDecorators: true, emitDecoratorMetadata: true },
      },
      'src/main.ts': `
        import express = require('express');
        import { McpServer, Tool } from '@decorum/core';
        import { nodeHandler } from '@decorum/http/node';
        class Slow {
          @Tool({ description: 'Ends after a signal' })
          async wait() {
            const told = new Promise((resolve) => process.on('SIGUSR2', resolve));
            console.log('waiting');
            await told;
            return 'done';
          }
        }
        const app = express();
        app.use('/mcp', nodeHandler(new McpServer({ name: 'slow', version: '1.0.0', providers: [Slow] })));
        const listener = app.listen(0, '127.0.0.1', () => console.log('clock 1.0.0   http://127.0.0.1:' + listener.address().port + '/mcp'));`,
    });
    const running = project.start(['start', 'src/main.ts']);
    const answer = called(running, 'wait');
    await running.printed(/waiting/);
    running.child.kill('SIGTERM');
    running.child.kill('SIGUSR2');
    expect(await answer).toEqual([{ type: 'text', text: 'done' }]);
    expect((await running.ended).code).toBe(0);
  });

  it('as the main module, with its own arguments', async () => {
    project = createProject({
      'package.json': { name: 'app' },
      'tsconfig.json': { compilerOptions: { module: 'commonjs' } },
      'main.ts': `
        import { serveStdio, McpServer } from '@decorum/core';
        if (require.main === module) void serveStdio(new McpServer({ name: process.argv[2], version: '1.0.0' }));`,
    });
    const { code, stdout } = await project.decorum(['start', 'main.ts', '--', 'mine'], { input: INITIALIZE });
    expect({ code, name: JSON.parse(stdout).result.serverInfo.name }).toEqual({ code: 0, name: 'mine' });
  });
});

describe('decorum start prefers', () => {
  const written = (file: string) => `
    import { McpServer } from '@decorum/core';
    console.error('runs ${file}');
    export const server = new McpServer({ name: 'app', version: '1.0.0' });`;

  it.each([
    {
      runs: 'out/server.js',
      files: ['src/server.ts', 'src/index.ts', 'out/server.js'],
      tsconfig: { compilerOptions: { outDir: 'out', rootDir: 'src' } },
    },
    {
      runs: 'out/src/main.js',
      files: ['src/main.ts', 'out/src/main.js'],
      tsconfig: { compilerOptions: { outDir: 'out' } },
    },
    { runs: 'dist/main.js', files: ['dist/index.js', 'dist/main.js'], tsconfig: undefined },
    { runs: 'src/index.ts', files: ['src/index.ts'], tsconfig: undefined },
  ])('$runs if there are $files', async ({ runs, files, tsconfig }) => {
    project = createProject({
      'package.json': { type: 'module' },
      ...(tsconfig && { 'tsconfig.json': tsconfig }),
      ...Object.fromEntries(files.map((file) => [file, written(file)])),
    });
    const { code, stderr } = await project.decorum(['start', '--stdio']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining(`runs ${runs}\n`) });
    expect(stderr.includes('is TypeScript')).toBe(runs.endsWith('.ts'));
  });
});

describe('decorum start explains', () => {
  const fails = async (code: string, env: Record<string, string> = {}) => {
    project = createProject({ 'package.json': { type: 'module' }, 'main.ts': code });
    const { stderr, ...ended } = await project.decorum(['start', 'main.ts'], { env });
    return { ...ended, stderr: stderr.replace(/^main\.ts is TypeScript.*\n/, '') };
  };

  const WRONG = `
import { Completion, McpServer } from '@decorum/core';
class Weather {
  @Completion({ for: 'forecast', argument: 'city' })
  cities() { return []; }
}
export const server = () => new McpServer({ name: 'weather', version: '1.0.0', providers: [Weather] });`;

  it.each([
    [
      'a program that exports no server and ends',
      'export const weather = 1;',
      /^main\.ts has ended without serving\. Export an McpServer, a subclass of it, or a function that returns one, as `server` or `default`\. An object that contains a server doesn't count\.\n$/,
    ],
    [
      'a program that waits forever for something that keeps no process alive',
      'await new Promise(() => {});\nexport {};',
      /^main\.ts has ended without serving\./,
    ],
    [
      'an error that the program throws, with its place and without a stack',
      '\nfunction load(): string {\n  return JSON.parse("{");\n}\nload();',
      /^main\.ts:3:15 {2}SyntaxError: Expected property name[^\n]+\n$/,
    ],
    [
      'an error of a `main` that nothing awaits, the same way',
      "async function main() {\n  await null;\n  throw new Error('No key.');\n}\nmain();",
      /^main\.ts:3:9 {2}No key\.\n$/,
    ],
    [
      'a mistake in a decorator, with the line of the member',
      WRONG,
      /^main\.ts:5:3 {2}Weather\.cities completes "forecast".* \[DECORUM_DANGLING_COMPLETION\]\n$/,
    ],
    [
      'a syntax error, with its frame',
      'const city = ;\n',
      /^main\.ts:1:14 {2}Unexpected token\n\n> 1 \| const city = ;\n {4}\| {14}\^\n {2}2 \|\n$/,
    ],
    [
      'a name that is declared twice, which only Node.js notices',
      'interface Removed {\n  city: string;\n}\nconst city = 1;\nconst city = 2;\nexport {};\n',
      /^main\.ts:[45]:7 {2}Identifier `city` has already been declared\n\n/,
    ],
    ['a package that is missing', `import 'not-installed';`, /^main\.ts {2}.*Cannot find package 'not-installed'/],
  ])('%s', async (_what, code, stderr) => {
    expect(await fails(code)).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(stderr) });
  });

  it.each([
    { serves: 'exports a server', code: EXPORTED },
    {
      serves: 'listens itself',
      code: `import { listen } from '@decorum/http'; ${CLOCK}
        await listen(new Clock(), { port: Number(process.env['PORT']) });`,
    },
    {
      serves: 'listens after it has loaded',
      code: `import { createServer } from 'node:http'; ${CLOCK}
        import { nodeHandler } from '@decorum/http/node';
        createServer(nodeHandler(new Clock())).listen(Number(process.env['PORT']), '127.0.0.1');`,
    },
  ])('a port that is taken, to a program that $serves', async ({ code }) => {
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as AddressInfo;
    const ended = await fails(code, { PORT: String(port) });
    await new Promise((resolve) => other.close(resolve));
    expect(ended).toEqual({
      code: 3,
      stdout: '',
      stderr: `Port ${port} is taken: another program listens there. Set PORT to another port, or to 0 for any that is free.\n`,
    });
  });

  it.each([
    { env: { PORT: 'http' }, problem: /^PORT is "http"\. Set it to a whole number from 0 to 65535\.\n$/ },
    { env: { HOST: '0.0.0.0' }, problem: /^HOST is 0\.0\.0\.0, .* but ALLOWED_HOSTS is not set\. Set it to/ },
  ])('the environment $env', async ({ env, problem }) => {
    expect(await fails(EXPORTED, env)).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(problem) });
  });
});
