// The weather server inside both versions of Nest, as CommonJS and as ES modules, on both platforms.
import { ExampleProcess } from '../interop/example-process.js';
import { compiledFile, createProject } from '../packaging/project.js';
import type { HOSTS } from './hosts.js';

const WEATHER = 'node_modules/@decorum/example-weather';
const FILES = {
  'server.js': 'test/frameworks/nest-server.ts',
  'inside.js': 'test/frameworks/inside.ts',
  [`${WEATHER}/weather.js`]: 'examples/weather/src/weather.ts',
  [`${WEATHER}/weather-api.js`]: 'examples/weather/src/weather-api.ts',
};

const VERSIONS = [
  { version: 'Nest 11', from: 'nest11', modules: 'commonjs' },
  { version: 'Nest 12', from: 'nest12', modules: 'es6' },
] as const;

/** Starts a process in its own project. */
async function inNest({ from, modules }: (typeof VERSIONS)[number], platform: string) {
  const project = createProject({ from, tools: ['compression'] });
  const type = modules === 'es6' ? 'module' : modules;
  project.write(`${WEATHER}/package.json`, JSON.stringify({ type, exports: { './*': './*.js' } }));
  for (const [file, source] of Object.entries(FILES)) project.write(file, compiledFile(source, modules));
  const running = await ExampleProcess.start(project.path('server.js'), platform);
  return {
    url: running.url,
    async close() {
      await running.stop();
      project.remove();
    },
  };
}

export const NEST_HOSTS: typeof HOSTS = Object.fromEntries(
  VERSIONS.flatMap((version) =>
    ['express', 'fastify'].map((platform) => [`${version.version} on ${platform}`, () => inNest(version, platform)]),
  ),
);
