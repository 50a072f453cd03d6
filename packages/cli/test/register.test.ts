import { afterEach, describe, expect, it } from '@jest/globals';

import { createProject, GREETER, type Project, ROOT } from './project.js';

let project: Project;
afterEach(() => project.remove());

const run = async (file: string) => await project.node(['--import', '@decorum/cli/register', file]);

const LEGACY = { experimentalDecorators: true, emitDecoratorMetadata: true };

/** Calls the greeter, which can be created only if the type of its parameter was emitted. */
const CALLS = `
import { connect } from '@decorum/testing';

import { Greeter } from './greeter.js';

const client = await connect(new Greeter());
const { content } = await client.callTool('greet', { name: 'Ada' });
console.log(content[0].text);
await client.close();
`;

describe('node --import @decorum/cli/register', () => {
  it('emits the types of parameters without a tsconfig or package.json', async () => {
    project = createProject({ 'main.ts': CALLS, 'greeter.ts': GREETER });
    expect(await run('main.ts')).toEqual({ code: 0, stdout: 'Hello, Ada!\n', stderr: '' });
  });

  it('follows a tsconfig that extends another one', async () => {
    project = createProject({
      'package.json': { type: 'module' },
      'tsconfig.json': { extends: './config/base.json' },
      'config/base.json': { compilerOptions: { ...LEGACY, paths: { '@app/*': ['../src/*'] } } },
      'src/main.ts': CALLS.replace('./greeter.js', '@app/greeter'),
      'src/greeter.ts': GREETER,
    });
    expect(await run('src/main.ts')).toEqual({ code: 0, stdout: 'Hello, Ada!\n', stderr: '' });
  });

  it('follows the tsconfig that the nearest one refers to and that includes the file', async () => {
    project = createProject({
      'package.json': { type: 'module' },
      'tsconfig.json': { files: [], references: [{ path: './other' }, { path: './tsconfig.app.json' }] },
      'other/tsconfig.json': { compilerOptions: {}, include: ['.'] },
      'tsconfig.app.json': { compilerOptions: LEGACY, include: ['src'] },
      'src/main.ts': CALLS,
      'src/greeter.ts': GREETER,
    });
    expect(await run('src/main.ts')).toMatchObject({ code: 0, stdout: 'Hello, Ada!\n' });
  });

  it.each([
    { imports: { '#app/*': './dist/*' }, specifier: '#app/greeter.js' },
    { imports: { '#greeter': { types: './x.d.ts', default: './dist/greeter.js' } }, specifier: '#greeter' },
    { imports: { '#app/*': './src/*.js' }, specifier: '#app/greeter' },
  ])('resolves $specifier to its source, although package.json names the built file (#23)', async (example) => {
    project = createProject({
      'package.json': { type: 'module', imports: example.imports },
      'tsconfig.json': { compilerOptions: { ...LEGACY, outDir: 'dist' } },
      'src/main.ts': CALLS.replace('./greeter.js', example.specifier),
      'src/greeter.ts': GREETER,
      'dist/greeter.js': `throw new Error('This is the last build.');`,
    });
    expect(await run('src/main.ts')).toEqual({ code: 0, stdout: 'Hello, Ada!\n', stderr: '' });
  });

  it('resolves the imports of a CommonJS package the same way, and leaves other names to Node.js (#23)', async () => {
    project = createProject({
      'package.json': { imports: { '#app/*': './dist/*.js', '#rules': 'class-validator' } },
      'tsconfig.json': { compilerOptions: { ...LEGACY, module: 'commonjs', rootDir: 'src', outDir: 'dist' } },
      'src/main.ts': `import { Greeter } from '#app/greeter'; import { IsInt } from '#rules'; console.log(Greeter.name, IsInt.name);`,
      'src/greeter.ts': GREETER,
    });
    expect(await run('src/main.ts')).toEqual({ code: 0, stdout: 'Greeter IsInt\n', stderr: '' });
    project.write({ 'src/main.ts': `import { Greeter } from '#missing'; console.log(Greeter);` });
    const { code, stderr } = await run('src/main.ts');
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('ERR_PACKAGE_IMPORT_NOT_DEFINED') });
  });

  it('compiles standard decorators if the tsconfig asks for no others', async () => {
    project = createProject({
      'package.json': { type: 'module' },
      'tsconfig.json': { compilerOptions: {} },
      'main.ts': `
        const kind = (_value: unknown, { kind }: DecoratorContext) => console.log(kind);
        class Weather { @kind forecast() {} }
        new Weather();`,
    });
    expect(await run('main.ts')).toEqual({ code: 0, stdout: 'method\n', stderr: '' });
  });

  it.each([
    { verbatimModuleSyntax: true, printed: 'loaded\nmain\n' },
    { verbatimModuleSyntax: false, printed: 'main\n' },
  ])('runs imports of types alone with verbatimModuleSyntax: $verbatimModuleSyntax', async (each) => {
    const { verbatimModuleSyntax, printed } = each;
    project = createProject({
      'package.json': { type: 'module' },
      'tsconfig.json': { compilerOptions: { verbatimModuleSyntax } },
      'types.ts': `console.log('loaded'); export interface Query { city: string }`,
      'erased.ts': `console.log('erased'); export interface Other { city: string }`,
      'main.ts': `
        import { type Query } from './types.js';
        import type { Other } from './erased.js';
        console.log('main' satisfies keyof { main: Query | Other });`,
    });
    expect(await run('main.ts')).toEqual({ code: 0, stdout: printed, stderr: '' });
  });

  it('runs ES modules with imported interfaces in decorated signatures, as tsc compiles them', async () => {
    project = createProject({
      'package.json': { type: 'module' },
      'tsconfig.json': { compilerOptions: LEGACY },
      'types.ts': `
        import '@decorum/core';
        export interface Query { city: string }
        export default interface Units { metric: boolean }
        export class Options {}
        export const inspect: MethodDecorator = (target, key) => {
          const types = Reflect.getMetadata('design:paramtypes', target, key);
          console.log(types.map((type: { name: string }) => type.name).join());
        };`,
      'main.ts': `
        import Units, { inspect, Options, Query as Asked } from './types.js';
        class Weather {
          @inspect forecast(query: Asked, units: Units, options: Options) {}
          /** For an Asked, in its Units. */
          @inspect alerts(query: Asked) {}
        }
        new Weather();`,
    });
    expect(await run('main.ts')).toEqual({ code: 0, stdout: 'Object,Object,Options\nObject\n', stderr: '' });
  });

  it.each(['nodenext', 'commonjs'])('runs CommonJS projects, with module: %s', async (module) => {
    project = createProject({
      'package.json': { name: 'app' },
      'tsconfig.json': { compilerOptions: { ...LEGACY, module } },
      'src/data.json': { city: 'Oslo' },
      'src/helper/index.ts': `export const city = require('../data').city; export { default as shout } from './shout';`,
      'src/helper/shout.ts': `export default (text: string) => text.toUpperCase();`,
      'src/main.ts': `
        import { basename } from 'node:path';
        import { city, shout } from './helper';
        if (require.main === module) console.log(basename(__filename), city);
        void import('./helper').then(({ city, shout }) => console.log(shout(city)));`,
    });
    expect(await run('src/main.ts')).toEqual({ code: 0, stdout: 'main.ts Oslo\nOSLO\n', stderr: '' });
  });

  it('lets ES modules import the names of CommonJS modules', async () => {
    project = createProject({
      'one.cts': `export const city = 'Oslo';`,
      'many.cts': `export * from './one.cjs'; export enum Units { Metric } export const days = 3, hours = 4;`,
      'main.mts': `
        import { city, days, Units } from './many.cjs';
        import { city as same } from './one.cjs';
        console.log(city === same, days, Units.Metric);`,
    });
    expect(await run('main.mts')).toEqual({ code: 0, stdout: 'true 3 0\n', stderr: '' });
  });

  it('shows the lines of the source in stacks', async () => {
    project = createProject({
      'main.ts': `
interface Removed {
  city: string;
}
export const fail = ({ city }: Removed): string => {
  throw new Error(city);
};
try {
  fail({ city: 'Oslo' });
} catch (error) {
  console.log((error as Error).stack);
}`,
    });
    const { stdout } = await run('main.ts');
    expect(stdout.replaceAll(project.folder, '')).toMatch(/at fail \(\/main\.ts:6:9\)\n +at .*\/main\.ts:9:3/);
  });

  it.each(['module', 'commonjs'])('draws a frame for a syntax error in a file of type %s', async (type) => {
    project = createProject({
      'package.json': { type },
      'main.ts': `import './weather.js';`,
      'weather.ts': `export class Weather {\n\tforecast() {\n\t\treturn 1 2;\n\t}\n}\n`,
    });
    const { code, stderr } = await run('main.ts');
    expect(code).toBe(1);
    expect(stderr).toContain('weather.ts:3:11  Expected a semicolon or an implicit semicolon after a statement');
    const frame = ['  2 |  forecast() {', '> 3 |   return 1 2;', '    |           ^', '  4 |  }'];
    expect(stderr).toContain(frame.join('\n'));
    expect(stderr).not.toContain('loader');
  });

  it.each([
    ['method', 'async #search() {}', '4:22'],
    ['field', '#search = 1;', '4:16'],
  ])('rejects a decorator on a private %s, which the compiler would drop (#23)', async (_, member, place) => {
    const shop = `const Mark = (_: string) => (..._place: unknown[]) => {};
export class Shop {
  // unlike @Mark() #search
    @Mark('(') ${member}
}`;
    project = createProject({ 'package.json': { type: 'module' }, 'main.ts': shop });
    expect((await run('main.ts')).stderr).toContain(
      `main.ts:${place}  A private name can't be decorated. Rename #search to search, or remove its decorators.`,
    );
    project.write({
      'main.ts': `class Shop { /* @Mark() #search() {} */ #search() { return 'found'; } find() { return this.#search(); } }
      console.log(new Shop().find());`,
    });
    expect(await run('main.ts')).toEqual({ code: 0, stdout: 'found\n', stderr: '' });
  });

  it('says which tsconfig can not be read', async () => {
    project = createProject({ 'tsconfig.json': { extends: './nothing.json' }, 'main.ts': '' });
    const says = `The tsconfig.json of ${project.folder} can't be read: File './nothing.json' not found.`;
    const [loaded, started] = [await run('main.ts'), await project.decorum(['start', 'main.ts'])];
    expect(loaded).toMatchObject({ code: 1, stderr: expect.stringContaining(says) });
    expect(started).toMatchObject({ code: 1, stderr: expect.stringContaining(says) });
  });

  it('leaves installed packages to Node.js', async () => {
    project = createProject({
      'node_modules/typed/package.json': { name: 'typed', type: 'module', exports: './index.ts' },
      'node_modules/typed/index.ts': `export const typed: boolean = true;`,
      'main.ts': `import 'typed';`,
    });
    expect((await run('main.ts')).stderr).toMatch(/node_modules\/typed\/index\.ts/);
  });

  it('tells which files a program has loaded, also the one that does not compile', async () => {
    project = createProject({
      'package.json': { type: 'module' },
      'tsconfig.json': { compilerOptions: LEGACY },
      'main.ts': `import './helper.js'; import './plain.js'; import './broken.js';`,
      'helper.ts': ``,
      'plain.js': ``,
      'broken.ts': `}`,
      'run.js': `
        import { installLoader } from '${ROOT}packages/cli/dist/loader/install.js';
        const { files } = installLoader();
        await import('./main.ts').catch(() => {});
        console.log([...files()].map((file) => file.slice(import.meta.dirname.length + 1)).sort().join());`,
    });
    const { stdout } = await project.node(['run.js']);
    expect(stdout).toBe('broken.ts,helper.ts,main.ts,plain.js,tsconfig.json\n');
  });
});
