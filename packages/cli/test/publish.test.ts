// `server.json` for the MCP registry: made from package.json, the server and `.env.example`. Nothing is sent.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, describe, expect, it } from '@jest/globals';

import { serverMistakes } from '../../../test/support/discovery-schemas.js';
import { createProject, type Project } from './project.js';

const MAIN = `
import { McpServer, serveStdio, Tool } from '@decorum/core';

class Weather {
  @Tool({ description: 'Tells the weather' })
  forecast() { return 'sunny'; }
}

console.log('on stdout');
await serveStdio(new McpServer({
  name: 'weather', title: 'Weather', version: '1.2.0', description: 'Forecasts for Norway.', providers: [Weather],
  icons: [
    { src: 'https://example.com/icon.png', mimeType: 'image/png', sizes: ['48x48'] },
    { src: 'data:image/png;base64,AAAA', mimeType: 'image/png' },
  ],
}));
`;

const PACKAGE = {
  type: 'module',
  name: '@ada/weather',
  version: '1.2.0',
  mcpName: 'io.github.ada/weather',
  bin: 'dist/main.js',
  homepage: 'https://ada.example.com',
  repository: { type: 'git', url: 'git+https://github.com/ada/weather.git', directory: './server' },
};

const META = { 'io.modelcontextprotocol.registry/publisher-provided': { team: 'weather' } };

const SECRET = 'sk-live-4f9a8b7c6d5e4f3a2b1c';

const ENV = `# Copy to .env, which git ignores

PORT=3000

# The key of the weather service. Required
API_KEY=${SECRET}

# Where the service is
BASE_URL="https://api.example.com"

# Comma-separated
# REGIONS=no,se
MODE=
`;

let project: Project;
afterEach(() => project.remove());

const create = (files: Readonly<Record<string, string | object>> = {}): void => {
  project = createProject({ 'package.json': PACKAGE, 'src/main.ts': MAIN, ...files });
};
const publish = async (...args: string[]) => await project.decorum(['publish', ...args]);

async function printed(...args: string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await publish('--print', ...args);
  expect({ code, stderr: stderr.replace('on stdout\n', '') }).toEqual({ code: 0, stderr: '' });
  const server = JSON.parse(stdout) as Record<string, unknown>;
  expect(serverMistakes(server)).toEqual([]);
  return server;
}

describe('decorum publish --print', () => {
  it('says what is missing in a package.json whose members are null', async () => {
    create({ 'package.json': { ...PACKAGE, name: null, version: null, bin: null } });
    const { code, stderr } = await publish('--print');
    expect(code).toBe(1);
    for (const name of ['name', 'version', 'bin']) expect(stderr).toContain(`package.json has no \`${name}\``);
  });

  it('prints a server.json that is valid by the schema of the registry', async () => {
    create({ '.env.example': ENV });
    expect(await printed('--url', 'https://mcp.example.com/mcp')).toEqual({
      $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
      name: 'io.github.ada/weather',
      title: 'Weather',
      description: 'Forecasts for Norway.',
      repository: { url: 'https://github.com/ada/weather', source: 'github', subfolder: 'server' },
      version: '1.2.0',
      websiteUrl: 'https://ada.example.com',
      icons: [{ src: 'https://example.com/icon.png', mimeType: 'image/png', sizes: ['48x48'] }],
      packages: [
        {
          registryType: 'npm',
          registryBaseUrl: 'https://registry.npmjs.org',
          identifier: '@ada/weather',
          version: '1.2.0',
          runtimeHint: 'npx',
          transport: { type: 'stdio' },
          environmentVariables: [
            {
              name: 'API_KEY',
              description: 'The key of the weather service. Required',
              isRequired: true,
              isSecret: true,
            },
            { name: 'BASE_URL', description: 'Where the service is', default: 'https://api.example.com' },
            { name: 'REGIONS', description: 'Comma-separated' },
            { name: 'MODE', isRequired: true },
          ],
        },
      ],
      remotes: [{ type: 'streamable-http', url: 'https://mcp.example.com/mcp' }],
    });
  });

  it('prints no secret of .env.example, whatever its name', async () => {
    create({
      '.env.example': `API_KEY=${SECRET}\nUPSTREAM=https://ada:${SECRET}@example.com\n# OTHER=${SECRET}\nPW=tiger\nDB=Server=x;Password=tiger\n`,
    });
    const { stdout } = await publish('--print');
    expect(stdout).toContain('UPSTREAM');
    expect(stdout).not.toMatch(/sk-live|tiger/);
  });

  it.each([
    `https://ada:${SECRET}@github.com/ada/weather.git`,
    'https://www.github.com/ada/weather/tree/main#readme',
    'github:ada/weather#main',
  ])('names the repository of %s without the rest', async (url) => {
    create({
      'package.json': { ...PACKAGE, repository: { url, directory: '/server/' }, homepage: 'https://a:b@c.de' },
    });
    const { repository, websiteUrl } = await printed();
    expect(repository).toEqual({ url: 'https://github.com/ada/weather', source: 'github', subfolder: 'server' });
    expect(websiteUrl).toBeUndefined();
  });

  it('lists each variable once', async () => {
    create({ '.env.example': '# First\nREGION=no\nREGION=se\n' });
    const { packages } = await printed();
    expect(packages).toMatchObject([
      { environmentVariables: [{ name: 'REGION', description: 'First', default: 'no' }] },
    ]);
  });

  it('has the SHA-256 of a bundle, and the flag of programs that serve HTTP too', async () => {
    create({ 'weather.mcpb': 'a bundle', 'src/main.ts': `if (process.argv.includes('--stdio')) {}\n${MAIN}` });
    const url = 'https://github.com/ada/weather/releases/download/v1.2.0/weather.mcpb';
    const { packages } = await printed('--mcpb', url);
    expect(packages).toMatchObject([
      { registryType: 'npm', packageArguments: [{ type: 'positional', value: '--stdio' }] },
      {
        registryType: 'mcpb',
        identifier: url,
        fileSha256: createHash('sha256').update('a bundle').digest('hex'),
        transport: { type: 'stdio' },
      },
    ]);
  });

  it('explains a bundle that is missing', async () => {
    create();
    const url = 'https://github.com/ada/weather/releases/download/v1.2.0/weather.mcpb';
    expect(await publish('--print', '--mcpb', url)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('weather.mcpb, which is missing. Run `decorum build --mcpb`.'),
    });
  });

  it('leaves out the npm package of a private one, and keeps what it can not know', async () => {
    const existing = {
      repository: { url: 'https://github.com/ada/weather', source: 'github', id: '42' },
      packages: [
        { registryType: 'npm', identifier: 'old', transport: { type: 'stdio' } },
        { registryType: 'oci', identifier: 'ghcr.io/ada/weather:1.2.0', transport: { type: 'stdio' } },
      ],
      remotes: [
        { type: 'streamable-http', url: 'https://mcp.example.com/mcp', headers: [{ name: 'X-Tenant' }] },
        { type: 'sse', url: 'https://mcp.example.com/sse' },
      ],
      _meta: META,
    };
    create({ 'package.json': { ...PACKAGE, private: true }, 'server.json': existing });
    expect(await printed()).toMatchObject({
      repository: { id: '42' },
      packages: [existing.packages[1]],
      remotes: existing.remotes,
      _meta: META,
    });
  });

  it('moves one remote, and keeps its headers and the others', async () => {
    const [eu, us] = ['eu', 'us'].map((region) => ({
      type: 'streamable-http',
      url: `https://${region}.example.com/mcp`,
      headers: [{ name: 'X-Tenant' }],
    }));
    create({ 'package.json': { ...PACKAGE, private: true }, 'server.json': { remotes: [eu, us] } });
    const { remotes } = await printed('--url', 'https://no.example.com/mcp');
    expect(remotes).toEqual([{ ...eu, url: 'https://no.example.com/mcp' }, us]);
  });

  it.each([
    ['no mcpName', { mcpName: undefined }, [], 'Add "mcpName": "io.github.ada/weather".'],
    ['a name without a domain', { mcpName: 'weather' }, [], 'Write "io.github.ada/weather".'],
    ['a range as its version', { version: '^1.2.0' }, [], '"^1.2.0", which is no exact one. Write "1.0.0".'],
    ['an empty version', { version: '' }, [], '"", which is no exact one. Write "1.0.0".'],
    ['a name of one letter', { mcpName: 'io.github.ada/w' }, [], 'Write "io.github.ada/weather".'],
    ['no name of a package', { name: undefined }, [], 'Add "name": "weather".'],
    ['several programs with other names', { bin: { a: 'a.js', b: 'b.js' } }, [], 'no `bin` that `npx` can start'],
    ['a URL with credentials', {}, ['--url', 'https://ada:pw@example.com/mcp'], 'without credentials.'],
    ['a URL with a key', {}, ['--url', 'https://example.com/mcp?key=abc'], 'without credentials.'],
    ['a URL in a private network', {}, ['--url', 'https://172.16.0.1/mcp'], 'an https URL that everybody can'],
    ['no bin', { bin: undefined }, [], 'Add "bin": "dist/main.js", or "private": true.'],
    ['no place', { private: true }, [], 'Pass --url for a deployed server or --mcpb for a bundle'],
    ['a URL that only this machine has', {}, ['--url', 'http://localhost:3000/mcp'], 'an https URL that everybody can'],
    ['a bundle elsewhere', {}, ['--mcpb', 'https://example.com/mcp.mcpb'], 'only from releases on github.com'],
  ])('refuses %s as the registry does, and says what to write', async (_what, more, args, message) => {
    create({ 'package.json': { ...PACKAGE, ...more } });
    const { code, stdout, stderr } = await publish('--print', ...args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(message);
  });

  it('refuses a description that is too long, and a program without stdio, both at once', async () => {
    create({
      'src/main.ts': `
        import { McpServer } from '@decorum/core';
        import { listen } from '@decorum/http';
        await listen(new McpServer({ name: 'weather', version: '1.2.0', description: '${'x'.repeat(101)}' }), { port: 0 });`,
    });
    const { code, stderr } = await publish('--print');
    expect(code).toBe(1);
    expect(stderr).toContain(
      '`description` of the server has 101 characters, but the registry allows 100. Shorten it.',
    );
    expect(stderr).toContain('The program serves only HTTP');
  });

  it('says that the server and its package have different versions', async () => {
    create({ 'package.json': { ...PACKAGE, version: '1.3.0' } });
    const { code, stderr } = await publish('--print');
    expect(code).toBe(0);
    expect(stderr).toContain('The server says it is 1.2.0, and package.json 1.3.0.');
  });
});

describe('decorum publish --check', () => {
  it('accepts what --write has written, until something changes', async () => {
    create({ '.env.example': ENV });
    expect(await publish('--check')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('There is no server.json. Run `decorum publish --write`.'),
    });
    expect((await publish('--write', '--url', 'https://mcp.example.com/mcp')).code).toBe(0);
    expect(await publish('--check')).toMatchObject({ code: 0, stdout: 'server.json is up to date.\n' });
    const file = join(project.folder, 'server.json');
    const server = JSON.parse(readFileSync(file, 'utf8')) as { packages: { version: string }[] };
    Object.assign(server.packages[0] ?? {}, { version: '1.1.0' });
    writeFileSync(file, JSON.stringify({ ...server, more: true }));
    const { code, stderr } = await publish('--check');
    expect(code).toBe(1);
    expect(stderr).toContain('packages[0].version: "1.1.0" should be "1.2.0"\nmore: true should be nothing\n');
  });

  it('explains a server.json that is not JSON, and the lack of an action', async () => {
    create({ 'server.json': '[]' });
    expect((await publish('--check')).stderr).toContain('server.json must be a JSON object.');
    project.write({ 'server.json': '{' });
    expect(await publish('--check')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('server.json is not valid JSON'),
    });
    expect(await publish()).toMatchObject({ code: 2, stderr: expect.stringContaining('Pass one of --print') });
    expect((await publish('--print', '--check')).code).toBe(2);
  });
});
