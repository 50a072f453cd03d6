/** The reference of the packages: one page for each entry, written by typedoc from the doc comments. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

import { ROOT } from '../workspace.js';

const FOLDER = join(ROOT, 'docs/reference/packages');
/** Where the packages of the site are installed. */
const { resolve } = createRequire(join(ROOT, 'docs/package.json'));

/**
 * @typedef {object} Entry
 * @property {string} specifier such as `@decorum/http/node`
 * @property {string} name of its page, such as `http-node`
 * @property {string} description of its package
 * @property {string} types its declarations
 */

/**
 * What users import: no programs, and no entries for our own packages only.
 * @returns {Entry[]}
 */
function entriesOfPackages() {
  return readdirSync(join(ROOT, 'packages')).flatMap((name) => {
    const folder = join(ROOT, 'packages', name);
    const { bin, description, exports = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    if (bin !== undefined) return [];
    const paths = Object.entries(exports).filter(([path]) => path !== './internal');
    return paths.map(([path, { import: entry }]) => ({
      specifier: join(`@decorum/${name}`, path),
      name: join(name, path).replaceAll('/', '-'),
      description,
      types: join(folder, entry.types),
    }));
  });
}

/** @param {readonly Entry[]} entries */
const settingsFor = (entries) => ({
  plugin: [resolve('typedoc-plugin-markdown')],
  outputs: [{ name: 'markdown', path: FOLDER }],
  logLevel: 'Error',
  tsconfig: join(ROOT, 'tsconfig.base.json'),
  compilerOptions: { skipLibCheck: true },
  skipErrorChecking: true,
  validation: false,
  disableSources: true,
  excludePrivate: true,
  excludeInternal: true,
  readme: 'none',
  outputFileStrategy: 'modules',
  entryFileName: 'index',
  hideBreadcrumbs: true,
  hidePageHeader: true,
  useCodeBlocks: true,
  sanitizeComments: true,
  parametersFormat: 'table',
  interfacePropertiesFormat: 'table',
  classPropertiesFormat: 'table',
  typeDeclarationFormat: 'table',
  propertyMembersFormat: 'table',
  enumMembersFormat: 'table',
  pageTitleTemplates: {
    module: (/** @type {{ name: string }} */ page) =>
      entries.find(({ name }) => name === page.name)?.specifier ?? page.name,
  },
});

/**
 * Which page and heading describes each exported name. `@decorum/core` comes first where several entries export it.
 * @param {readonly Entry[]} entries
 */
function namesOf(entries) {
  /** @type {Record<string, string>} */
  const names = {};
  const order = [...entries].sort((a, b) => Number(b.name === 'core') - Number(a.name === 'core'));
  for (const { specifier, name } of order) {
    const url = `/reference/packages/${name}/`;
    names[specifier] = url;
    const headings = readFileSync(join(FOLDER, `${name}.md`), 'utf8').matchAll(/^### (\w+)(\(\))?$/gm);
    for (const [, exported = ''] of headings) {
      names[exported] ??= `${url}#${exported.toLowerCase()}`;
    }
  }
  return names;
}

/** @param {readonly Entry[]} entries */
function listOf(entries) {
  const lines = entries.map(({ specifier, name, description }) => {
    const isPackage = specifier.split('/').length === 2;
    return `${isPackage ? '' : '  '}- [\`${specifier}\`](${name}.md)${isPackage ? `: ${description}` : ''}`;
  });
  return `# Packages\n\nEverything that the packages export, from their doc comments.\n\n${lines.join('\n')}\n`;
}

/** Writes the pages, and `names.json` for links to them. */
export async function writeReference() {
  const entries = entriesOfPackages();
  const missing = entries.find(({ types }) => !existsSync(types));
  if (missing) throw new Error(`${missing.types} is missing. Run \`npm run build\` first.`);
  const { Application } = await import(resolve('typedoc'));
  const app = await Application.bootstrapWithPlugins({
    ...settingsFor(entries),
    entryPoints: entries.map(({ types }) => types),
  });
  const project = await app.convert();
  if (project === undefined) throw new Error('typedoc could not read the declarations of the packages.');
  // typedoc names a module by its file, such as http/dist/node
  for (const module of project.children ?? []) module.name = module.name.replace('/dist', '').replaceAll('/', '-');
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  await app.generateOutputs(project);
  writeFileSync(join(FOLDER, 'index.md'), listOf(entries));
  writeFileSync(join(FOLDER, 'names.json'), JSON.stringify(namesOf(entries)));
}
