// Projects of the generator of Nest with our packages: their tests add source files, and change no setting of the compiler or
// the test runner.
import { readFileSync, writeFileSync } from 'node:fs';

import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';

import { statuses } from '../packaging/project.js';
import { Workshop } from './created-project.js';

// package managers and compilers run in separate processes
jest.setTimeout(300_000);

const PACKAGES = ['client', 'core', 'http', 'nestjs', 'schema', 'testing', 'uri-template'].map(
  (name) => `@decorum/${name}`,
);

let workshop: Workshop;
/** They wait for the network together. */
let generating: ReadonlyMap<Stock, Promise<void>>;
beforeAll(async () => {
  workshop = await Workshop.open(PACKAGES);
  generating = new Map(STOCK.map((stock) => [stock, generate(stock)]));
  // the tests that need them fail
  for (const each of generating.values()) each.catch(() => {});
});
afterAll(() => workshop.remove());

/**
 * `extension` is how relative imports end, `json` asks the test command for a report. The generators have exact versions:
 * no release of another project may break these tests. Set newer ones together with `RELEASED_BEFORE`.
 */
const STOCK = [
  {
    version: 11,
    generator: ['@nestjs/cli@11.0.24', '@nestjs/schematics@11.1.0'],
    kind: 'CommonJS',
    type: undefined,
    test: 'jest',
    extension: '',
    json: '--json',
  },
  {
    version: 12,
    generator: ['@nestjs/cli@12.0.8', '@nestjs/schematics@12.0.6'],
    kind: 'ESM',
    type: 'module',
    test: 'vitest run',
    extension: '.js',
    json: '--reporter=json',
  },
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

/** The projects get the newest versions that were released before this day. */
const RELEASED_BEFORE = '2026-11-28';

/**
 * How pnpm installs, which links files that it has already. The folders are laid out like npm's, and contradictions between
 * the peers of packages fail as they do with npm, except for one of the generator's own tools.
 */
const INSTALL = {
  nodeLinker: 'hoisted',
  // in minutes
  minimumReleaseAge: Math.max(0, Math.floor((Date.now() - Date.parse(RELEASED_BEFORE)) / 60_000)),
  autoInstallPeers: false,
  strictPeerDependencies: true,
  peerDependencyRules: { allowedVersions: { 'tsconfck>typescript': '*' } },
};

/** Adds our packages, and installs. */
async function install(stock: Stock): Promise<void> {
  const file = `${folderOf(stock)}/package.json`;
  const generated = JSON.parse(readFileSync(file, 'utf8'));
  const tools = Object.entries<string>(generated.devDependencies).filter(([name]) => !UNUSED.test(name));
  const packed = Object.fromEntries(PACKAGES.map((name) => [name, `file:${workshop.tarball(name)}`]));
  const added = { ...packed, 'class-validator': '^0.15.1', 'class-transformer': '^0.5.1' };
  const dependencies = { ...generated.dependencies, ...added };
  writeFileSync(file, JSON.stringify({ ...generated, dependencies, devDependencies: Object.fromEntries(tools) }));
  // JSON is YAML too
  writeFileSync(`${folderOf(stock)}/pnpm-workspace.yaml`, JSON.stringify({ ...INSTALL, overrides: packed }));
  await workshop.run(folderOf(stock), 'pnpm', ['install', '--no-frozen-lockfile', '--prefer-offline']);
}

async function generate(stock: Stock): Promise<void> {
  const options = ['--skip-install', '--skip-git', '--package-manager', 'npm'];
  const packages = stock.generator.flatMap((name) => ['--package', name]);
  const generator = ['--yes', ...packages, '--', 'nest', 'new', `stock${stock.version}`, ...options];
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
