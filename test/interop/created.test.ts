// Projects that a generator creates with our packages: those of `create-decorum`, from nothing to a call by an official
// client, and those of Nest, whose tests add source files and change no setting of the compiler or the test runner.
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

import { createKey, HostileIssuer } from '../auth/hostile-issuer.js';
import { User } from '../auth/user.js';
import { statuses } from '../packaging/project.js';
import { freePort } from '../support/dev-project.js';
import { buildImage, Serving, Workshop } from './created-project.js';

// package managers, compilers and servers run in separate processes
jest.setTimeout(300_000);

const AUDIENCE = 'https://mcp.example.com/mcp';

let workshop: Workshop;
let issuer: HostileIssuer;
/** The projects of Nest, which wait for the network while others are tested. */
let generating: ReadonlyMap<Stock, Promise<void>>;
beforeAll(async () => {
  workshop = await Workshop.open();
  generating = new Map(STOCK.map((stock) => [stock, generate(stock)]));
  // the tests that need them fail
  for (const each of generating.values()) each.catch(() => {});
  issuer = await HostileIssuer.open([createKey('ES256', 'one')]);
});
afterAll(async () => {
  workshop.remove();
  await issuer.stop();
});

type Transport = Parameters<Client['connect']>[0];

/** Calls a tool, and always closes the client: an open one keeps its server alive. */
async function call(transport: Transport, name: string, args: Record<string, unknown>): Promise<unknown> {
  const client = new Client({ name: 'test', version: '1.0.0' });
  try {
    await client.connect(transport);
    return (await client.callTool({ name, arguments: args })).content;
  } finally {
    await client.close();
  }
}

/** Runs scripts of a project with a package manager. */
async function run(project: string, installer: string, ...scripts: string[]): Promise<void> {
  for (const name of scripts) {
    const printed = await workshop.run(workshop.path(project), installer, ['run', name]);
    // jest prints its summary to stderr
    const isSummary = name === 'test' && !existsSync(workshop.path(project, 'jest.config.json'));
    if (isSummary) expect(printed).toMatch(/Tests.* 2 passed/);
  }
}

/** Starts a server over HTTP, and stops it after `use`. */
async function serve(command: readonly string[], cwd: string, env: object, use: (url: URL) => Promise<void>) {
  const serving = await Serving.start(command, { cwd, env: workshop.env({ ...env, PORT: '0' }) });
  await use(new URL(serving.url)).finally(() => serving.stop());
}

const BUILT = ['node', 'dist/main.js'];
const WITH_ENV = ['node', '--env-file=.env', 'dist/main.js'];

async function expectForecast(url: URL): Promise<void> {
  const forecast = await call(new StreamableHTTPClientTransport(url), 'forecast', { city: 'Oslo' });
  expect(forecast).toEqual([{ type: 'text', text: 'Oslo: snow, -3 °C' }]);
}

describe('a project of the template minimal serves an official client over stdio', () => {
  const expectGreeting = async (command: string, args: string[], cwd: string) => {
    const transport = new StdioClientTransport({ command, args, cwd, env: workshop.env() });
    expect(await call(transport, 'greet', { name: 'Ada' })).toMatchObject([{ text: 'Hello, Ada!' }]);
  };
  const create = async (name: string, count: number, ...flags: string[]) => {
    const printed = await workshop.create(name, '--pm', name, ...flags);
    expect(printed).toMatch(`✔ ${name}: ${count} files, dependencies installed\n  ${name} run dev `);
  };

  it('from its Dockerfile, installed by pnpm and tested by jest', async () => {
    await create('pnpm', 13, '--test', 'jest');
    await run('pnpm', 'pnpm', 'test', 'typecheck');
    const { folder, command } = await buildImage(workshop, workshop.path('pnpm'));
    const [program = '', ...args] = command;
    await expectGreeting(program, args, folder);
  });

  it('from its scripts, installed by yarn and tested by vitest', async () => {
    await create('yarn', 12);
    await run('yarn', 'yarn', 'test', 'build');
    await expectGreeting('npm', ['start', '--silent'], workshop.path('yarn'));
  });
});

it('a project of the template http serves an official client from its Dockerfile, with nothing of its tools', async () => {
  // as README.md announces it
  expect(await workshop.create('weather', '--template', 'http')).toBe(
    '✔ weather: 11 files, dependencies installed\n' +
      '  npm run dev    serves http://127.0.0.1:3000/mcp and follows your edits\n',
  );
  await run('weather', 'npm', 'test', 'typecheck');
  const { folder, command, env } = await buildImage(workshop, workshop.path('weather'));
  expect(env['HOST']).toBe('0.0.0.0');
  await serve(command, folder, env, expectForecast);
  const installed = ['@decorum/core', '@decorum/cli', 'typescript'].map((name) =>
    existsSync(`${folder}/node_modules/${name}`),
  );
  expect(installed).toEqual([true, false, false]);
});

it('a project of the template nestjs serves an official client', async () => {
  await workshop.create('station', '--template', 'nestjs', '--pm', 'pnpm');
  await run('station', 'npm', 'test', 'typecheck', 'build');
  await serve(BUILT, workshop.path('station'), {}, expectForecast);
});

it('a project of the template secured serves an official client with a token of its issuer, and no other', async () => {
  await workshop.create('notes', '--template', 'secured', '--issuer', issuer.url, '--pm', 'pnpm');
  await run('notes', 'npm', 'test', 'typecheck', 'build');
  await serve(WITH_ENV, workshop.path('notes'), { AUDIENCE }, async (url) => {
    const transport = (claims: Record<string, unknown>) => {
      const headers = { authorization: `Bearer ${issuer.sign({ aud: AUDIENCE, ...claims })}` };
      return new StreamableHTTPClientTransport(url, { requestInit: { headers } });
    };
    const add = { text: 'Buy milk' };
    expect(await call(transport({ scope: 'notes:write' }), 'add', add)).toMatchObject([{ text: 'You have 1 notes.' }]);
    expect(await call(transport({}), 'list', {})).toMatchObject([{ text: 'Buy milk' }]);
    await expect(call(transport({}), 'add', add)).rejects.toThrow(/403|scope/i);
    const other = call(transport({ aud: 'https://other.example.com' }), 'list', {});
    await expect(other).rejects.toThrow('Authentication is required');
    expect(await call(new StreamableHTTPClientTransport(url), 'about', {})).toHaveLength(1);
  });
});

it('a project of the template secured signs its user in itself, also after a restart, with no tool installed', async () => {
  const printed = await workshop.create('diary', '--template', 'secured');
  const [, password = ''] = /sign in as alice, with the password (\S+)/.exec(printed) ?? [];
  await run('diary', 'npm', 'test', 'typecheck');
  const { folder, command, env } = await buildImage(workshop, workshop.path('diary'));
  cpSync(workshop.path('diary/data'), join(folder, 'data'), { recursive: true });
  const [program = '', ...args] = command;
  const start = [program, `--env-file=${workshop.path('diary/.env')}`, ...args];
  const served = workshop.env({ ...env, HOST: '127.0.0.1', PORT: String(await freePort()) });
  const user = new User(undefined, undefined, { name: 'alice', password });
  const transport = (url: string) => new StreamableHTTPClientTransport(new URL(url), { authProvider: user });
  const first = await Serving.start(start, { cwd: folder, env: served });
  const signIn = transport(first.url);
  expect(await call(transport(first.url), 'about', {})).toHaveLength(1);
  await expect(call(signIn, 'list', {})).rejects.toThrow(/unauthorized/i);
  await signIn.finishAuth(user.callback);
  expect(await call(transport(first.url), 'add', { text: 'Buy milk' })).toMatchObject([{ text: 'You have 1 notes.' }]);
  await first.stop();
  const second = await Serving.start(start, { cwd: folder, env: served });
  expect(await call(transport(second.url), 'list', {})).toMatchObject([{ text: 'You have no notes.' }]);
  expect(user.asked).toHaveLength(1);
  await second.stop();
});

const PACKAGES = ['client', 'core', 'http', 'nestjs', 'schema', 'testing', 'uri-template'].map(
  (name) => `@decorum/${name}`,
);

/** `extension` is how relative imports end, `json` asks the test command for a report. */
const STOCK = [
  { version: 11, kind: 'CommonJS', type: undefined, test: 'jest', extension: '', json: '--json' },
  { version: 12, kind: 'ESM', type: 'module', test: 'vitest run', extension: '.js', json: '--reporter=json' },
];
type Stock = (typeof STOCK)[number];

const providerOf = ({ extension }: Stock) => `
import { Tool } from '@decorum/core';
import { Injectable } from '@nestjs/common';
import { IsString } from 'class-validator';
import { AppService } from './app.service${extension}';

export class Place {
  @IsString() city: string;
}

@Injectable()
export class Weather {
  constructor(private readonly service: AppService) {}

  @Tool({ description: 'Forecast for a city' })
  forecast({ city }: Place): string {
    return \`\${this.service.getHello()} Sun in \${city}.\`;
  }
}
`;

const specOf = ({ extension }: Stock) => `
import { McpServer } from '@decorum/core';
import { connect } from '@decorum/testing';
import { Test } from '@nestjs/testing';
import { AppModule } from './app.module${extension}';

it('calls a tool', async () => {
  const module = await Test.createTestingModule({ imports: [AppModule] }).compile();
  const app = module.createNestApplication();
  await app.init();
  const client = await connect(app.get(McpServer));
  const { content } = await client.callTool('forecast', { city: 'Oslo' });
  expect(content).toEqual([{ type: 'text', text: 'Hello World! Sun in Oslo.' }]);
  await app.close();
});
`;

const folderOf = ({ version }: Stock) => workshop.path(`stock${version}`);

/** Serves the generated module over MCP, with one more provider and its test. */
function serveStock(stock: Stock): void {
  const file = `${folderOf(stock)}/src/app.module.ts`;
  const generated = readFileSync(file, 'utf8');
  const served = generated
    .replace('imports: [', "imports: [McpModule.forRoot({ name: 'weather', version: '1.0.0' })")
    .replace('providers: [', 'providers: [Weather, ');
  const imports = `import { McpModule } from '@decorum/nestjs';\nimport { Weather } from './weather${stock.extension}';\n`;
  writeFileSync(file, `${imports}${served}`);
  writeFileSync(`${folderOf(stock)}/src/weather.ts`, providerOf(stock));
  writeFileSync(`${folderOf(stock)}/src/weather.spec.ts`, specOf(stock));
}

/** What the generator adds for its own commands and for editors, and no test here starts. */
const UNUSED = /eslint|prettier|^@nestjs\/(?:cli|schematics)$|^(?:globals|ts-loader|source-map-support)$/;

/** Adds our packages, and installs with pnpm, which links files that it has already. The folders are laid out like npm's. */
async function install(stock: Stock): Promise<void> {
  const file = `${folderOf(stock)}/package.json`;
  const generated = JSON.parse(readFileSync(file, 'utf8'));
  const tools = Object.entries<string>(generated.devDependencies).filter(([name]) => !UNUSED.test(name));
  const packed = Object.fromEntries(PACKAGES.map((name) => [name, `file:${workshop.tarball(name)}`]));
  const added = { ...packed, 'class-validator': '*', 'class-transformer': '*' };
  const dependencies = { ...generated.dependencies, ...added };
  writeFileSync(file, JSON.stringify({ ...generated, dependencies, devDependencies: Object.fromEntries(tools) }));
  // npm alone fails if the peers of packages contradict each other
  await workshop.run(folderOf(stock), 'npm', ['install', '--package-lock-only', '--ignore-scripts', '--no-audit']);
  const settings = { nodeLinker: 'hoisted', overrides: packed };
  // JSON is YAML too
  writeFileSync(`${folderOf(stock)}/pnpm-workspace.yaml`, JSON.stringify(settings));
  await workshop.run(folderOf(stock), 'pnpm', ['install', '--no-frozen-lockfile', '--prefer-offline']);
}

async function generate(stock: Stock): Promise<void> {
  const options = ['--skip-install', '--skip-git', '--package-manager', 'npm'];
  const generator = ['--yes', `@nestjs/cli@${stock.version}`, 'new', `stock${stock.version}`, ...options];
  await workshop.run(workshop.folder, 'npx', generator);
  await install(stock);
  serveStock(stock);
}

describe.each(STOCK)('a project of the Nest $version generator with our packages', (stock) => {
  beforeAll(() => generating.get(stock));

  it(`is ${stock.kind} and runs \`${stock.test}\` as its tests`, () => {
    const { type, scripts } = JSON.parse(readFileSync(`${folderOf(stock)}/package.json`, 'utf8'));
    expect({ type, test: scripts.test }).toEqual({ type: stock.type, test: stock.test });
  });

  it('compiles with its own tsc and settings', async () => {
    expect(await workshop.run(folderOf(stock), 'npm', ['exec', '--', 'tsc', '--noEmit'])).toBe('');
  });

  it('passes its own test command, with a test that calls a tool', async () => {
    const report = await workshop.run(folderOf(stock), 'npm', ['test', '--silent', '--', stock.json]);
    expect(statuses(report.slice(report.indexOf('{')))).toEqual({
      'calls a tool': 'passed',
      'should return "Hello World!"': 'passed',
    });
  });
});
