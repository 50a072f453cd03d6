import { readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { checkNode } from '../src/doctor/checks/node.js';
import { checkCopies, checkPackages } from '../src/doctor/checks/packages.js';
import { type Manifest, manifestIn } from '../src/doctor/place.js';
import type { Result } from '../src/doctor/result.js';
import { createProject, GREETER, type Project, ROOT, type RunOptions, TSCONFIG } from './project.js';

const MANIFEST = {
  name: 'greeter',
  type: 'module',
  dependencies: { '@decorum/core': '*', '@decorum/http': '*', 'class-validator': '*', 'class-transformer': '*' },
};

let project: Project;
beforeEach(() => {
  project = createProject({
    'package.json': MANIFEST,
    'tsconfig.json': TSCONFIG,
    'src/main.ts': GREETER.replace('export class', 'export default class'),
  });
});
afterEach(() => project.remove());

/** What the doctor says, without what is fine. */
async function complaints(args: readonly string[] = [], options?: RunOptions) {
  const { code, stdout } = await project.decorum(['doctor', '--json', ...args], options);
  const results = JSON.parse(stdout) as Result[];
  const found = results.filter(({ status }) => status !== 'ok').map(({ check, status, text }) => [check, status, text]);
  return { code, found };
}

const options = (given: object) => ({ ...TSCONFIG, compilerOptions: { ...TSCONFIG.compilerOptions, ...given } });

describe('decorum doctor', () => {
  it('says of each check that a healthy project is fine, and exits with 0', async () => {
    const { code, stdout, stderr } = await project.decorum(['doctor']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.trimEnd().split('\n')).toEqual([
      expect.stringMatching(/^ok {7}Node\.js {3}\d+\.\d+\.\d+$/),
      'ok       project   greeter with @decorum/core, @decorum/http',
      'ok       tsconfig  tsconfig.json: legacy decorators with their types',
      'ok       types     nothing here leaves out the types of parameters',
      expect.stringMatching(/^ok {7}packages {2}\d packages of Decorum, all \d+\.\d+\.\d+$/),
      'ok       copies    one of each package that decorators write to',
      'ok       program   src/main.ts: greeter 1.0.0',
      'ok       stdout    nothing is printed before the program serves',
      'ok       port      PORT is 0: any that is free',
    ]);
  });

  it('makes the checks that docs/reference/cli.md names', async () => {
    project.write({
      'package.json': { ...MANIFEST, dependencies: { ...MANIFEST.dependencies, '@decorum/redis': '*' } },
    });
    const { stdout } = await project.decorum(['doctor', '--json'], { env: { DECORUM_SECRET: 'x'.repeat(32) } });
    const made = (JSON.parse(stdout) as Result[]).map(({ check }) => check);
    const [, section = ''] = readFileSync(join(ROOT, 'docs/reference/cli.md'), 'utf8').split(
      '\n## Find out what is wrong\n',
    );
    const [own = ''] = section.split('\n## ');
    expect([...own.matchAll(/^\| `([\w.]+)` \|/gm)].map(([, name]) => name)).toEqual([...new Set(made)]);
  });

  it('refuses a file that does not exist', async () => {
    expect(await project.decorum(['doctor', 'src/nothing.ts'])).toMatchObject({ code: 2, stdout: '' });
  });

  it('says where to go without a package.json, and in a folder that has none at all', async () => {
    rmSync(join(project.folder, 'package.json'));
    const { code, found } = await complaints();
    expect({ code, first: found[0] }).toEqual({
      code: 1,
      first: ['project', 'problem', 'there is no package.json here or above'],
    });
    for (const each of ['src', 'tsconfig.json']) rmSync(join(project.folder, each), { recursive: true });
    expect((await complaints()).found.map(([check]) => check)).toEqual(['project', 'program']);
  });

  it('names a package.json that is broken, or without Decorum', async () => {
    project.write({ 'package.json': '{ "name": ' });
    expect((await complaints()).found).toContainEqual(['project', 'problem', 'package.json is not valid JSON']);
    project.write({ 'package.json': { name: 'other', type: 'module' } });
    expect((await complaints()).found).toContainEqual([
      'project',
      'problem',
      'package.json names no package of Decorum',
    ]);
  });

  it('tells the root of a workspace from its packages', async () => {
    project.write({
      'package.json': { name: 'root', private: true },
      'pnpm-workspace.yaml': 'packages: [packages/*]\n',
      'packages/greeter/package.json': MANIFEST,
      'packages/greeter/tsconfig.json': TSCONFIG,
      'packages/greeter/src/main.ts': GREETER.replace('export class', 'export default class'),
    });
    const { code, found } = await complaints();
    expect(found[0]).toEqual(['project', 'warning', 'this is the root of a workspace, without Decorum']);
    expect(code).toBe(0);
    expect(await complaints(['packages/greeter/src/main.ts'])).toEqual({ code: 0, found: [] });
  });
});

describe('the doctor, of a tsconfig,', () => {
  it('names one that is broken, without ending there', async () => {
    project.write({ 'tsconfig.json': { extends: './missing.json' } });
    const { code, found } = await complaints();
    expect(code).toBe(1);
    expect(found).toContainEqual(['tsconfig', 'problem', expect.stringContaining("can't be read")]);
    expect(found.map(([check]) => check)).toContain('program');
  });

  it('names the line of a syntax error, and not what is missing because of it', async () => {
    project.write({
      'tsconfig.json': '{\n  "compilerOptions": {\n    "strict": true\n    "module": "nodenext"\n  }\n}',
    });
    const { code, found } = await complaints();
    expect(code).toBe(1);
    expect(found.filter(([check]) => check === 'tsconfig')).toEqual([
      ['tsconfig', 'problem', expect.stringContaining('tsconfig.json:4 has a syntax error')],
    ]);
  });

  it('reads comments and commas at the end', async () => {
    const text = JSON.stringify(TSCONFIG).replace('{', '// ours\n{').replace(/\}$/, ',}');
    project.write({ 'tsconfig.json': text });
    expect((await complaints()).found).toEqual([]);
  });

  const CASES: readonly (readonly [string, object, string, string])[] = [
    ['metadata without legacy decorators', { experimentalDecorators: false }, 'problem', 'does nothing without'],
    ['legacy decorators without types', { emitDecoratorMetadata: false }, 'warning', 'are not emitted'],
    [
      'standard decorators beside class-validator',
      { experimentalDecorators: false, emitDecoratorMetadata: false },
      'problem',
      "class-validator's rules",
    ],
    ['an old resolution of modules', { module: 'esnext', moduleResolution: 'node10' }, 'problem', 'moduleResolution'],
    ['paths that no compiler changes', { paths: { '@app/*': ['./src/*'] } }, 'warning', 'not in the built program'],
  ];
  it.each(CASES)('complains of %s', async (_name, given, status, text) => {
    project.write({ 'tsconfig.json': options(given) });
    const { found } = await complaints();
    expect(found.filter(([check]) => check === 'tsconfig')).toEqual([
      ['tsconfig', status, expect.stringContaining(text)],
    ]);
  });

  it('misses a compiler that is not installed', async () => {
    rmSync(join(project.folder, 'node_modules/typescript'));
    expect((await complaints()).found).toEqual([['tsconfig', 'warning', expect.stringContaining('is not installed')]]);
  });

  it('has nothing to say to JavaScript', async () => {
    project.write({
      'src/main.js': `import { McpServer } from '@decorum/core';\nexport default new McpServer({ name: 'plain', version: '1.0.0' });`,
    });
    expect(await complaints(['src/main.js'])).toEqual({ code: 0, found: [] });
  });
});

describe('the doctor, of emitted types,', () => {
  const typed = async () => (await complaints()).found.filter(([check]) => check === 'types');

  it('names scripts that lose them, and none that keep them', async () => {
    const scripts = {
      dev: 'tsx watch src/main.ts',
      start: 'node src/main.ts',
      build: 'tsc',
      serve: 'node dist/main.js',
      register: 'node --import @decorum/cli/register src/main.ts',
      bundle: 'tsc && esbuild dist/main.js --bundle',
      tsNode: 'ts-node src/main.ts',
      output: 'esbuild src/main.ts --bundle --outfile=dist/main.js',
      import: 'node --import=tsx src/main.ts',
      esm: 'node --import tsx/esm src/main.ts',
    };
    project.write({ 'package.json': { ...MANIFEST, scripts } });
    expect(await typed()).toEqual([
      ['types', 'warning', 'the script "dev" uses tsx, which emits no types of parameters'],
      ['types', 'problem', 'the script "start" runs TypeScript with Node.js, which doesn\'t run decorators'],
      ['types', 'warning', 'the script "output" uses esbuild, which emits no types of parameters'],
      ['types', 'warning', 'the script "import" uses tsx, which emits no types of parameters'],
      ['types', 'warning', 'the script "esm" uses tsx, which emits no types of parameters'],
    ]);
  });

  it('reads .swcrc and the version of Vitest', async () => {
    project.write({
      '.swcrc': { jsc: { transform: { legacyDecorator: true } } },
      'node_modules/vitest/package.json': { name: 'vitest', version: '3.2.4' },
    });
    expect((await typed()).map(([, status, text]) => [status, text])).toEqual([
      ['warning', '.swcrc emits no types of parameters'],
      ['warning', 'Vitest 3.2.4 emits no types of parameters in tests'],
    ]);
    project.write({
      '.swcrc': { jsc: { transform: { legacyDecorator: true, decoratorMetadata: true } } },
      'node_modules/vitest/package.json': { name: 'vitest', version: '4.0.1' },
    });
    expect(await typed()).toEqual([]);
  });

  it('looks at what was built', async () => {
    for (const decorate of [
      '__decorate([Tool({})], Greeter.prototype, "greet", null)',
      '__decorateClass([Tool({})])',
    ]) {
      project.write({ 'dist/main.js': `${decorate};\n` });
      expect(await typed()).toEqual([['types', 'warning', 'dist was built without the types of parameters']]);
    }
    expect((await project.decorum(['build'])).code).toBe(0);
    expect(await typed()).toEqual([]);
  });
});

/** A project with packages of our own making, because those of `createProject` are links to this repository. */
function packagesIn(files: Readonly<Record<string, string | object>>, manifest: Manifest) {
  rmSync(join(project.folder, 'node_modules'), { recursive: true });
  project.write({ ...files, 'package.json': manifest });
  const place = { root: project.folder, manifest: manifestIn(project.folder), entry: undefined, env: {} };
  const texts = (results: readonly Result[]) => results.filter(({ status }) => status !== 'ok').map(({ text }) => text);
  return { packages: () => texts(checkPackages(place)), copies: () => texts(checkCopies(place)) };
}

const CORE = { name: '@decorum/core', version: '1.2.0', dependencies: { '@decorum/schema': '^1.0.0' } };
const SCHEMA = { name: '@decorum/schema', version: '1.2.0', peerDependencies: { 'class-validator': '^0.15.1' } };
const VALIDATOR = { name: 'class-validator', version: '0.15.1' };
const NEEDS = { dependencies: { '@decorum/core': '^1.0.0', 'class-validator': '^0.15.1' } };
const TREE = {
  'node_modules/@decorum/core/package.json': CORE,
  'node_modules/@decorum/schema/package.json': SCHEMA,
  'node_modules/class-validator/package.json': VALIDATOR,
};

describe('the doctor, of installed packages,', () => {
  it('has nothing to say of one version and one copy of each', () => {
    const { packages, copies } = packagesIn(TREE, NEEDS);
    expect([...packages(), ...copies()]).toEqual([]);
  });

  it('names what is missing, mixed, or does not fit', () => {
    const { packages } = packagesIn(
      {
        ...TREE,
        'node_modules/@decorum/schema/package.json': { ...SCHEMA, version: '1.1.0' },
        'node_modules/class-validator/package.json': { ...VALIDATOR, version: '0.14.2' },
      },
      { dependencies: { ...NEEDS.dependencies, '@decorum/http': '^1.0.0' } },
    );
    expect(packages()).toEqual([
      '@decorum/http in package.json, but not installed',
      'versions are mixed: @decorum/core 1.2.0, @decorum/schema 1.1.0',
      '@decorum/schema needs class-validator ^0.15.1, not 0.14.2',
    ]);
  });

  it('names a peer that is not installed, unless it is optional', () => {
    const { 'node_modules/class-validator/package.json': _left, ...without } = TREE;
    expect(packagesIn(without, NEEDS).packages()).toEqual([
      '@decorum/schema needs class-validator, which is not installed',
    ]);
    const optional = { ...SCHEMA, peerDependenciesMeta: { 'class-validator': { optional: true } } };
    project.write({ 'node_modules/.keep': '' });
    expect(packagesIn({ ...without, 'node_modules/@decorum/schema/package.json': optional }, NEEDS).packages()).toEqual(
      [],
    );
  });

  it('finds a second copy that npm has nested', () => {
    const nested = { 'node_modules/@decorum/schema/node_modules/class-validator/package.json': VALIDATOR };
    expect(packagesIn({ ...TREE, ...nested }, NEEDS).copies()).toEqual([
      expect.stringMatching(
        /^2 copies of class-validator.* \S+\/node_modules\/class-validator \(found from the project\), \S+\/schema\/node_modules\/class-validator \(found from @decorum\/schema\)$/,
      ),
    ]);
  });

  it('finds a second copy that pnpm has made for other peers', () => {
    const store = 'node_modules/.pnpm';
    const dtos = { name: 'dtos', version: '1.0.0', peerDependencies: { 'class-validator': '*' } };
    const { copies } = packagesIn(
      {
        [`${store}/core@1/node_modules/@decorum/core/package.json`]: { ...CORE, dependencies: {} },
        [`${store}/dtos@1/node_modules/dtos/package.json`]: dtos,
        [`${store}/dtos@1/node_modules/class-validator/package.json`]: { ...VALIDATOR, version: '0.14.2' },
        'node_modules/@decorum/.keep': '',
        'node_modules/class-validator/package.json': VALIDATOR,
      },
      { dependencies: { ...NEEDS.dependencies, dtos: '*' } },
    );
    const link = (target: string, name: string) =>
      symlinkSync(join(project.folder, store, target), join(project.folder, 'node_modules', name));
    link('core@1/node_modules/@decorum/core', '@decorum/core');
    link('dtos@1/node_modules/dtos', 'dtos');
    expect(copies()).toEqual([expect.stringMatching(/^2 copies of class-validator.*\(found from dtos\)$/)]);
  });
});

describe('the doctor, in a project of another kind,', () => {
  it('finds no copies that are there for other packages of a workspace', () => {
    const store = 'node_modules/.pnpm';
    const { copies } = packagesIn(
      {
        [`${store}/core@1/node_modules/@decorum/core/package.json`]: CORE,
        [`${store}/core@1/node_modules/@decorum/schema/package.json`]: SCHEMA,
        [`${store}/cli@1/node_modules/@decorum/cli/package.json`]: { name: '@decorum/cli', version: '1.2.0' },
        [`${store}/node_modules/@decorum/schema/package.json`]: SCHEMA,
        'node_modules/@decorum/.keep': '',
      },
      { dependencies: { '@decorum/core': '^1.0.0', '@decorum/cli': '^1.0.0' } },
    );
    for (const name of ['core', 'cli'])
      symlinkSync(
        join(project.folder, store, `${name}@1/node_modules/@decorum/${name}`),
        join(project.folder, `node_modules/@decorum/${name}`),
      );
    expect(copies()).toEqual([]);
  });

  it("says that the command line can't do without node_modules, and not that everything is missing", () => {
    const { packages } = packagesIn({ '.pnp.cjs': '' }, NEEDS);
    expect(packages()).toEqual([expect.stringContaining("Plug'n'Play")]);
  });
});

describe('the doctor, of the program,', () => {
  it('says why it fails to load', async () => {
    project.write({ 'src/main.ts': 'throw new Error("no database");\n' });
    const { code, found } = await complaints();
    expect({ code, found }).toEqual({
      code: 1,
      found: [['program', 'problem', 'src/main.ts:1:7  no database']],
    });
    project.write({ 'src/main.ts': 'process.exit(3);\n' });
    expect((await complaints()).found).toEqual([['program', 'problem', expect.stringContaining('exit code 3')]]);
    project.write({ 'src/main.ts': 'export const answer = 42;\n' });
    expect((await complaints()).found).toEqual([['program', 'warning', expect.stringContaining('creates no server')]]);
  });

  it('says it without the lines of the source', async () => {
    project.write({ 'src/main.cts': 'export const answer = 42;\nawait Promise.resolve();\n' });
    const [problem] = (await complaints(['src/main.cts'])).found;
    expect(problem).toEqual([
      'program',
      'problem',
      expect.stringMatching(/CommonJS has no `await`.*async function\.$/),
    ]);
  });

  it('names what it prints while it loads, without escape sequences', async () => {
    const printing = `console.log('\\u001b[31mBooting\\u001b[0m');\nconsole.log('more');\n${GREETER.replace('export class', 'export default class')}`;
    project.write({ 'src/main.ts': printing });
    const { code, found } = await complaints();
    expect({ code, found }).toEqual({
      code: 0,
      found: [['stdout', 'warning', expect.stringMatching(/^src\/main\.ts prints before it serves: "Booting"\./)]],
    });
  });

  it('need not wait for programs that it has started', async () => {
    const waits =
      "setInterval(() => require('fs').existsSync('stop') && process.exit(), 50); setTimeout(() => process.exit(), 60000)";
    const starting = `import { spawn } from 'node:child_process';
      spawn(process.execPath, ['-e', ${JSON.stringify(waits)}], { stdio: ['ignore', 'inherit', 'ignore'], detached: true }).unref();`;
    project.write({ 'src/main.ts': `${starting}\n${GREETER.replace('export class', 'export default class')}` });
    const { found } = await complaints();
    project.write({ stop: '' });
    expect(found).toEqual([]);
  });

  it('is asked for if it is nowhere', async () => {
    rmSync(join(project.folder, 'src/main.ts'));
    expect((await complaints()).found).toEqual([['program', 'warning', expect.stringContaining('src/server.ts')]]);
  });
});

describe('the doctor, of the surroundings,', () => {
  it('names a port that is taken, or none at all', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const PORT = String((server.address() as AddressInfo).port);
    expect(await complaints([], { env: { PORT } })).toEqual({
      code: 0,
      found: [['port', 'warning', `${PORT} is taken, maybe by your own server`]],
    });
    await new Promise((resolve) => server.close(resolve));
    expect(await complaints([], { env: { PORT: 'http' } })).toEqual({
      code: 1,
      found: [['port', 'problem', 'PORT is "http"']],
    });
  });

  it('asks for a secret where a package needs one, and reads .env', async () => {
    for (const name of ['@decorum/audit', '@decorum/files', '@decorum/tasks']) {
      project.write({ 'package.json': { ...MANIFEST, dependencies: { ...MANIFEST.dependencies, [name]: '*' } } });
      expect((await complaints()).found).toEqual([['secret', 'warning', expect.stringContaining(name)]]);
    }
    project.write({ '.env': `DECORUM_SECRET=${'x'.repeat(32)}\n` });
    expect((await complaints()).found).toEqual([]);
  });

  it('knows which versions of Node.js are fine', () => {
    const place = { root: '', manifest: { engines: { node: '>=22' } }, entry: undefined, env: {} };
    const said = (version: string, manifest: Manifest = {}) =>
      checkNode({ ...place, manifest }, version).map(({ status, text }) => `${status} ${text}`);
    expect(said('18.20.0')).toEqual(['problem 18.20.0 is too old: Decorum needs >=20.19']);
    expect(said('20.20.2')).toEqual(['ok 20.20.2']);
    expect(said('24.0.0-nightly20260101')).toEqual(['ok 24.0.0-nightly20260101']);
    expect(said('23.1.0')[0]).toMatch(/^warning 23\.1\.0 has an odd number/);
    expect(said('20.20.2', place.manifest)).toEqual([
      'problem 20.20.2 runs, but `engines` of package.json asks for >=22',
    ]);
  });
});
