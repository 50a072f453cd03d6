/**
 * Writes the JavaScript that a package publishes: one file for each entry in `exports` of its package.json, and one for
 * their shared code. Fewer files start faster: core takes 50 ms longer as a hundred modules than as three.
 *
 * Each file is written twice, as an ES module and as CommonJS. Node.js always loads the ES module through the condition
 * `module-sync`, so a process has only one copy. CommonJS is for test runners that can't `require` ES modules.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * The source file of each entry by name: `./dist/node.js` is built from `src/node.ts`.
 * @param {string} folder the package's folder
 * @returns {Record<string, string>}
 */
function entriesOf(folder) {
  const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const files = Object.values(exports).map((entry) => /^\.\/dist\/(.+)\.js$/.exec(entry.import.default)?.[1] ?? '');
  return Object.fromEntries(files.map((name) => [name, join(folder, 'src', `${name}.ts`)]));
}

/**
 * Bundles a package. Dependencies stay external.
 * @param {string} folder the package's folder
 * @returns {Promise<Map<string, string>>} file contents by path in `dist`
 */
async function bundled(folder) {
  const { resolve } = createRequire(join(folder, 'package.json'));
  /** @type {typeof import('rolldown')} */
  const { rolldown } = await import(pathToFileURL(resolve('rolldown')).href);
  /** @type {Map<string, string>} */
  const files = new Map();
  const publish = withoutPeers(folder);
  const build = await rolldown({
    cwd: folder,
    input: entriesOf(folder),
    platform: 'node',
    tsconfig: join(folder, 'tsconfig.json'),
    external: /^(?!\.|\/)/,
    plugins: [
      {
        // copied instead of bundled, because it needs `require`, which ES modules don't have
        name: 'keep-commonjs',
        resolveId(source, importer = '') {
          if (!source.endsWith('.cjs')) return null;
          const path = relative(join(folder, 'src'), join(dirname(importer), source));
          // tsc copies no types that are written by hand
          for (const copied of [path, path.replace(/cjs$/, 'd.cts')])
            files.set(copied, publish(readFileSync(join(folder, 'src', copied), 'utf8')));
          return { id: `./${path}`, external: 'relative' };
        },
      },
    ],
  });
  const dir = join(folder, 'dist');
  const modules = await build.generate({ dir, sourcemap: true, chunkFileNames: 'shared.js' });
  const commonjs = await build.generate({
    dir,
    format: 'cjs',
    entryFileNames: '[name].cjs',
    chunkFileNames: 'shared.cjs',
    // Jest's CommonJS runner has no `import()`
    dynamicImportInCjs: false,
  });
  await build.close();
  for (const file of [...modules.output, ...commonjs.output]) {
    files.set(file.fileName, file.type === 'chunk' ? file.code : String(file.source));
  }
  return files;
}

/** Lets programs compile without an optional library: its types are then `any`. */
const IGNORED = '// @ts-ignore: the library is optional';

/**
 * A function that adds `@ts-ignore` above each line of types that imports an optional peer dependency.
 * @param {string} folder the package's folder
 * @returns {(types: string) => string}
 */
function withoutPeers(folder) {
  const { peerDependenciesMeta = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const names = Object.keys(peerDependenciesMeta).join('|');
  if (names === '') return (types) => types;
  const imports = new RegExp(`^(?!\\s*(?:\\*|//)).*\\b(?:from |import\\()['"](?:${names})(?:/[^'"]*)?['"].*$`, 'gm');
  return (types) => types.replaceAll(`${IGNORED}\n`, '').replace(imports, `${IGNORED}\n$&`);
}

/**
 * The types of the ES modules as they are published.
 * @param {string} folder the package's folder
 * @returns {[path: string, text: string][]} contents by path in `dist`
 */
function moduleTypes(folder) {
  const dist = join(folder, 'dist');
  const types = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.d.ts'));
  const publish = withoutPeers(folder);
  return types.map((path) => [path, publish(readFileSync(join(dist, path), 'utf8'))]);
}

/**
 * The types of the CommonJS files. They need their own extension, because in a package of type `module`, TypeScript
 * reads `.d.ts` files as types of ES modules.
 * @param {[path: string, text: string][]} types those of the ES modules
 * @returns {[path: string, text: string][]} contents by path in `dist`
 */
function commonjsTypes(types) {
  return types.map(([path, text]) => {
    const toCommonjs = text.replace(/((?:from|import) ?\(?['"]\.{1,2}\/[^'"]+)\.js(?=['"])/g, '$1.cjs');
    return [path.replace(/ts$/, 'cts'), toCommonjs.replace(/\n\/\/# sourceMappingURL=.*/, '')];
  });
}

/**
 * Writes the JavaScript of one package to its `dist`, and removes the files of earlier builds.
 * @param {string} folder the package's folder
 */
export async function bundle(folder) {
  const dist = join(folder, 'dist');
  const types = moduleTypes(folder);
  const files = new Map([...(await bundled(folder)), ...types, ...commonjsTypes(types)]);
  for (const [path, text] of files) {
    const file = join(dist, path);
    // leave unchanged files alone: a starting server may be reading them
    if (existsSync(file) && readFileSync(file, 'utf8') === text) continue;
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  for (const path of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    if (/\.c?js(?:\.map)?$|\.d\.cts$/.test(path) && !files.has(path)) rmSync(join(dist, path));
  }
}
