import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { unzipSync } from 'fflate';

import { CLOCK, createProject, GREETER, type Project, TSCONFIG } from './project.js';

// each command starts a compiler and two or three more processes, one after the other
jest.setTimeout(60_000);

let project: Project;
afterEach(() => project.remove());

const MODULE = { name: 'greeter', version: '1.0.0', type: 'module' };

/** Creates a project whose main file has this code. */
function create(code: string, files: Readonly<Record<string, string | object>> = {}): void {
  project = createProject({
    'package.json': MODULE,
    'tsconfig.json': TSCONFIG,
    'src/greeter.ts': GREETER.trimStart(),
    'src/main.ts': code,
    ...files,
  });
}

/** Creates a project whose main file has this code, and builds it. */
async function build(code: string, files: Readonly<Record<string, string | object>> = {}) {
  create(code, files);
  return await project.decorum(['build']);
}

const WEATHER = (member: string) => `
import { Completion, McpServer, Tool } from '@decorum/core';
interface Query {
  city: string;
}
export class Weather {
  ${member}
}
export const server = () => new McpServer({ name: 'weather', version: '1.0.0', providers: [Weather] });
`;

describe('decorum build', () => {
  it('compiles the project and creates the server that it exports', async () => {
    expect(await build(`export { Greeter as server } from './greeter.js';`)).toEqual({
      code: 0,
      stdout: 'greeter 1.0.0   dist/main.js\n',
      stderr: '',
    });
    expect(existsSync(join(project.folder, 'dist/greeter.js'))).toBe(true);
  });

  it('checks the entry that the user names', async () => {
    await build(`throw new Error('not this one');`);
    expect(await project.decorum(['build', 'src/greeter.ts'])).toMatchObject({ code: 1 });
    project.write({ 'src/app.ts': `import { Greeter } from './greeter.js'; export default Greeter;` });
    expect(await project.decorum(['build', 'src/app.ts'])).toMatchObject({
      code: 0,
      stdout: 'greeter 1.0.0   dist/app.js\n',
    });
  });

  it('creates the server of a program that serves by itself, without serving', async () => {
    const main = `
      import { listen } from '@decorum/http';
      import { Greeter } from './greeter.js';
      class Connected extends Greeter {
        onStart() { throw new Error('There is no database on this machine.'); }
      }
      const { url } = await listen(new Connected());
      console.log(url);`;
    expect(await build(main)).toEqual({ code: 0, stdout: 'greeter 1.0.0   dist/main.js\n', stderr: '' });
  });

  it('ends a program that goes on after it has created its server', async () => {
    const main = `
      import { serveStdio } from '@decorum/core';
      import { Greeter } from './greeter.js';
      setInterval(() => {}, 1000);
      async function run() { await serveStdio(new Greeter()); }
      void run();`;
    expect(await build(main)).toMatchObject({ code: 0, stdout: 'greeter 1.0.0   dist/main.js\n' });
  });

  it('creates the server of a CommonJS program', async () => {
    const built = await build(`import { Greeter } from './greeter'; export default new Greeter();`, {
      'package.json': { name: 'greeter', version: '1.0.0' },
    });
    expect(built).toEqual({ code: 0, stdout: 'greeter 1.0.0   dist/main.js\n', stderr: '' });
  });

  it('reports the errors of the compiler', async () => {
    expect(await build(`const days: number = 'three';\nexport {};`)).toEqual({
      code: 1,
      stdout: expect.stringMatching(/src\/main\.ts.*TS2322/),
      stderr: 'tsc found errors with tsconfig.json: nothing else was done.\n',
    });
  });

  it.each([
    {
      mistake: 'a dangling completion',
      member: `@Completion({ for: 'forecast', argument: 'city' }) cities() { return []; }`,
      place: '7:54',
      code: 'DECORUM_DANGLING_COMPLETION',
    },
    {
      mistake: 'a missing type',
      member: `@Tool({ description: 'Forecast' })\n  forecast({ city }: Query) { return city; }`,
      place: '8:3',
      code: 'DECORUM_MISSING_INPUT',
    },
  ])('fails for $mistake, with the line of the source', async ({ member, place, code }) => {
    expect(await build(WEATHER(member))).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(new RegExp(`^src/main\\.ts:${place}  Weather\\.\\w+.* \\[${code}\\]\n$`)),
    });
  });

  it('fails if the program catches the mistake and exits', async () => {
    const main = `
      import { listen } from '@decorum/http';
      import { server } from './weather.js';
      listen(server()).catch((error: unknown) => { console.error(String(error)); process.exit(1); });`;
    const weather = WEATHER(`@Completion({ for: 'forecast', argument: 'city' }) cities() { return []; }`);
    const caught = main.replace('listen(server())', '(async () => listen(server()))()');
    const { code, stderr } = await build(caught, { 'src/weather.ts': weather });
    expect(code).toBe(1);
    expect(stderr).toMatch(/DECORUM_DANGLING_COMPLETION\]\ndist\/main\.js ended with exit code 1 before it created/);
  });

  it('fails for a program without a server, and for one that can not be loaded', async () => {
    expect(await build(`export const weather = 1;`)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^dist\/main\.js creates no server\. Export an McpServer/),
    });
    project.write({ 'src/main.ts': `export const city = (undefined as unknown as { city: string }).city;` });
    expect(await project.decorum(['build'])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^src\/main\.ts:1:\d+ {2}TypeError: Cannot read/),
    });
  });

  it('fails for a program that only exports an object with its server (#23)', async () => {
    const main = `import { Greeter } from './greeter.js'; export default { server: new Greeter() };`;
    expect(await build(main)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /^dist\/main\.js creates a server, but neither exports nor serves it\. Export an .* contains a server doesn't count\.\n$/,
      ),
    });
  });

  it('builds a program that needs what this machine lacks, and says that its server was not checked', async () => {
    expect(await build(`if (!process.env['ISSUER']) throw new Error('Set ISSUER.');\nexport {};`)).toEqual({
      code: 0,
      stdout: '',
      stderr: expect.stringMatching(
        /^src\/main\.ts:1:\d+ {2}Set ISSUER\.\ndist\/main\.js is built, but its server was not/,
      ),
    });
  });

  it('explains a project that compiles to nothing', async () => {
    const noEmit = { ...TSCONFIG, compilerOptions: { ...TSCONFIG.compilerOptions, noEmit: true } };
    expect(await build(`export { Greeter as server } from './greeter.js';`, { 'tsconfig.json': noEmit })).toEqual({
      code: 1,
      stdout: '',
      stderr: 'tsc wrote no JavaScript for src/main.ts. Let tsconfig.json include it, and remove `noEmit`.\n',
    });
  });
});

describe('decorum build --mcpb', () => {
  const BUNDLED = {
    ...MODULE,
    dependencies: { '@decorum/core': '*', 'class-validator': '*', 'class-transformer': '*' },
  };
  const CLOCKED = { ...MODULE, dependencies: { '@decorum/core': '*' } };

  it('explains a program that is not for stdio', async () => {
    create(`import { listen } from '@decorum/http'; import { Greeter } from './greeter.js'; await listen(new Greeter(), { port: 0 });
      setTimeout(() => process.exit(), 1);`);
    const { code, stderr } = await project.decorum(['build', '--mcpb']);
    expect(code).toBe(1);
    expect(stderr).toContain("The bundled dist/main.js doesn't answer over stdio, which is how clients start it.");
    expect(existsSync(join(project.folder, 'greeter.mcpb'))).toBe(false);
  });

  it('explains a program that only runs in its own folder, where clients do not start it', async () => {
    create(
      `import { readFileSync } from 'node:fs'; import { serveStdio } from '@decorum/core'; import { Greeter } from './greeter.js';
      readFileSync('data/names.json'); await serveStdio(new Greeter());`,
      { 'package.json': { ...BUNDLED, files: ['data'] }, 'data/names.json': '[]' },
    );
    const { code, stderr } = await project.decorum(['build', '--mcpb']);
    expect(code).toBe(1);
    expect(stderr).toContain("ENOENT: no such file or directory, open 'data/names.json'");
    expect(stderr).toContain('Clients start it in another folder: read files relative to `import.meta.url`.');
  });

  /** Creates a project without dependencies other than ours, so bundling it takes less time. */
  function createClock(files: Readonly<Record<string, string | object>> = {}): void {
    project = createProject({
      'package.json': CLOCKED,
      'tsconfig.json': TSCONFIG,
      'src/main.ts': CLOCK.replace('export class', 'export default class'),
      ...files,
    });
  }

  it('bundles what the patterns in `files` mean, and gives the same bundle for the same files', async () => {
    createClock({
      'package.json': {
        ...CLOCKED,
        files: ['./data/**/*.{json,csv}', 'README*', 'config', '!config/secret.*', '!**/own'],
      },
      ...Object.fromEntries(
        'data/a.json data/more/b.csv data/more/c.txt README.md config/x.txt config/secret.txt config/own/y'
          .split(' ')
          .map((path) => [path, 'text']),
      ),
    });
    const stdout = expect.stringMatching(/\ngreeter\.mcpb {3}\d+\.\d MB\n$/);
    expect(await project.decorum(['build', '--mcpb'])).toMatchObject({ code: 0, stdout });
    const first = readFileSync(join(project.folder, 'greeter.mcpb'));
    const bundled = Object.keys(unzipSync(first));
    expect(bundled.filter((path) => /^(?:data|config|README)/.test(path))).toEqual([
      'README.md',
      'config/x.txt',
      'data/a.json',
      'data/more/b.csv',
    ]);
    await project.decorum(['build', '--mcpb']);
    expect(readFileSync(join(project.folder, 'greeter.mcpb')).equals(first)).toBe(true);
  });

  it('names the manifest.json that it can not read', async () => {
    createClock({ 'manifest.json': '{' });
    expect(await project.decorum(['build', '--mcpb'])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^manifest\.json is not valid JSON: /),
    });
  });
});
