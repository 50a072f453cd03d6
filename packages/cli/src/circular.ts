/** Explains errors about classes that don't exist yet, because files or classes need each other while they load. */
import { readFileSync } from 'node:fs';

import { shown } from './entry.js';
import { resolveSource } from './loader/resolve.js';
import { classesIn, memberPlace, type Parsed, parse } from './member.js';

/** A name that a file imports. */
interface Imported {
  /** The name that the other file exports. */
  readonly name: string;
  readonly file: string;
}

/** What a name of a file is imported from; undefined if the file declares it itself. */
function importOf(local: string, file: string, { module }: Parsed): Imported | undefined {
  for (const { entries, moduleRequest } of module.staticImports) {
    const entry = entries.find(({ localName }) => localName.value === local);
    const target = entry && resolveSource(moduleRequest.value, file);
    if (target !== undefined) return { name: entry?.importName.name ?? local, file: target };
  }
  return undefined;
}

/** The name of the field whose emitted type is the class. */
function fieldOf({ program }: Parsed, source: string, cls: string): string | undefined {
  const type = new RegExp(`^:\\s*${cls.replaceAll('$', '\\$')}(?:\\s*\\|\\s*\\w+)*$`);
  for (const { body } of classesIn(program)) {
    for (const element of body.body) {
      if (element.type !== 'PropertyDefinition' || !element.typeAnnotation) continue;
      const { start, end } = element.typeAnnotation;
      if (type.test(source.slice(start, end))) return source.slice(element.key.start, element.key.end);
    }
  }
  // in JavaScript, only the emitted type is left
  return source.includes(`"design:type", ${cls})`) ? 'field' : undefined;
}

/**
 * Says what to change after "Cannot access 'Author' before initialization"; undefined for other errors.
 * @param file absolute path of the file that threw the error
 * @param sources files that may declare the class
 */
export function circularAdvice(message: string, file: string, sources: Iterable<string>): string | undefined {
  const [, name] = /Cannot access '([^']+)' before initialization/.exec(message) ?? [];
  if (name === undefined) return undefined;
  const source = readFileSync(file, 'utf8');
  const parsed = parse(file, source);
  const field = fieldOf(parsed, source, name);
  const later = `declare \`type Later<T> = T\`, and write \`@Type(() => ${name}) ${field}?: Later<${name}>\`.`;
  const imported = importOf(name, file, parsed);
  if (imported === undefined) {
    return field && `${name} is declared below the class that needs it. Move it up. If they need each other, ${later}`;
  }
  // the file that is imported may only re-export the class
  const declared = memberPlace(new Error(imported.name), [imported.file, ...sources])?.file ?? imported.file;
  const both = `${shown(file)} and ${shown(declared)} need each other while they load.`;
  if (field !== undefined) return `${both} Compilers emit the class of a field. To hide it, ${later}`;
  return `${both} Move ${name}, or what needs it, to a file of its own that doesn't import the others.`;
}
