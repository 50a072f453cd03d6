/**
 * Writes the JavaScript that a package publishes: one file for each entry in `exports` of its package.json, and one for
 * the code they share. Fewer files start faster: core as a hundred modules takes 50 ms longer than as three.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * The source of each entry by its name: `./dist/node.js` is made from `src/node.ts`.
 * @param {string} folder of the package
 * @returns {Record<string, string>}
 */
function entriesOf(folder) {
  const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const files = Object.values(exports).map((entry) => /^\.\/dist\/(.+)\.js$/.exec(entry.default)?.[1] ?? '');
  return Object.fromEntries(files.map((name) => [name, join(folder, 'src', `${name}.ts`)]));
}

/**
 * Bundles a package. Its dependencies stay imports.
 * @param {string} folder of the package
 * @returns {Promise<Map<string, string>>} texts of files by their paths in `dist`
 */
async function bundled(folder) {
  const { resolve } = createRequire(join(folder, 'package.json'));
  /** @type {typeof import('rolldown')} */
  const { rolldown } = await import(pathToFileURL(resolve('rolldown')).href);
  /** @type {Map<string, string>} */
  const files = new Map();
  const build = await rolldown({
    cwd: folder,
    input: entriesOf(folder),
    platform: 'node',
    tsconfig: join(folder, 'tsconfig.json'),
    external: /^(?!\.|\/)/,
    plugins: [
      {
        // copied, not bundled: in a bundle of modules it would have no `require`
        name: 'keep-commonjs',
        resolveId(source, importer = '') {
          if (!source.endsWith('.cjs')) return null;
          const file = join(dirname(importer), source);
          const path = relative(join(folder, 'src'), file);
          files.set(path, readFileSync(file, 'utf8'));
          return { id: `./${path}`, external: 'relative' };
        },
      },
    ],
  });
  const { output } = await build.generate({ dir: join(folder, 'dist'), sourcemap: true, chunkFileNames: 'shared.js' });
  await build.close();
  for (const file of output) files.set(file.fileName, file.type === 'chunk' ? file.code : String(file.source));
  return files;
}

/**
 * Writes the JavaScript of one package to its `dist`, and removes what an earlier build left there.
 * @param {string} folder of the package
 */
export async function bundle(folder) {
  const dist = join(folder, 'dist');
  const files = await bundled(folder);
  for (const [path, text] of files) {
    const file = join(dist, path);
    // unchanged: a server that is starting may be reading it
    if (existsSync(file) && readFileSync(file, 'utf8') === text) continue;
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  for (const path of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    if (/\.c?js(?:\.map)?$/.test(path) && !files.has(path)) rmSync(join(dist, path));
  }
}
