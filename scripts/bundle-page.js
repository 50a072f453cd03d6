/**
 * Writes the page of `decorum dev` that shows cards, for browsers: its script contains the libraries that it uses, so that
 * nothing is loaded from elsewhere. Their licenses are published next to it.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const PAGE = 'dev/cards/page';

/**
 * The folder of the package that a bundled file is from.
 * @param {string} file
 * @returns {string | undefined} undefined for our own files
 */
function packageOf(file) {
  return /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file)?.[0];
}

/**
 * The licenses of bundled packages.
 * @param {readonly string[]} folders
 */
function licensesOf(folders) {
  return [...folders].sort().map((folder) => {
    const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
    if (file === undefined) throw new Error(`${name} has no license file, so it can't be bundled.`);
    return `${name} ${version}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
  });
}

/**
 * The files of the page.
 * @param {string} folder the folder of the package that has the page
 * @returns {Promise<Map<string, string>>} contents by name
 */
async function filesOf(folder) {
  const source = join(folder, 'src', PAGE);
  const { resolve } = createRequire(join(folder, 'package.json'));
  /** @type {typeof import('rolldown')} */
  const { rolldown } = await import(pathToFileURL(resolve('rolldown')).href);
  /** @type {Map<string, string>} */
  const files = new Map();
  /** @type {Set<string>} */
  const packages = new Set();
  for (const name of ['page', 'sandbox']) {
    const tsconfig = join(source, 'tsconfig.json');
    const build = await rolldown({ cwd: folder, input: join(source, `${name}.ts`), platform: 'browser', tsconfig });
    const { output } = await build.generate({ minify: true });
    await build.close();
    if (output.length > 1) throw new Error(`${name}.ts must be one file, because the page serves no others.`);
    files.set(`${name}.js`, output[0].code);
    for (const each of output[0].moduleIds) packages.add(packageOf(each) ?? '');
  }
  packages.delete('');
  files.set('third-party-notices.txt', licensesOf([...packages]).join(`\n${'-'.repeat(80)}\n\n`));
  for (const name of readdirSync(source).filter((each) => /\.(?:html|css)$/.test(each))) {
    files.set(name, readFileSync(join(source, name), 'utf8'));
  }
  return files;
}

/**
 * Writes the page to the package's `dist`.
 * @param {string} folder the package's folder
 */
export async function bundlePage(folder) {
  for (const [name, text] of await filesOf(folder)) {
    const file = join(folder, 'dist', PAGE, name);
    if (existsSync(file) && readFileSync(file, 'utf8') === text) continue;
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}
