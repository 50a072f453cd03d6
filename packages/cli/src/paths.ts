/** Explains imports that only `paths` of a tsconfig resolves. */
import { dirname, extname, relative } from 'node:path';

import { builtFile } from './build/built.js';
import { shown } from './entry.js';
import { projectsOf } from './loader/project.js';
import { resolveSource } from './loader/resolve.js';

const MISSING = /^Cannot find (?:package|module) '([^']+)'(?: imported from (.+)|\nRequire stack:\n- (.+))/;

/** The part of a specifier that stands for `*`, in the longest alias that matches it. */
function starOf(specifier: string, aliases: Iterable<string>): string {
  const stars = [...aliases].flatMap((alias) => {
    const [head = '', tail] = alias.split('*');
    return tail !== undefined && specifier.startsWith(head) ? [specifier.slice(head.length)] : [];
  });
  return stars.sort((a, b) => a.length - b.length)[0] ?? '';
}

/** `@app/*` becomes `#app/*`. Names like `#/*` are not valid in all versions of Node.js. */
const asImport = (alias: string) => `#${alias.replace(/^[@#~]?\/?/, '')}`;

/**
 * Says what to change if Node.js can't find a package that is an alias in a tsconfig; undefined for other errors.
 */
export function pathsAdvice(message: string): string | undefined {
  const [, specifier, imported, required] = MISSING.exec(message) ?? [];
  const importer = imported ?? required;
  if (specifier === undefined || importer === undefined) return undefined;
  for (const { file, options, candidates } of projectsOf(importer)) {
    const source = candidates(specifier).flatMap((each) => resolveSource(each, importer) ?? [])[0];
    if (file === undefined || source === undefined) continue;
    const star = starOf(specifier, Object.keys(options.paths ?? {}));
    const alias = specifier.slice(0, specifier.length - star.length);
    const built = relative(dirname(file), builtFile(source) ?? '').replaceAll('\\', '/');
    // Node.js adds no extensions
    const end = star + (extname(star) === '' ? '.js' : '');
    const target = built.endsWith(end) ? built.slice(0, -end.length) : 'dist/';
    const pattern = star === '' ? asImport(specifier) : `${asImport(alias)}*`;
    const value = star === '' ? target || built : `${target}*${end.slice(star.length)}`;
    return `\`paths\` of ${shown(file)} names ${shown(source)}, but only for type checks: tsc doesn't change the import, and Node.js doesn't read \`paths\`. Write \`"imports": { "${pattern}": "./${value}" }\` in package.json instead, and import "${asImport(specifier)}".`;
  }
  return undefined;
}
