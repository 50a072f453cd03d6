// Projects of Nest's own generator with our tarballs. The tests add source files and change no setting of the compiler or
// the test runner.
import { readFileSync, writeFileSync } from 'node:fs';

import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';

import { Workshop } from '../interop/created-project.js';
import { statuses } from './project.js';

// package managers, compilers and test runners run in separate processes
jest.setTimeout(180_000);

const PACKAGES = ['core', 'http', 'nestjs', 'schema', 'testing', 'uri-template'].map((name) => `@decorum/${name}`);

/** `extension` is how relative imports end, `json` asks the test command for a report. */
const STOCK = [
  { version: 11, kind: 'CommonJS', type: undefined, test: 'jest', extension: '', json: '--json' },
  { version: 12, kind: 'ESM', type: 'module', test: 'vitest run', extension: '.js', json: '--reporter=json' },
];
type Stock = (typeof STOCK)[number];

const provider = ({ extension }: Stock) => `
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

const spec = ({ extension }: Stock) => `
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

let workshop: Workshop;
const folder = ({ version }: Stock) => workshop.path(`stock${version}`);

/** Serves the generated module over MCP, with one more provider and its test. */
function serve(stock: Stock): void {
  const file = `${folder(stock)}/src/app.module.ts`;
  const generated = readFileSync(file, 'utf8');
  const served = generated
    .replace('imports: [', "imports: [McpModule.forRoot({ name: 'weather', version: '1.0.0' })")
    .replace('providers: [', 'providers: [Weather, ');
  const imports = `import { McpModule } from '@decorum/nestjs';\nimport { Weather } from './weather${stock.extension}';\n`;
  writeFileSync(file, `${imports}${served}`);
  writeFileSync(`${folder(stock)}/src/weather.ts`, provider(stock));
  writeFileSync(`${folder(stock)}/src/weather.spec.ts`, spec(stock));
}

/** What the generator adds for its own commands and for editors, and no test here starts. */
const UNUSED = /eslint|prettier|^@nestjs\/(?:cli|schematics)$|^(?:globals|ts-loader|source-map-support)$/;

/** Adds our packages, and installs with pnpm, which links files that it has already. The folders are laid out like npm's. */
async function install(stock: Stock): Promise<void> {
  const file = `${folder(stock)}/package.json`;
  const generated = JSON.parse(readFileSync(file, 'utf8'));
  const tools = Object.entries<string>(generated.devDependencies).filter(([name]) => !UNUSED.test(name));
  const packed = Object.fromEntries(PACKAGES.map((name) => [name, `file:${workshop.tarball(name)}`]));
  const added = { ...packed, 'class-validator': '*', 'class-transformer': '*' };
  const dependencies = { ...generated.dependencies, ...added };
  writeFileSync(file, JSON.stringify({ ...generated, dependencies, devDependencies: Object.fromEntries(tools) }));
  // npm alone fails if the peers of packages contradict each other
  await workshop.run(folder(stock), 'npm', ['install', '--package-lock-only', '--ignore-scripts', '--no-audit']);
  const settings = { nodeLinker: 'hoisted', overrides: packed };
  // JSON is YAML too
  writeFileSync(`${folder(stock)}/pnpm-workspace.yaml`, JSON.stringify(settings));
  await workshop.run(folder(stock), 'pnpm', ['install', '--no-frozen-lockfile', '--prefer-offline']);
}

async function generate(stock: Stock): Promise<void> {
  const options = ['--skip-install', '--skip-git', '--package-manager', 'npm'];
  const generator = ['--yes', `@nestjs/cli@${stock.version}`, 'new', `stock${stock.version}`, ...options];
  await workshop.run(workshop.folder, 'npx', generator);
  await install(stock);
  serve(stock);
}

beforeAll(async () => {
  workshop = await Workshop.pack();
  await Promise.all(STOCK.map(generate));
});
afterAll(() => workshop.remove());

describe.each(STOCK)('a project of the Nest $version generator with our packages', (stock) => {
  it(`is ${stock.kind} and runs \`${stock.test}\` as its tests`, () => {
    const { type, scripts } = JSON.parse(readFileSync(`${folder(stock)}/package.json`, 'utf8'));
    expect({ type, test: scripts.test }).toEqual({ type: stock.type, test: stock.test });
  });

  it('compiles with its own tsc and settings', async () => {
    expect(await workshop.run(folder(stock), 'npm', ['exec', '--', 'tsc', '--noEmit'])).toBe('');
  });

  it('passes its own test command, with a test that calls a tool', async () => {
    const report = await workshop.run(folder(stock), 'npm', ['test', '--silent', '--', stock.json]);
    expect(statuses(report.slice(report.indexOf('{')))).toEqual({
      'calls a tool': 'passed',
      'should return "Hello World!"': 'passed',
    });
  });
});
