import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { usersFile } from '@decorum/auth-server';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { Desk } from './program.js';

let desk: Desk;
beforeEach(() => {
  desk = new Desk();
});
afterEach(() => desk.remove());

interface Manifest {
  readonly name: string;
  readonly packageManager?: string;
  readonly resolutions?: Record<string, string>;
  readonly scripts: Record<string, string>;
  readonly dependencies: object;
  readonly devDependencies: Record<string, string>;
}

const read = (path: string) => readFileSync(desk.path(path), 'utf8');
const manifestOf = (folder: string) => JSON.parse(read(`${folder}/package.json`)) as Manifest;

const FILES = [
  '.env.example',
  '.gitignore',
  '.mcp.json',
  'Dockerfile',
  'README.md',
  'package.json',
  'src/main.ts',
  'src/weather.ts',
  'test/tsconfig.json',
  'test/weather.test.ts',
  'tsconfig.json',
];

describe('a project', () => {
  it('has what it takes to develop, test and deploy a server', async () => {
    const { code, stdout, stderr } = await desk.run(['weather', '--template', 'http']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe(
      [
        '✔ weather: 11 files',
        '  npm install    installs the dependencies',
        '  npm run dev    serves http://127.0.0.1:3000/mcp and follows your edits\n',
      ].join('\n'),
    );
    expect(desk.files('weather')).toEqual(FILES);
    expect(manifestOf('weather')).toMatchObject({ name: 'weather', private: true, type: 'module' });
    expect(JSON.parse(read('weather/tsconfig.json'))).toMatchObject({
      compilerOptions: {
        experimentalDecorators: true,
        emitDecoratorMetadata: true,
        isolatedModules: true,
        verbatimModuleSyntax: true,
      },
    });
    expect(read('weather/.gitignore').split('\n')).toEqual(expect.arrayContaining(['node_modules/', 'dist/', '.env']));
  });

  it.each([
    ['minimal'],
    ['http'],
    ['secured', '--issuer', 'embedded'],
    ['secured', '--issuer', 'https://id.example.com'],
    ['nestjs'],
  ])('has no placeholder left, and needs no command line to run: %s %s %s', async (template, ...issuer) => {
    for (const flags of [[], ['--test', 'jest', '--pm', 'yarn'], ['--pm', 'pnpm']]) {
      const name = `project-${flags.length}`;
      await desk.run([name, '--template', template, ...issuer, ...flags]);
      const texts = desk.files(name).map((file) => read(`${name}/${file}`));
      expect(texts.filter((text) => /\{\{/.test(text))).toEqual([]);
      const { scripts, dependencies } = manifestOf(name);
      expect(Object.keys(scripts)).toEqual(['dev', 'test', 'typecheck', 'build', 'start']);
      expect(scripts['start']).toBe('node dist/main.js');
      expect(Object.keys(dependencies)).not.toContain('@decorum/cli');
    }
  });

  it('has jest with --test jest, and nothing of vitest', async () => {
    await desk.run(['weather', '--template', 'http', '--test', 'jest']);
    expect(desk.files('weather')).toEqual([...FILES, 'jest.config.json'].sort());
    const { devDependencies } = manifestOf('weather');
    expect(devDependencies).toHaveProperty(['@swc/jest']);
    expect(devDependencies).not.toHaveProperty('vitest');
    expect(read('weather/test/weather.test.ts')).toContain("from '@jest/globals'");
  });

  it('gives vitest the Vite of the project with yarn, too, which would install the newest beside it', async () => {
    await desk.run(['weather', '--pm', 'yarn']);
    const { devDependencies, resolutions } = manifestOf('weather');
    expect(devDependencies['vite']).toMatch(/^~8\./);
    expect(resolutions).toEqual({ vite: devDependencies['vite'] });
  });

  it.each([
    { name: 'the minimal template and vitest with --yes', args: ['--yes'] },
    { name: 'them in continuous integration', args: [], env: { CI: 'true' } },
    { name: 'them without a terminal', args: [] },
  ])('has $name, without a question', async ({ args, env = {} }) => {
    const { code, stdout } = await desk.start(['--no-install', ...args], env).ended;
    expect(code).toBe(0);
    expect(stdout).toContain('✔ mcp-server: 11 files');
    expect(desk.files('mcp-server')).toContain('src/server.ts');
    expect(manifestOf('mcp-server').devDependencies).toHaveProperty('vitest');
  });

  it.each([
    ['pnpm/10.34.8 npm/? node/v20.20.0 linux x64', 'pnpm', 'pnpm@10.34.8'],
    ['yarn/1.22.22 npm/? node/v20.20.0 linux x64', 'yarn', 'yarn@1.22.22'],
    ['npm/11.0.0 node/v20.20.0 linux x64 workspaces/false', 'npm', undefined],
    ['bun/1.3.0 npm/? node/v20.20.0 linux x64', 'npm', undefined],
  ])('is for the package manager that runs the command: %s', async (agent, name, pinned) => {
    const { stdout } = await desk.run(['weather'], { agent });
    expect(stdout).toContain(`  ${name} install `);
    expect(stdout).toContain(`  ${name} run dev `);
    expect(manifestOf('weather').packageManager).toBe(pinned);
    expect(read('weather/README.md')).toContain(`${name} run build`);
  });
});

describe('questions', () => {
  // makes pipes look like a terminal
  const TERMINAL = `data:text/javascript,${encodeURIComponent(`
    process.stdin.isTTY = process.stdout.isTTY = true;
    process.stdin.setRawMode = () => process.stdin;
    process.stdout.columns = 80;`)}`;
  const DOWN = '\u001b[B';

  /** Waits for each question, and types the answer. */
  async function answer(args: readonly string[], answers: readonly (readonly [question: string, keys: string])[]) {
    const { child, ended } = desk.start(['--no-install', ...args], { NODE_OPTIONS: `--import=${TERMINAL}` });
    const waiting = [...answers];
    let shown = '';
    child.stdout?.on('data', (text: string) => {
      shown += text;
      const [question = '', keys] = waiting[0] ?? [];
      if (keys === undefined || !shown.includes(question)) return;
      shown = '';
      waiting.shift();
      child.stdin?.write(keys);
      // unlike a terminal, an open pipe keeps the process alive
      if (waiting.length === 0) child.stdin?.end();
    });
    if (answers.length === 0) child.stdin?.end();
    return await ended;
  }

  it('ask for what the command line leaves open', async () => {
    const { code } = await answer(
      [],
      [
        ['Name or folder', 'weather\r'],
        ['Template', `${DOWN}\r`],
        ['Test runner', `${DOWN}\r`],
      ],
    );
    expect(code).toBe(0);
    expect(desk.files('weather')).toEqual([...FILES, 'jest.config.json'].sort());
  });

  it('do not ask for what it says', async () => {
    const { code } = await answer(['weather', '--test', 'vitest'], [['Template', '\r']]);
    expect(code).toBe(0);
    expect(desk.files('weather')).toContain('src/server.ts');
  });

  it('come after the folder was found to be free', async () => {
    desk.write('weather/README.md', '');
    expect(await answer(['weather'], [])).toMatchObject({ code: 1, stdout: '' });
    const { code } = await answer(
      [],
      [
        ['Name or folder', 'weather\r'],
        ['weather is not empty', '\b\b2\r'],
        ['Template', '\r'],
        ['Test runner', '\r'],
      ],
    );
    expect(code).toBe(0);
    expect(desk.files('weath2')).toHaveLength(11);
  });

  it('ask where users sign in, only for the template that has users', async () => {
    const secured = ['--template', 'secured', '--test', 'vitest'];
    await answer(['embedded', ...secured], [['Where users sign in', '\r']]);
    expect(desk.files('embedded')).toContain('data/users.json');
    const ended = await answer(
      ['own', ...secured],
      [
        ['Where users sign in', `${DOWN}\r`],
        ['URL of the issuer', 'ftp://id.example.com\r'],
        ['--issuer is "ftp://id.example.com"', `${'\b'.repeat(20)}https://id.example.com\r`],
      ],
    );
    expect(ended.code).toBe(0);
    expect(read('own/.env')).toContain('ISSUER=https://id.example.com\n');
    await answer(
      ['later', ...secured],
      [
        ['Where users sign in', `${DOWN}\r`],
        ['URL of the issuer', '\r'],
      ],
    );
    expect(desk.files('later')).not.toContain('.env');
  });

  it('can be cancelled', async () => {
    const { code, stderr } = await answer([], [['Name or folder', '\u0003']]);
    expect(stderr).toBe('Cancelled. Nothing was created.\n');
    expect(code).toBe(1);
    expect(desk.files()).toEqual([]);
  });
});

describe('a project whose users sign in', () => {
  const secured = (...flags: string[]) => desk.run(['notes', '--template', 'secured', ...flags]);

  it('is its own authorization server by default, with a user whose password is printed', async () => {
    const { stdout } = await secured();
    const [, password = ''] = /sign in as alice, with the password (\S{16}) /.exec(stdout) ?? [];
    const users = usersFile(desk.path('notes/data/users.json'));
    expect(await users.verify('alice', password)).toEqual({ subject: 'alice', name: 'alice' });
    expect(read('notes/.env')).toContain(`\nDEMO_PASSWORD=${password}\n`);
    expect(manifestOf('notes').dependencies).toHaveProperty('@decorum/auth-server');
    expect(manifestOf('notes').dependencies).not.toHaveProperty('@decorum/auth');
  });

  it('has other secrets each time, and keeps them from git and from other users', async () => {
    await secured();
    await desk.run(['other', '--template', 'secured']);
    for (const file of ['.env', 'data/users.json']) {
      expect(read(`notes/${file}`)).not.toBe(read(`other/${file}`));
      expect(statSync(desk.path('notes', file)).mode & 0o077).toBe(0);
    }
    expect(read('notes/.env')).toMatch(/^DECORUM_SECRET=[\w+/=]{44}$/m);
    expect(read('notes/.gitignore').split('\n')).toEqual(expect.arrayContaining(['data/', '.env']));
  });

  it('keeps the users that it has, and prints no password that is not theirs', async () => {
    desk.write('notes/data/users.json', '{}');
    const { stdout } = await secured('--force');
    expect(stdout).not.toContain('password');
    expect(read('notes/data/users.json')).toBe('{}');
  });

  it('trusts the issuer that is named, or the one in its .env later', async () => {
    const { stdout } = await secured('--issuer', 'http://127.0.0.1:4000');
    expect(stdout).toContain('  npm install    installs the dependencies\n  npm run dev ');
    expect(read('notes/.env')).toContain('\nISSUER=http://127.0.0.1:4000\n');
    expect(desk.files('notes').filter((file) => file.startsWith('data'))).toEqual([]);
    const later = await desk.run(['later', '--template', 'secured', '--issuer', 'own']);
    expect(later.stdout).toContain('  cp .env.example .env    then set ISSUER in it\n');
    expect(desk.files('later')).not.toContain('.env');
  });

  it.each(['embedded', 'own'])(
    'has an example of .env that leaves its address to Docker and --port, with --issuer %s',
    async (issuer) => {
      await desk.run(['notes', '--template', 'secured', '--issuer', issuer]);
      expect(read('notes/.env.example')).toMatch(/^# PORT=3000\n# HOST=127\.0\.0\.1$/m);
      expect(read('notes/.env.example')).not.toMatch(/^(?:PORT|HOST|RESOURCE|AUDIENCE)=/m);
    },
  );

  it.each([
    [
      ['--template', 'secured', '--issuer', 'http://id.example.com'],
      /^--issuer is "http:\/\/id\.example\.com"\. Pass embedded, own, or/,
    ],
    [['--template', 'secured', '--issuer', ''], /^--issuer is ""/],
    [['--template', 'http', '--issuer', 'own'], /^--issuer is for --template secured\.\n$/],
  ])('is not created with %j', async (flags, message) => {
    expect(await desk.run(['notes', ...flags])).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(message),
    });
    expect(desk.files()).toEqual([]);
  });
});

describe('the name', () => {
  it.each([
    ['My Server', 'My Server', 'my-server'],
    ['Größe', 'Größe', 'gro-e'],
    ['nested/deep/weather', 'nested/deep/weather', 'weather'],
    ['@acme/weather', 'weather', '@acme/weather'],
    ['./weather/', 'weather', 'weather'],
  ])('"%s" makes the folder "%s" and the package %s', async (given, folder, name) => {
    const { code, stdout } = await desk.run([given]);
    expect(code).toBe(0);
    expect(stdout).toContain(`✔ ${folder}: 11 files\n`);
    expect(manifestOf(folder).name).toBe(name);
    const isSame = folder.endsWith(name);
    expect(stdout.includes(`its package is called ${name}`)).toBe(!isSame);
    expect(read(`${folder}/src/server.ts`)).toContain(`name: '${name.replace(/^@acme\//, '')}'`);
  });

  it('may be an absolute path, or the folder itself', async () => {
    mkdirSync(desk.path('other/.git'), { recursive: true });
    for (const [given, cwd, shown] of [
      [desk.path('weather'), '.', 'weather'],
      [desk.path('elsewhere'), 'other', desk.path('elsewhere')],
      ['.', 'other', 'other'],
    ] as const) {
      expect((await desk.run([given], { cwd })).stdout).toContain(`✔ ${shown}: 11 files\n`);
    }
    expect(manifestOf('other').name).toBe('other');
  });

  it.each([
    ['..', '.. contains the folder you are in. Give the project a folder of its own.'],
    ['/', '/ contains the folder you are in. Give the project a folder of its own.'],
    ['', 'The name of the project is empty.'],
    ['天気', '"天気" gives no package name. Use letters from a to z, digits, "-", "." or "_".'],
    ['node_modules', '"node_modules" is no name for a package. Choose another one.'],
    ['a'.repeat(215), 'The name is 215 characters long. npm accepts 214.'],
    ['vitest', 'vitest is the name of a package that the project needs. Choose another name.'],
    ['@decorum/core', '@decorum/core is the name of a package that the project needs. Choose another name.'],
  ])('"%s" is wrong usage', async (given, message) => {
    expect(await desk.run([given])).toEqual({ code: 2, stdout: '', stderr: `${message}\n` });
    expect(desk.files()).toEqual([]);
  });
});

describe('a folder with files', () => {
  it('is refused', async () => {
    for (const file of ['a.txt', 'b.txt', 'c.txt', 'd.txt', '.git/HEAD']) desk.write(`weather/${file}`, '');
    const remedy = 'Choose another name, or pass --force to add the files that are missing. No file is overwritten.';
    const stderr = `weather is not empty: it has a.txt, b.txt, c.txt and 1 more. ${remedy}\n`;
    expect(await desk.run(['weather'])).toEqual({ code: 1, stdout: '', stderr });
    expect(desk.files('weather')).toHaveLength(5);
  });

  it('gets the files that it lacks with --force, and keeps all that it has', async () => {
    desk.write('weather/README.md', 'mine');
    desk.write('weather/src/main.ts', 'mine too');
    symlinkSync('nowhere', desk.path('weather/tsconfig.json'));
    const { code, stdout } = await desk.run(['weather', '--template', 'http', '--force']);
    expect(code).toBe(0);
    expect(stdout).toContain('✔ weather: 8 files\n  kept as they were: ');
    for (const file of ['README.md', 'src/main.ts', 'tsconfig.json']) expect(stdout).toContain(file);
    expect(read('weather/README.md')).toBe('mine');
    expect(read('weather/src/main.ts')).toBe('mine too');
    expect(desk.files()).not.toContain('weather/nowhere');
  });

  it('is no file', async () => {
    desk.write('weather', '');
    expect(await desk.run(['weather'])).toMatchObject({ code: 1, stderr: 'weather is a file. Choose another name.\n' });
  });

  const LONG = `${'a'.repeat(300)}/weather`;
  it.each([
    ['other', 'a file is where a folder should be'],
    ['other/test/inside', 'a file is where a folder should be'],
    [LONG, 'the path is too long'],
  ])('fails if its path is impossible, and nothing is created: %s', async (folder, problem) => {
    desk.write('other/test', '');
    const stderr = `Could not create the project in ${folder}: ${problem}. Nothing was created.\n`;
    expect(await desk.run([folder, '--force'])).toEqual({ code: 3, stdout: '', stderr });
    expect(desk.files()).toEqual(['other/test']);
  });
});

describe('an installation', () => {
  const NEXT = 'All files are written. To install the dependencies:\n  cd weather && npm install\n';
  const INSTALLING = 'Installing dependencies with npm …\n';
  // what is called to find out whether it is there
  const VERSION = "if (process.argv[2] === '--version') { console.log('11.0.0'); process.exit(); }";

  it('has all dependencies, also in production', async () => {
    const record = `require('fs').writeFileSync('env.json', JSON.stringify([process.argv.slice(2), process.env.NODE_ENV]))`;
    desk.program('npm', `${VERSION} ${record}`);
    const { stdout } = await desk.start(['weather', '--yes'], { NODE_ENV: 'production' }).ended;
    expect(stdout).toBe(
      '✔ weather: 11 files, dependencies installed\n  npm run dev    serves http://127.0.0.1:3000/mcp and follows your edits\n',
    );
    expect(JSON.parse(read('weather/env.json'))).toEqual([['install', '--no-audit', '--no-fund'], null]);
  });

  it.each([
    ['npm error code ECONNREFUSED', "npm install failed: the package registry can't be reached."],
    ['npm error code ENOSPC', 'npm install failed: the disk is full.'],
    ['npm error EACCES: permission denied, mkdir', 'npm install failed: permission denied.'],
    [
      'npm error code E404\nnpm error 404  @decorum/core@^1.0.0 is not in this registry.',
      'npm install failed: the package registry has no packages of Decorum. Pass --packages with a folder of their tarballs.',
    ],
    ['npm error something else', 'npm install failed: exit code 1.'],
  ])('that fails says why, and what to do next: %s', async (output, message) => {
    desk.program('npm', `${VERSION} console.error(${JSON.stringify(output)}); process.exit(1);`);
    const { code, stdout, stderr } = await desk.start(['weather']).ended;
    expect(stderr).toBe(`${INSTALLING}${output}\n\n${message}\n\n${NEXT}`);
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(desk.files('weather')).toHaveLength(11);
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('that is interrupted by %s says what to do next', async (signal) => {
    // its child keeps stderr open, so the command ends only if that child has ended too
    const child = `spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' })`;
    const interrupt = `process.kill(process.ppid, ${JSON.stringify(signal)})`;
    const body = `const { spawn } = require('child_process'); ${child}.on('spawn', () => ${interrupt});`;
    desk.program('npm', `${VERSION} ${body}`);
    const { code, stderr } = await desk.start(['weather']).ended;
    expect(stderr).toBe(`${INSTALLING}Interrupted. ${NEXT}`);
    expect(code).toBe(1);
  });

  it('shows what its package manager says if that does not start (#23)', async () => {
    desk.program('npm', "console.error('A system error occurred: uv_os_homedir returned ENOENT'); process.exit(1);");
    const { code, stderr } = await desk.start(['weather']).ended;
    expect(code).toBe(3);
    expect(stderr).toMatch(/^A system error occurred: uv_os_homedir[^]*\n\nnpm doesn't start\. Set HOME to a folder/);
    expect(desk.files()).toEqual(['bin/npm']);
  });

  it('needs its package manager, or nothing is created', async () => {
    desk.program('pnpm', 'process.exit(127)');
    expect(await desk.start(['weather', '--pm', 'pnpm']).ended).toEqual({
      code: 3,
      stdout: '',
      stderr: "pnpm isn't installed. Run `npm install -g pnpm`, or pass another --package-manager, or --no-install.\n",
    });
    expect(desk.files()).toEqual(['bin/pnpm']);
  });
});

describe('--packages', () => {
  it.each([
    ['missing', /^The folder of --packages can't be read: ENOENT.*\.\n$/],
    ['empty', /empty has no tarballs of Decorum\. Run `npm run pack:all` in a clone of Decorum, .*\n$/],
    ['broken', /decorum-core-1\.0\.0\.tgz is not a package: incorrect header check\. Pack it again\.\n$/],
  ])('is a problem of the environment if the folder is %s', async (name, message) => {
    mkdirSync(desk.path('empty'));
    desk.write('broken/decorum-core-1.0.0.tgz', 'no tarball');
    const failed = { code: 3, stdout: '', stderr: expect.stringMatching(message) };
    expect(await desk.run(['weather', '--packages', name])).toEqual(failed);
    expect(desk.files()).not.toContain('weather/package.json');
  });
});

describe('the command', () => {
  it('explains itself within 80 columns and 24 lines', async () => {
    const { code, stdout } = await desk.start(['--help']).ended;
    const lines = stdout.trimEnd().split('\n');
    expect([code, lines.filter(({ length }) => length > 80)]).toEqual([0, []]);
    expect(lines.length).toBeLessThanOrEqual(24);
  });

  it('says how it is used wrongly, and prints the stack of an error with --debug only', async () => {
    const used = [
      [['weather', '--template', 'other'], 'Allowed choices are minimal, http, secured, nestjs.'],
      [['weather', '--test', 'mocha'], 'Allowed choices are vitest, jest.'],
      [['weather', '--pm', 'bun'], 'Allowed choices are npm, pnpm, yarn.'],
      [['weather', '--unknown'], "unknown option '--unknown'"],
      [['weather', 'another'], 'too many arguments'],
      [['..'], '.. contains the folder'],
      [['..', '--debug'], '    at '],
    ] as const;
    const ended = await Promise.all(used.map(([args]) => desk.start(args).ended));
    for (const [index, [args, message]] of used.entries()) {
      expect(ended[index]).toEqual({ code: 2, stdout: '', stderr: expect.stringContaining(message) });
      if (!args.includes('--debug' as never)) expect(ended[index]?.stderr).not.toContain('    at ');
    }
    expect(desk.files()).toEqual([]);
  });
});

const MODULES = fileURLToPath(new URL('../../../node_modules', import.meta.url));
const PROGRAM = ['--import', '@decorum/cli/register', 'src/main.ts'];

describe('the template secured for an issuer of your own', () => {
  it('lets clients ask for the scope of its tool when they sign in: issuers may refuse those that ask for none', async () => {
    const ISSUER = 'http://127.0.0.1:9';
    await desk.run(['notes', '--template', 'secured', '--issuer', ISSUER]);
    symlinkSync(MODULES, desk.path('notes/node_modules'));
    const { NODE_OPTIONS: _, ...inherited } = process.env;
    const env = { ...inherited, ISSUER, PORT: '0', AUDIENCE: 'https://mcp.example.com/mcp' };
    const program = spawn(process.execPath, PROGRAM, {
      cwd: desk.path('notes'),
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [said] = (await once(program.stdout, 'data')) as [Buffer];
    const url = new URL('/.well-known/oauth-protected-resource/mcp', String(said).slice('Serving '.length));
    const metadata = (await (await fetch(url)).json()) as object;
    program.kill('SIGKILL');
    expect(metadata).toMatchObject({ authorization_servers: [ISSUER], scopes_supported: ['notes:write'] });
  });
});

describe('an empty PORT and HOST, as an `.env` file can have them,', () => {
  /** Prints the address that a program asks for, and ends it: another program may listen on port 3000. */
  const SPY = `
    require('node:net').Server.prototype.listen = (options, host) => {
      const asked = typeof options === 'object' ? options : { port: options, host };
      require('node:fs').writeSync(1, 'asked ' + JSON.stringify({ port: Number(asked.port), host: asked.host }));
      process.exit(0);
    };`;
  const decorum = (...args: string[]) => [`${MODULES}/@decorum/cli/bin/decorum.js`, ...args, 'src/server.ts'];

  it.each([
    { of: 'the template http', template: 'http', args: PROGRAM },
    { of: 'the template secured', template: 'secured', args: PROGRAM, issuer: 'http://127.0.0.1:9' },
    { of: 'the template nestjs', template: 'nestjs', args: PROGRAM },
    { of: 'decorum start', template: 'minimal', args: decorum('start', '--http') },
    { of: 'decorum dev', template: 'minimal', args: decorum('dev') },
  ])('mean port 3000 of this machine in $of (#23)', async ({ template, args, issuer }) => {
    await desk.run(['weather', '--template', template, ...(issuer === undefined ? [] : ['--issuer', issuer])]);
    symlinkSync(MODULES, desk.path('weather/node_modules'));
    desk.write('weather/spy.cjs', SPY);
    const { NODE_OPTIONS: _, ...env } = process.env;
    const { stdout } = await promisify(execFile)(process.execPath, ['--require', './spy.cjs', ...args], {
      cwd: desk.path('weather'),
      env: { ...env, PORT: '', HOST: '', ...(issuer !== undefined && { ISSUER: issuer }) },
    });
    expect(/asked (.+)$/.exec(stdout)?.[1]).toBe(JSON.stringify({ port: 3000, host: '127.0.0.1' }));
  });
});
