import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { unzipSync } from 'fflate';

import { conversation } from '../../../test/packaging/project.js';
import { CLOCK, createProject, type Ended, GREETER, type Project, runNode, TSCONFIG } from './project.js';

// each command starts a compiler and two or three more processes, one after the other
jest.setTimeout(180_000);

let project: Project;
afterEach(() => project.remove());

const MODULE = { name: 'clock', version: '1.0.0', type: 'module' };
type Files = Readonly<Record<string, string | object>>;

/** Creates a project whose main file has this code. */
function create(code: string, files: Files = {}): void {
  project = createProject({
    'package.json': MODULE,
    'tsconfig.json': TSCONFIG,
    'src/clock.ts': CLOCK.trimStart(),
    'src/main.ts': code,
    ...files,
  });
}

const built = (file = 'main') => ({ code: 0, stdout: `clock 1.0.0   dist/${file}.js\n`, stderr: '' });
const failed = (stderr: RegExp) => ({ code: 1, stdout: '', stderr: expect.stringMatching(stderr) });

const CITIES = `@Completion({ for: 'forecast', argument: 'city' }) cities() { return []; }`;
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
/** Programs that are loaded have 5 seconds to serve. Here, it is one millisecond. */
const HURRY = `
const { setTimeout } = globalThis;
globalThis.setTimeout = (run, ms, ...rest) => setTimeout(run, ms === 5000 ? 1 : ms, ...rest);
`;
const EXPORTED = `export { Clock as server } from './clock.js';`;

describe('decorum build', () => {
  it.each<[title: string, ended: object, main: string, files?: Files]>([
    [
      'creates the server of a program that serves by itself, without serving',
      built(),
      `import { listen } from '@decorum/http';
      import { Clock } from './clock.js';
      class Connected extends Clock {
        onStart() { throw new Error('There is no database on this machine.'); }
      }
      const { url } = await listen(new Connected());
      console.log(url);`,
    ],
    [
      'ends a program that goes on after it has created its server',
      built(),
      `import { serveStdio } from '@decorum/core';
      import { Clock } from './clock.js';
      setInterval(() => {}, 1000);
      async function run() { await serveStdio(new Clock()); }
      void run();`,
    ],
    [
      'creates the server of a CommonJS program',
      built(),
      `import { Clock } from './clock'; export default new Clock();`,
      { 'package.json': { name: 'clock', version: '1.0.0' } },
    ],
    [
      'creates the server of a program that needs a secret, where there is none',
      built(),
      `import { McpServer } from '@decorum/core';
      import { fileKeyValueStore } from '@decorum/files';
      export const server = new McpServer({ name: 'clock', version: '1.0.0', store: fileKeyValueStore('data') });`,
    ],
    [
      'reports the errors of the compiler',
      {
        code: 1,
        stdout: expect.stringMatching(/src\/main\.ts.*TS2322/),
        stderr: 'tsc found errors with tsconfig.json: nothing else was done.\n',
      },
      `const days: number = 'three';\nexport {};`,
    ],
    [
      'fails for a dangling completion, with the line of the source',
      failed(/^src\/main\.ts:7:54  Weather\.\w+.* \[DECORUM_DANGLING_COMPLETION\]\n$/),
      WEATHER(CITIES),
    ],
    [
      'fails for a missing type, with the line of the source',
      failed(/^src\/main\.ts:8:3  Weather\.\w+.* \[DECORUM_MISSING_INPUT\]\n$/),
      WEATHER(`@Tool({ description: 'Forecast' })\n  forecast({ city }: Query) { return city; }`),
    ],
    [
      'fails if the program catches the mistake and exits',
      failed(/DECORUM_DANGLING_COMPLETION\]\ndist\/main\.js ended with exit code 1 before it created/),
      `import { listen } from '@decorum/http';
      import { server } from './weather.js';
      (async () => listen(server()))().catch((error: unknown) => { console.error(String(error)); process.exit(1); });`,
      { 'src/weather.ts': WEATHER(CITIES) },
    ],
    [
      'fails for a program without a server',
      failed(/^dist\/main\.js creates no server\. Export an McpServer/),
      `export const weather = 1;`,
    ],
    [
      'fails for a program that can not be loaded',
      failed(/^src\/main\.ts:1:\d+ {2}TypeError: Cannot read/),
      `export const city = (undefined as unknown as { city: string }).city;`,
    ],
    [
      'fails for a program that only exports an object with its server (#23)',
      failed(
        /^dist\/main\.js creates a server, but neither exports nor serves it\. Export an .* contains a server doesn't count\.\n$/,
      ),
      `import { Clock } from './clock.js'; export default { server: new Clock() };`,
    ],
    [
      'builds a program that needs what this machine lacks, and says that its server was not checked',
      {
        ...failed(/^src\/main\.ts:1:\d+ {2}Set ISSUER\.\ndist\/main\.js is built, but its server was not/),
        code: 0,
      },
      `if (!process.env['ISSUER']) throw new Error('Set ISSUER.');\nexport {};`,
    ],
    [
      'explains a project that compiles to nothing',
      failed(/^tsc wrote no JavaScript for src\/main\.ts\. Let tsconfig\.json include it, and remove `noEmit`\.\n$/),
      EXPORTED,
      { 'tsconfig.json': { ...TSCONFIG, compilerOptions: { ...TSCONFIG.compilerOptions, noEmit: true } } },
    ],
  ])('%s', async (_title, ended, main, ...[files]) => {
    create(main, files);
    expect(await project.decorum(['build'])).toEqual(ended);
  });

  it('waits for a program that takes long to load', async () => {
    create(
      `await new Promise((resolve) => setTimeout(resolve, 500));
      export { Clock as server } from './clock.js';`,
      { 'hurry.cjs': HURRY },
    );
    expect(await project.decorum(['build'], { env: { NODE_OPTIONS: '--require=./hurry.cjs' } })).toEqual(built());
  });

  it('compiles the project, and creates the server of main or of the entry that the user names', async () => {
    create(EXPORTED, { 'src/app.ts': `import { Clock } from './clock.js'; export default Clock;` });
    const build = (...entry: string[]): Promise<Ended> => project.decorum(['build', ...entry]);
    expect(await build()).toEqual(built());
    expect(existsSync(join(project.folder, 'dist/clock.js'))).toBe(true);
    project.write({ 'src/main.ts': `throw new Error('not this one');` });
    expect([await build('src/clock.ts'), await build('src/app.ts')]).toMatchObject([{ code: 1 }, built('app')]);
  });

  it('does not open the `auth` of an endpoint, which may write keys to its store', async () => {
    create(`import { listen } from '@decorum/http';
      import { writeFileSync } from 'node:fs';
      import { Clock } from './clock.js';
      const auth = {
        authenticate: () => ({ subject: 'ada' }),
        opened() { writeFileSync('opened', ''); },
      };
      await listen(new Clock(), { auth });`);
    expect(await project.decorum(['build'])).toEqual(built());
    expect(existsSync(join(project.folder, 'opened'))).toBe(false);
  });
});

describe('decorum build --mcpb', () => {
  const CLOCKED = { ...MODULE, dependencies: { '@decorum/core': '*' } };

  it('explains a program that is not for stdio', async () => {
    create(`import { listen } from '@decorum/http'; import { Clock } from './clock.js'; await listen(new Clock(), { port: 0 });
      setTimeout(() => process.exit(), 1);`);
    const { code, stderr } = await project.decorum(['build', '--mcpb']);
    expect(code).toBe(1);
    expect(stderr).toContain("The bundled dist/main.js doesn't answer over stdio, which is how clients start it.");
    expect(existsSync(join(project.folder, 'clock.mcpb'))).toBe(false);
  });

  it('explains a program that only runs in its own folder, where clients do not start it', async () => {
    create(
      `import { readFileSync } from 'node:fs'; import { serveStdio } from '@decorum/core'; import { Clock } from './clock.js';
      readFileSync('data/names.json'); await serveStdio(new Clock());`,
      { 'package.json': { ...CLOCKED, files: ['data'] }, 'data/names.json': '[]' },
    );
    const { code, stderr } = await project.decorum(['build', '--mcpb']);
    expect(code).toBe(1);
    expect(stderr).toContain("ENOENT: no such file or directory, open 'data/names.json'");
    expect(stderr).toContain('Clients start it in another folder: read files relative to `import.meta.url`.');
  });

  it('bundles what the patterns in `files` mean, and gives the same bundle for the same files', async () => {
    const texts = 'data/a.json data/more/b.csv data/more/c.txt README.md config/x.txt config/secret.txt config/own/y';
    create(EXPORTED, {
      'package.json': {
        ...CLOCKED,
        files: ['./data/**/*.{json,csv}', 'README*', 'config', '!config/secret.*', '!**/own'],
      },
      ...Object.fromEntries(texts.split(' ').map((path) => [path, 'text'])),
    });
    const stdout = expect.stringMatching(/\nclock\.mcpb {3}\d+\.\d MB\n$/);
    expect(await project.decorum(['build', '--mcpb'])).toMatchObject({ code: 0, stdout });
    const first = readFileSync(join(project.folder, 'clock.mcpb'));
    const bundled = Object.keys(unzipSync(first));
    expect(bundled.filter((path) => /^(?:data|config|README)/.test(path))).toEqual([
      'README.md',
      'config/x.txt',
      'data/a.json',
      'data/more/b.csv',
    ]);
    await project.decorum(['build', '--mcpb']);
    expect(readFileSync(join(project.folder, 'clock.mcpb')).equals(first)).toBe(true);
  });

  it('says that clients find prompts at run time, and shows the icons and the title of the server', async () => {
    const main = `
      import { McpServer, NoInput, Prompt, serveStdio } from '@decorum/core';
      class Texts { @Prompt({ description: 'Greets', input: NoInput }) greet() { return 'Hello'; } }
      const icons = [{ src: 'https://example.com/a.png', sizes: ['48x48', 'any'] }, { src: 'data:image/png;base64,AA' }];
      await serveStdio(new McpServer({ name: 'texts', version: '1.0.0', title: 'Texts', icons, providers: [Texts] }));`;
    create(main, { 'package.json': CLOCKED });
    expect(await project.decorum(['build', '--mcpb'])).toMatchObject({ code: 0 });
    const files = unzipSync(readFileSync(join(project.folder, 'clock.mcpb')));
    const manifest = JSON.parse(Buffer.from(files['manifest.json'] ?? []).toString()) as Record<string, unknown>;
    expect(manifest).toMatchObject({
      display_name: 'Texts',
      icons: [{ src: 'https://example.com/a.png', size: '48x48' }],
      tools: [],
      prompts_generated: true,
    });
    expect(manifest).not.toHaveProperty('user_config');
  });

  it('leaves out of the manifest what its schema refuses, and what nobody can open', async () => {
    const wrong = {
      author: 'Ada <ada> (nowhere)',
      keywords: 'time',
      license: { type: 'MIT' },
      engines: { node: 20 },
      homepage: 'https://ada:secret@example.com',
      bugs: 'file:///bugs',
    };
    create(EXPORTED, { 'package.json': { ...CLOCKED, ...wrong } });
    expect(await project.decorum(['build', '--mcpb'])).toMatchObject({ code: 0 });
    const files = unzipSync(readFileSync(join(project.folder, 'clock.mcpb')));
    const manifest = JSON.parse(Buffer.from(files['manifest.json'] ?? []).toString()) as Record<string, unknown>;
    expect(manifest).toMatchObject({ author: { name: 'Ada' }, compatibility: { runtimes: { node: '>=20.19.0' } } });
    expect(manifest['author']).toEqual({ name: 'Ada' });
    for (const name of ['keywords', 'license', 'homepage', 'support']) expect(manifest).not.toHaveProperty(name);
  });

  it('reads a package.json with a byte order mark and members that are null, as npm does', async () => {
    const nothing = { author: null, bugs: null, engines: null, files: null, optionalDependencies: null };
    create(EXPORTED, { 'package.json': `\uFEFF${JSON.stringify({ ...CLOCKED, ...nothing })}` });
    expect(await project.decorum(['build', '--mcpb'])).toMatchObject({ code: 0, stderr: '' });
  });

  it('has the modules of a folder that is called as that of --bundle', async () => {
    create(`export { Clock as server } from './bundle/clock.js';`, {
      'package.json': CLOCKED,
      'src/bundle/clock.ts': CLOCK,
    });
    expect(await project.decorum(['build', '--mcpb'])).toMatchObject({ code: 0, stderr: '' });
  });

  it('names the manifest.json that it can not read', async () => {
    create(EXPORTED, { 'package.json': CLOCKED, 'manifest.json': '{' });
    expect(await project.decorum(['build', '--mcpb'])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^manifest\.json is not valid JSON: /),
    });
  });
});

const KEY = 'sk-live-4f9a8b7c6d5e4f3a2b1c';

/** A PNG of one pixel. */
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

describe('a bundle of decorum build --mcpb', () => {
  // the official tool
  const run = promisify(execFile);

  const tools = mkdtempSync(join(tmpdir(), 'decorum-mcpb-'));
  const MCPB = join(tools, 'node_modules/@anthropic-ai/mcpb/dist/cli/cli.js');
  beforeAll(async () => {
    await run('npm', ['install', '--prefix', tools, '--no-audit', '--no-fund', '@anthropic-ai/mcpb@2.1.2']);
  });
  afterAll(() => rmSync(tools, { recursive: true, force: true }));

  it.each([
    {
      program: 'exports its server',
      server: GREETER,
      main: `export { Greeter as server } from './server.js';`,
      packages: ['class-transformer', 'class-validator'],
      args: ['main.mjs'],
      tool: { name: 'greet', description: 'Greets somebody' },
      arguments: { name: 'Ada' },
      answer: /Hello, Ada!/,
    },
    {
      program: 'serves by itself',
      server: CLOCK,
      main: `
        import { serveStdio } from '@decorum/core';
        import { listen } from '@decorum/http';
        import { Clock } from './server.js';
        if (process.argv.includes('--stdio')) await serveStdio(new Clock());
        else await listen(new Clock(), { port: 0 });`,
      packages: ['@decorum/http'],
      args: ['dist/main.js', '--stdio'],
      tool: { name: 'now', description: 'Tells the time' },
      arguments: {},
      answer: /noon/,
    },
  ])('is valid, and runs unpacked, from a program that $program', async (each) => {
    const { server, main, packages, args, tool, answer } = each;
    project = createProject({
      'package.json': {
        name: '@acme/greeter',
        version: '1.2.3',
        type: 'module',
        description: 'Greets people',
        author: 'Ada <ada@example.com> (https://ada.example.com)',
        license: 'MIT',
        keywords: ['greetings'],
        homepage: 'https://greeter.example.com',
        repository: 'github:acme/greeter',
        bugs: { url: 'https://github.com/acme/greeter/issues' },
        os: ['linux', 'darwin', '!win32'],
        engines: { node: '>=22' },
        dependencies: Object.fromEntries(['@decorum/core', ...packages].map((name) => [name, '*'])),
        devDependencies: { typescript: '*' },
      },
      'tsconfig.json': TSCONFIG,
      'src/server.ts': server,
      'src/main.ts': main,
      '.env.example': `PORT=3000\n# The key of the dictionary\nAPI_KEY=${KEY}\nBASE_URL=https://api.example.com\n# DECORUM_SECRET=\n# TONE=warm\n`,
    });
    writeFileSync(join(project.folder, 'icon.png'), PIXEL);
    expect(await project.decorum(['build', '--mcpb'])).toMatchObject({ code: 0, stderr: '' });
    const folder = join(project.folder, 'unpacked');
    await run('node', [MCPB, 'unpack', 'greeter.mcpb', folder], { cwd: project.folder });
    const { stdout } = await run('node', [MCPB, 'validate', folder]);
    expect(stdout).toContain('Manifest schema validation passes!');

    const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'));
    expect(manifest).toMatchObject({
      name: 'greeter',
      version: '1.2.3',
      description: 'Greets people',
      author: { name: 'Ada', email: 'ada@example.com', url: 'https://ada.example.com' },
      license: 'MIT',
      keywords: ['greetings'],
      homepage: 'https://greeter.example.com',
      repository: { type: 'git', url: 'https://github.com/acme/greeter' },
      support: 'https://github.com/acme/greeter/issues',
      icon: 'icon.png',
      compatibility: { platforms: ['darwin', 'linux'], runtimes: { node: '>=22' } },
      tools: [tool],
      server: { mcp_config: { command: 'node', args: [`\${__dirname}/${args[0]}`, ...args.slice(1)] } },
    });
    const about = (title: string, more: object) => ({
      type: 'string',
      title,
      description: title,
      required: false,
      ...more,
    });
    expect(manifest.user_config).toEqual({
      api_key: about('Api key', { description: 'The key of the dictionary', sensitive: true, default: '' }),
      base_url: about('Base url', { default: 'https://api.example.com' }),
      tone: about('Tone', { default: '' }),
    });
    // the official package gives a program what the user has entered
    const { getMcpConfigForManifest } = await import(join(tools, 'node_modules/@anthropic-ai/mcpb/dist/index.js'));
    const config = {
      manifest,
      extensionPath: folder,
      systemDirs: {},
      userConfig: { api_key: 'entered' },
      pathSeparator: '/',
    };
    expect(await getMcpConfigForManifest(config)).toMatchObject({
      env: { API_KEY: 'entered', BASE_URL: 'https://api.example.com', TONE: '' },
    });
    expect(readFileSync(join(folder, 'manifest.json'), 'utf8')).not.toContain(KEY);
    // without the project, whose packages it could find otherwise
    rmSync(join(project.folder, 'node_modules'), { recursive: true });
    const command = manifest.server.mcp_config.args.map((arg: string) => arg.replaceAll('${__dirname}', folder));
    const input = conversation([[tool.name, each.arguments]]);
    expect(await runNode(command, { cwd: tmpdir(), input })).toMatchObject({ stdout: expect.stringMatching(answer) });
    expect(existsSync(join(folder, 'node_modules/typescript'))).toBe(false);
    expect(readdirSync(join(folder, 'dist')).sort()).toEqual(['main.js', 'server.js']);
    // a package of the same workspace is bundled as it would be published
    expect(readdirSync(join(folder, 'node_modules/@decorum/core')).sort()).toEqual(['dist', 'package.json']);
  });
});
