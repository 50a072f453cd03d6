import { existsSync, readFileSync } from 'node:fs';
import { dirname, relative, resolve, sep } from 'node:path';

import { CommandFailure } from 'create-decorum';
import { MagicString } from 'magic-string';
import type { ArrayExpression, Node, ObjectExpression } from 'oxc-parser';

import { importsOf, isCore } from './bindings.js';
import type { Addition } from './compose.js';
import { importInsertions, type Insertion, spell } from './needs.js';
import { findProject, hasPackage, type Project } from './project.js';
import { isFunction, lineOf, placeOf, shown, type Source, walk } from './source.js';
import { styleOf } from './style.js';
import { readable } from './which.js';
import { World } from './world.js';

/** A server that a file constructs, and its options. */
interface Found {
  readonly source: Source;
  readonly options: ObjectExpression;
  /** Whether `await` is allowed there. */
  readonly canAwait: boolean;
}

function serversIn(source: Source): Found[] {
  const imports = importsOf(source);
  const found: Found[] = [];
  walk(source.program, (node: Node, ancestors) => {
    if (node.type !== 'NewExpression' || !isCore(imports, node.callee, 'McpServer')) return;
    const [options] = node.arguments;
    if (options?.type !== 'ObjectExpression') return;
    const owner = ancestors.findLast(isFunction);
    found.push({ source, options, canAwait: owner === undefined || ('async' in owner && owner.async === true) });
  });
  return found;
}

const nameOf = (property: ObjectExpression['properties'][number]): string | undefined =>
  property.type === 'Property' && property.key.type === 'Identifier' ? property.key.name : undefined;

/** Where an element goes: into `providers`, or a new `providers`. */
function insertionFor({ source, options }: Found, element: string): Insertion {
  const property = options.properties.find((each) => nameOf(each) === 'providers');
  const list = property?.type === 'Property' ? property.value : undefined;
  if (list !== undefined && list.type !== 'ArrayExpression') {
    throw new CommandFailure(
      `${placeOf(source, list.start)}  \`providers\` is no list in the code. Add ${element} yourself. Nothing was written.`,
    );
  }
  if (list !== undefined) return afterLast(list, list.elements.at(-1)?.end, { source, text: element });
  const last = options.properties.at(-1);
  return afterLast(options, last?.end, { source, text: `providers: [${element}]` });
}

/** Appends to a list or object. A comma at its end stays the only one. */
function afterLast(
  holder: ArrayExpression | ObjectExpression,
  last: number | undefined,
  { source, text }: { readonly source: Source; readonly text: string },
): Insertion {
  if (last === undefined)
    return { offset: holder.start + 1, text: holder.type === 'ArrayExpression' ? text : ` ${text} ` };
  const hasComma = /^\s*,/.test(source.text.slice(last, holder.end));
  return hasComma
    ? { offset: source.text.indexOf(',', last) + 1, text: ` ${text},` }
    : { offset: last, text: `, ${text}` };
}

/** The first absolute URL among the servers of a document, for the user to check. */
const baseUrlIn = (document: string): string =>
  /["']?\burl["']?\s*:\s*["']?(https?:\/\/[^\s"',}\]{]+)/.exec(document)?.[1] ?? 'https://api.example.com';

/** Code for the path of a document. Clients start programs in any folder; the folder of the build is beside the source's. */
function locationOf(file: string, { path }: Source, { root, packageJson }: Project): string {
  const posix = (from: string, to: string) => relative(from, to).split(sep).join('/');
  const isModule = packageJson.type === 'module' || path.endsWith('.mts');
  if (!isModule) return JSON.stringify(posix(process.cwd(), file));
  const up = posix(dirname(path), root) || '.';
  return `new URL(${JSON.stringify(`${up}/${posix(root, file)}`)}, import.meta.url)`;
}

function elementFor(file: string, name: string, place: { source: Source; project: Project }): string {
  const { quote } = styleOf(place.source);
  const document = readFileSync(file, 'utf8');
  const location = locationOf(file, place.source, place.project).replaceAll('"', quote);
  const headers = document.includes('securitySchemes')
    ? `, headers: { authorization: \`Bearer \${process.env[${quote}API_TOKEN${quote}]}\` }`
    : '';
  return `await ${name}(${location}, { baseUrl: ${quote}${baseUrlIn(document)}${quote}${headers} })`;
}

/**
 * Plans the addition of an OpenAPI document to the only server of a project, without writing anything.
 * @param file the document
 * @param to the file of the server
 * @throws {CommandFailure} if there is no such document, or not exactly one server that can have it
 */
export function planDocument(file: string, to: string | undefined): Addition {
  const path = resolve(file);
  if (!existsSync(path)) throw new CommandFailure(`${shown(path)} doesn't exist. Nothing was written.`);
  const project = findProject(to === undefined ? process.cwd() : dirname(resolve(to)));
  const named = to === undefined ? undefined : resolve(to);
  const all = readable(new World(), project, to).flatMap(serversIn);
  const servers = named === undefined ? all : all.filter(({ source }) => source.path === named);
  const [server] = servers;
  if (server === undefined || servers.length > 1) {
    const found = servers.length === 0 ? 'No file constructs' : `${servers.length} places construct`;
    throw new CommandFailure(`${found} an McpServer. Name the file of one: --to src/server.ts. Nothing was written.`);
  }
  const { source, options, canAwait } = server;
  const style = styleOf(source);
  const { as, missing } = spell(source, [{ module: '@decorum/openapi', name: 'openapi' }]);
  const element = elementFor(path, as('openapi'), { source, project });
  if (!canAwait) {
    const remedy = `Make the function async, or add it yourself: ${element}`;
    throw new CommandFailure(
      `${placeOf(source, options.start)}  \`await\` is not allowed here. ${remedy}. Nothing was written.`,
    );
  }
  const changed = new MagicString(source.text);
  for (const each of [...importInsertions(source, missing, style), insertionFor(server, element)]) {
    changed.appendLeft(each.offset, each.text);
  }
  const text = source.bom + changed.toString();
  const install = hasPackage(project, '@decorum/openapi') ? [] : ['Install it: npm install @decorum/openapi'];
  const line = lineOf(text, text.indexOf(element));
  return {
    changes: [{ path: source.path, text, isNew: false }],
    report: [`${shown(source.path)}:${line}  openapi(${shown(path)}). Check its \`baseUrl\`.`, ...install],
  };
}
