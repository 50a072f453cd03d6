import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { build, type BuildOptions } from 'esbuild';

import { answers, compiled, conversation, createProject, type Project, ROOT } from './project.js';

// compilers and servers run in separate processes
jest.setTimeout(180_000);

const SERVERS = {
  orders: [
    `import { serveStdio } from '@decorum/core';
     import { server } from './orders.js';
     void serveStdio(server);`,
    conversation([
      ['order', { lines: [{ sku: 'tea', quantity: 2, price: { amount: 3 } }], due: '2026-01-31T12:00:00Z' }],
      ['order', { lines: [{ sku: 'TEA', price: { amount: '3', currency: 'USD' } }], due: 'soon' }],
      ['order', { lines: [{ sku: 'gone', price: { amount: 3 } }], due: '2026-01-31T12:00:00Z' }],
      ['register', { name: '  Ada ', mail: 'ada@example.com', credit: { amount: 5, currency: 'NOK' } }],
      ['register', { name: 'Ada', email: 'ada@example.com' }],
      ['count', { name: 'a', children: [{ name: 'b' }, { name: 'c', children: [{ name: 'd' }] }] }],
      ['count', { name: 'a', children: [{}] }],
      ['visit', { site: 'https://example.com' }],
      ['visit', { site: 'nowhere' }],
    ]),
  ],
  weather: [
    `import { McpServer, serveStdio } from '@decorum/core';
     import { Weather } from './weather/weather.js';
     import { WeatherApi } from './weather/weather-api.js';
     void serveStdio(new McpServer({ name: 'weather', version: '1.0.0', providers: [new Weather(new WeatherApi())] }));`,
    conversation([
      ['forecast', { city: 'Oslo' }],
      ['forecast', { city: 'Oslo', units: 'kelvin' }],
    ]),
  ],
} as const;

const PREFERRED = ['module', 'main'];

/** The ways to bundle a program, including bundlers that prefer ES modules. */
const BUNDLERS: Readonly<Record<string, (project: Project, entry: string, file: string) => Promise<unknown>>> = {
  esbuild: ({ path }, entry, outfile) => esbuilt({ entryPoints: [path(entry)], outfile }),
  'esbuild that prefers ES modules': ({ path }, entry, outfile) =>
    esbuilt({ entryPoints: [path(entry)], outfile, mainFields: PREFERRED }),
  rolldown: rolledDown,
  'rolldown that prefers ES modules': (project, entry, file) => rolledDown(project, entry, file, PREFERRED),
};

const formatOf = (file: string) => (file.endsWith('.mjs') ? 'esm' : 'cjs');

function esbuilt(options: BuildOptions & { readonly outfile: string }): Promise<unknown> {
  const format = formatOf(options.outfile);
  return build({ ...options, format, bundle: true, minify: true, platform: 'node', logLevel: 'error' });
}

/** Runs rolldown in a separate process, because it doesn't recognize regular expressions of Jest's realm. */
async function rolledDown(project: Project, input: string, file: string, mainFields?: string[]): Promise<void> {
  const output = { file, format: formatOf(file), minify: true };
  const options = { input, output, platform: 'node', logLevel: 'silent', resolve: { mainFields } };
  const config = project.write('rolldown.config.js', `export default ${JSON.stringify(options)};`);
  await project.run('node', ['node_modules/rolldown/bin/cli.mjs', '--config', config]);
}

/** Replaces class names in definitions, because minification changes them. */
const unnamed = (text: string): string => text.replaceAll(/(\$defs(?:\/|":\{"))[\w$]+/g, '$1Class');

describe('a minified bundle in an empty folder', () => {
  const alone = mkdtempSync(join(tmpdir(), 'decorum-bundle-'));
  const unbundled = new Map<string, string>();
  let project: Project;

  beforeAll(async () => {
    project = createProject({ tools: ['fastify', 'rolldown'] });
    project.write('package.json', '{ "type": "module" }');
    project.write('orders.js', compiled('orders.ts'));
    cpSync(join(ROOT, 'examples/weather/dist'), project.path('weather'), { recursive: true });
    for (const [name, [entry, input]] of Object.entries(SERVERS)) {
      project.write(`${name}-stdio.js`, entry);
      unbundled.set(name, await project.run('node', [`${name}-stdio.js`], { input }));
    }
  });
  afterAll(() => {
    project.remove();
    rmSync(alone, { recursive: true });
  });

  it('is compared with a server that behaves as its classes declare', () => {
    const [, , first, second, third, registered, , counted] = answers(unbundled.get('orders') ?? '');
    expect(first).toMatchObject({ result: { content: [{ text: '2026: 2 tea at 3 EUR' }] } });
    expect(second).toMatchObject({ result: { isError: true } });
    expect(third).toMatchObject({ result: { isError: true } });
    expect(registered).toMatchObject({ result: { content: [{ text: '[Ada] ada@example.com 5 NOK' }] } });
    expect(counted).toMatchObject({ result: { structuredContent: { names: 4 } } });
  });

  // each server by each bundler, and each bundler in both formats
  const cases = Object.keys(BUNDLERS).flatMap((bundler, index) =>
    Object.keys(SERVERS).map((server, other) => ({ server, bundler, ending: (index + other) % 2 ? 'cjs' : 'mjs' })),
  );
  it.each(cases)(
    'has the same schemas and behavior: $server by $bundler, as .$ending',
    async ({ server, bundler, ending }) => {
      const file = join(alone, `${server}-${bundler.replaceAll(' ', '-')}.${ending}`);
      await BUNDLERS[bundler]?.(project, `${server}-stdio.js`, file);
      const [, input] = SERVERS[server as keyof typeof SERVERS];
      const printed = await project.run('node', [file], { input });
      expect(answers(unnamed(printed))).toEqual(answers(unnamed(unbundled.get(server) ?? '')));
    },
  );

  it.each(Object.keys(BUNDLERS))('does so when it is made of CommonJS, by %s', async (bundler) => {
    project.write('commonjs/package.json', '{ "type": "commonjs" }');
    project.write('commonjs/orders.js', compiled('orders.ts', 'commonjs'));
    project.write('commonjs/stdio.js', `require('@decorum/core').serveStdio(require('./orders.js').server);`);
    const file = join(alone, `commonjs-${bundler.replaceAll(' ', '-')}.cjs`);
    await BUNDLERS[bundler]?.(project, 'commonjs/stdio.js', file);
    const printed = await project.run('node', [file], { input: SERVERS.orders[1] });
    expect(answers(unnamed(printed))).toEqual(answers(unnamed(unbundled.get('orders') ?? '')));
  });

  it('keeps the names of definitions if the bundler keeps class names', async () => {
    const outfile = join(alone, 'orders-named.mjs');
    await esbuilt({ entryPoints: [project.path('orders-stdio.js')], outfile, keepNames: true });
    const [, input] = SERVERS.orders;
    const [, listed] = answers(await project.run('node', [outfile], { input }));
    expect(listed).toEqual(answers(unbundled.get('orders') ?? '')[1]);
    expect(JSON.stringify(listed)).toContain('#/$defs/Category');
  });

  it('listens with Fastify if it has the banner of docs/operate/running.md', async () => {
    const page = readFileSync(join(ROOT, 'docs/operate/running.md'), 'utf8');
    const banner = /--banner:js="([^"]+)"/.exec(page)?.[1] ?? '';
    const listening = `
      import { McpServer } from '@decorum/core';
      import { listen } from '@decorum/http';
      const { url, close } = await listen(new McpServer({ name: 'shop', version: '1.0.0', providers: [] }), { port: 0 });
      const { status } = await fetch(url, { method: 'PUT' });
      console.log(status);
      await close();
    `;
    const entryPoints = [project.write('listening.js', listening)];
    const outfile = join(alone, 'listening.mjs');
    await esbuilt({ entryPoints, outfile, banner: { js: banner } });
    expect(await project.run('node', [outfile])).toBe('405\n');
  });
});
