import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { unzipSync } from 'fflate';

import { answers, conversation } from '../../../test/packaging/project.js';
import { createProject, type Ended, GREETER, type Project, runNode, TSCONFIG } from './project.js';

// each command starts a compiler and several more processes, one after the other
jest.setTimeout(180_000);

const alone = mkdtempSync(join(tmpdir(), 'decorum-alone-'));
let project: Project;
beforeEach(() => void mkdirSync(alone, { recursive: true }));
afterEach(() => {
  project.remove();
  rmSync(alone, { recursive: true, force: true });
});

const MODULE = { name: 'greeter', version: '1.0.0', type: 'module', dependencies: { '@decorum/core': '*' } };
const MAIN = `
import { serveStdio } from '@decorum/core';
import { Greeter } from './server.js';
await serveStdio(new Greeter());
`;
const HELLO = conversation([
  ['greet', { name: 'Ada' }],
  ['greet', { name: 1 }],
]);
type Files = Readonly<Record<string, string | object>>;

function create(main: string, files: Files = {}): void {
  project = createProject({
    'package.json': MODULE,
    'tsconfig.json': TSCONFIG,
    'src/server.ts': GREETER,
    'src/main.ts': main,
    ...files,
  });
}

/** A package of others. */
const installed = (name: string, files: Files, manifest: object = {}): Files =>
  Object.fromEntries(
    Object.entries({ 'package.json': { name, version: '1.0.0', ...manifest }, ...files }).map(([path, content]) => [
      `node_modules/${name}/${path}`,
      content,
    ]),
  );

const bundle = (...args: string[]): Promise<Ended> => project.decorum(['build', '--bundle', ...args]);

/** Runs the bundle, copied to a folder without the project. */
async function runAlone(input = HELLO): Promise<Ended> {
  cpSync(join(project.folder, 'dist/bundle'), alone, { recursive: true });
  project.remove();
  return await runNode([join(alone, 'main.js')], { cwd: tmpdir(), input });
}

/** Asks for its path only in a comment: it is in the bundle. */
const HARMLESS = `// __dirname\nvar toString = {}.toString; exports.text = toString.call(1);`;

describe('decorum build --bundle', () => {
  it('writes one file that answers in an empty folder as the program does, with the names of its classes', async () => {
    create(
      `${MAIN}\nimport { Greeting } from './greeting.js';\nimport { Greeting as Other } from './other.js';
      console.error(Greeting.name, Other.name);`,
      { 'src/greeting.ts': 'export class Greeting {}', 'src/other.ts': 'export class Greeting {}' },
    );
    expect(await bundle()).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^dist\/bundle\/main\.js {3}1\.\d MB$/m),
    });
    // an image runs it as another user
    expect(statSync(join(project.folder, 'dist/bundle')).mode & 0o5).toBe(0o5);
    const { stdout } = await project.node(['dist/main.js'], { input: HELLO });
    const ended = await runAlone();
    expect(answers(ended.stdout)).toEqual(answers(stdout));
    expect(ended).toMatchObject({ code: 0, stderr: 'Greeting Greeting\n' });
  });

  it('bundles a CommonJS program that serves only if it is the main module', async () => {
    create(
      `import { serveStdio } from '@decorum/core';
      import { Greeter } from './server';
      if (require.main === module) void serveStdio(new Greeter());`,
      { 'package.json': { ...MODULE, type: 'commonjs' } },
    );
    expect(await bundle()).toMatchObject({ code: 0 });
    expect(answers((await runAlone()).stdout)[2]).toMatchObject({ result: { content: [{ text: 'Hello, Ada!' }] } });
  });

  it('keeps what a program exports', async () => {
    create(`export { Greeter as server } from './server.js';`);
    expect(await bundle()).toMatchObject({ code: 0 });
    const file = JSON.stringify(join(project.folder, 'dist/bundle/main.js'));
    const { stdout } = await project.node(['-e', `import(${file}).then(({ server }) => console.log(server.name))`]);
    expect(stdout).toBe('Greeter\n');
  });

  it('has one copy of a class, whether it is imported or required', async () => {
    create(
      `${MAIN}\nimport { McpServer } from '@decorum/core';\nimport plain from 'plain';
      console.error(plain.McpServer === McpServer);`,
      {
        ...installed('plain', { 'index.js': `${HARMLESS}\nexports.McpServer = require('@decorum/core').McpServer;` }),
        'src/plain.d.ts': `declare module 'plain' { const plain: { McpServer: unknown }; export default plain; }`,
      },
    );
    expect(await bundle()).toMatchObject({ code: 0 });
    expect(existsSync(join(project.folder, 'dist/bundle/node_modules'))).toBe(false);
    expect(await runAlone()).toMatchObject({ stderr: 'true\n' });
  });

  it('leaves native packages outside, with all that they need, and runs with them beside it', async () => {
    create(`${MAIN}\nimport binary from 'binary';\nimport tool from 'tool';\nconsole.error(binary.tool === tool);`, {
      ...installed('tool', { 'index.js': `module.exports = { name: 'tool' };` }),
      ...installed(
        'binary',
        { 'index.js': `exports.tool = require('tool');`, 'prebuilds/any/binary.node': 'not read' },
        { dependencies: { tool: '*' } },
      ),
      'src/types.d.ts': `declare module 'binary' { const binary: { tool: unknown }; export default binary; }
        declare module 'tool' { const tool: unknown; export default tool; }`,
    });
    const { stdout } = await bundle();
    expect(stdout).toMatch(/^ {2}beside it, in node_modules: binary$/m);
    expect(await runAlone()).toMatchObject({ code: 0, stderr: 'true\n' });
    expect(existsSync(join(alone, 'node_modules/tool/index.js'))).toBe(true);
  });

  it('leaves packages outside that read files beside them, and those that --external names', async () => {
    create(`${MAIN}\nimport page from 'page';\nimport other from 'other';\nconsole.error(page, other);`, {
      ...installed('page', {
        'index.js': `module.exports = require('fs').readFileSync(require('path').join(__dirname, 'page.txt'), 'utf8');`,
        'page.txt': 'a page',
      }),
      ...installed('other', { 'index.js': `module.exports = 'another';` }),
      'src/types.d.ts': `declare module 'page' { const text: string; export default text; }
        declare module 'other' { const text: string; export default text; }`,
    });
    const { stdout } = await bundle('--external', 'other');
    expect(stdout).toMatch(/^ {2}beside it, in node_modules: other, page$/m);
    expect(await runAlone()).toMatchObject({ code: 0, stderr: 'a page another\n' });
  });

  it('names optional packages that are not installed, and loads nothing of them before the program does', async () => {
    create(
      `${MAIN}\nimport maybe from 'maybe';\nconsole.error(maybe.extra);
      void import('later').catch((error: unknown) => console.error((error as { code: string }).code));`,
      {
        ...installed('maybe', {
          'index.js': `let extra; try { extra = require('absent'); } catch (error) { extra = error.code; } exports.extra = extra;`,
        }),
        ...installed('later', { 'index.js': `import { gone } from 'gone'; console.error(gone);` }, { type: 'module' }),
        'src/types.d.ts': `declare module 'maybe' { const maybe: { extra: string }; export default maybe; }
        declare module 'later' {}`,
      },
    );
    const { stdout } = await bundle();
    expect(stdout).toMatch(/^ {2}not installed, so not in it: absent, gone$/m);
    expect(await runAlone()).toMatchObject({ code: 0, stderr: 'MODULE_NOT_FOUND\nERR_MODULE_NOT_FOUND\n' });
  });

  it('finds files of the project that modules read relative to themselves, and says which', async () => {
    create(`${MAIN}\nimport { text } from './deep/texts.js';\nconsole.error(text);`, {
      'src/deep/texts.ts': `import { readFileSync } from 'node:fs';
          import { fileURLToPath } from 'node:url';
          export const text = [
            readFileSync(new URL('../../texts/hello.txt', import.meta.url), 'utf8'),
            fileURLToPath(import.meta.url).replaceAll('\\\\', '/').split('/').slice(-3).join('/'),
          ].join(' ');`,
      'texts/hello.txt': 'hello',
    });
    const { stdout, stderr } = await bundle();
    expect([stdout, stderr]).toEqual([
      expect.stringMatching(
        /^ {2}it reads, so keep beside `dist`: texts\/hello\.txt\n {2}may read files beside: dist\/deep\/texts\.js$/m,
      ),
      expect.anything(),
    ]);
    const { stderr: printed } = await project.node(['dist/bundle/main.js']);
    expect(printed).toBe('hello dist/deep/texts.js\n');
  });

  it('explains a bundle that does not start, and leaves the last one as it was', async () => {
    create(MAIN, {
      ...installed('odd', {
        'index.js': `const name = './' + 'part.js'; module.exports = require(name);`,
        'part.js': '',
      }),
      'src/odd.d.ts': `declare module 'odd' {}`,
    });
    await bundle();
    const first = readFileSync(join(project.folder, 'dist/bundle/main.js'), 'utf8');
    project.write({ 'src/main.ts': `import 'odd';\n${MAIN}` });
    expect(await bundle()).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /The bundle of dist\/main\.js doesn't start, .*part\.js[^]*leave it out of the bundle: --external NAME\.\n$/,
      ),
    });
    expect(readFileSync(join(project.folder, 'dist/bundle/main.js'), 'utf8')).toBe(first);
    expect(await bundle('--external', 'odd')).toMatchObject({ code: 0 });
  });

  it('replaces no files that are not of a bundle', async () => {
    create(`import './bundle/main.js';`, { 'src/bundle/main.ts': MAIN.replace('./server', '../server') });
    expect(await bundle()).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^The bundle would replace the files in dist\/bundle, .* Rename the folder of their/,
      ),
    });
    const { stdout } = await project.node(['dist/main.js'], { input: HELLO });
    expect(answers(stdout)[2]).toMatchObject({ result: { content: [{ text: 'Hello, Ada!' }] } });
  });

  it('refuses a rolldown that it does not know, and names that the program does not load', async () => {
    create(MAIN);
    expect(await bundle('--external', 'lodash')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^--external is lodash, but the program loads no package of that name\./m),
    });
    project.write(installed('rolldown', { 'index.js': '' }, { version: '0.9.0', main: 'index.js' }));
    expect(await bundle()).toMatchObject({
      code: 3,
      stderr:
        '--bundle needs rolldown ^1.2.0, but 0.9.0 is installed. Run `npm install -D rolldown@^1.2.0` (pnpm add -D, yarn add -D).\n',
    });
    expect(await project.decorum(['build', '--external', 'pino'])).toMatchObject({ code: 2 });
  });
});

describe('decorum build --bundle --mcpb', () => {
  it('puts one file into the bundle for clients, which serves over stdio what the program exports', async () => {
    create(`export { Greeter as server } from './server.js';`, {
      'package.json': { ...MODULE, files: ['dist', 'data'] },
      'data/a.txt': 'a',
    });
    expect(await bundle('--mcpb')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^greeter\.mcpb {3}\d\.\d MB$/m),
    });
    const files = unzipSync(readFileSync(join(project.folder, 'greeter.mcpb')));
    expect(Object.keys(files).toSorted()).toEqual([
      'data/a.txt',
      'dist/bundle/main.js',
      'dist/bundle/package.json',
      'manifest.json',
    ]);
    for (const path of ['main.js', 'package.json'])
      writeFileSync(join(alone, path), files[`dist/bundle/${path}`] ?? '');
    const { stdout } = await runNode([join(alone, 'main.js')], { cwd: tmpdir(), input: HELLO });
    expect(answers(stdout)[2]).toMatchObject({ result: { content: [{ text: 'Hello, Ada!' }] } });
  });
});

describe('decorum build --docker', () => {
  it('explains a program that serves nothing by itself, and a project without a lockfile', async () => {
    create(`export { Greeter as server } from './server.js';`);
    expect(await project.decorum(['build', '--docker'])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^dist\/main\.js exports its server but doesn't serve it, /),
    });
    project.write({ 'src/main.ts': MAIN });
    expect(await project.decorum(['build', '--docker'])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/has no lockfile/),
    });
    project.write({ 'package-lock.json': {} });
    expect(await project.decorum(['build', '--docker'])).toMatchObject({ code: 0 });
    // over stdio, there is nothing to ask
    const written = readFileSync(join(project.folder, 'Dockerfile'), 'utf8');
    expect(written).not.toMatch(/HEALTHCHECK|EXPOSE|HOST/);
    expect(written).toMatch(/\nUSER node\nCMD \["node", "dist\/main\.js"\]\n$/);
  });

  it('names the program as the image has it', async () => {
    create(MAIN, { 'package-lock.json': {}, 'src/other.ts': MAIN });
    expect(await project.decorum(['build', join(project.folder, 'src/other.ts'), '--docker'])).toMatchObject({
      code: 0,
    });
    expect(readFileSync(join(project.folder, 'Dockerfile'), 'utf8')).toContain(
      '\nRUN npx --no -- decorum build src/other.ts\n',
    );
  });

  it('quotes paths with spaces', async () => {
    const files = { 'src/my server.ts': MAIN, 'texts of it/a.txt': 'a' };
    create(MAIN, { 'package-lock.json': {}, 'package.json': { ...MODULE, files: ['texts of it'] }, ...files });
    expect(await project.decorum(['build', 'src/my server.ts', '--docker'])).toMatchObject({ code: 0 });
    const written = readFileSync(join(project.folder, 'Dockerfile'), 'utf8');
    expect(written).toContain("\nRUN npx --no -- decorum build 'src/my server.ts'\n");
    expect(written).toContain('\nCOPY --from=build ["/app/texts of it", "./texts of it"]\n');
    expect(written).toContain('\nCMD ["node", "dist/my server.js"]\n');
  });
});
