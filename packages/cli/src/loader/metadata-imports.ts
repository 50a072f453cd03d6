/**
 * Makes missing imports harmless if only decorator metadata needs them. The compiler sees one file at a time, so it
 * can't know that an imported name is an interface. tsc drops such an import. Here it stays, and an ES module that
 * imports a missing name can't be linked. With a namespace import it can, and the metadata is `Object`, as with tsc.
 */
const METADATA = /typeof (\w+) === "undefined" \? Object : \1(?!\w)/g;
const IMPORT = /^import (?:(\w+)(?:, )?)?(?:\{ ([^}]+) \})? from ("[^"]+"|'[^']+');$/gm;

/** Whether a name occurs only in metadata and in its import. */
function isForMetadata(code: string, name: string, mentions: number | undefined): boolean {
  if (mentions === undefined) return false;
  return [...code.matchAll(new RegExp(`(?<![\\w$])${name}(?![\\w$])`, 'g'))].length === 2 * mentions + 1;
}

/** The names that a statement imports: each local name with its name in the other module. */
function namesOf(alone: string | undefined, list: string | undefined): readonly (readonly [string, string])[] {
  const listed = (list ?? '').split(', ').flatMap((each) => {
    const [name = '', local = name] = each.split(' as ');
    return name === '' ? [] : ([[local, name]] as const);
  });
  return alone === undefined ? listed : [[alone, 'default'], ...listed];
}

/**
 * Imports namespaces instead of the names that only metadata uses.
 * @param compiled an ES module from the compiler, with its source map
 */
export function softenImports(compiled: string): string {
  const [code = '', ...map] = compiled.split(/(?=\n\/\/# sourceMappingURL=)/);
  const mentions = new Map<string, number>();
  for (const [, name = ''] of code.matchAll(METADATA)) mentions.set(name, (mentions.get(name) ?? 0) + 1);
  if (mentions.size === 0) return compiled;
  const moved = new Map<string, string>();
  let namespaces = 0;
  const imported = code.replace(IMPORT, (...[statement, alone, list, from]: string[]) => {
    const names = namesOf(alone, list);
    const soft = names.filter(([local]) => isForMetadata(code, local, mentions.get(local)));
    if (soft.length === 0) return String(statement);
    const hard = names.filter((each) => !soft.includes(each));
    const namespace = `_types${(namespaces += 1)}`;
    for (const [local, name] of soft) moved.set(local, `${namespace}.${name}`);
    const rest = hard.map(([local, name]) => `${name} as ${local}`).join(', ');
    return `import * as ${namespace} from ${from};${rest === '' ? '' : ` import { ${rest} } from ${from};`}`;
  });
  const softened = imported.replace(METADATA, (expression: string, name: string) => {
    const member = moved.get(name);
    return member === undefined ? expression : `typeof ${member} === "undefined" ? Object : ${member}`;
  });
  return [softened, ...map].join('');
}
