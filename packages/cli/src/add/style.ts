import { indentAt, type Source, startsLine, walk } from './source.js';

/** The code style of a file. */
export interface Style {
  readonly eol: string;
  /** One level of indentation. */
  readonly unit: string;
  readonly quote: string;
  /** `;` or nothing. */
  readonly semi: string;
}

/** Statements and members that end with a semicolon, if the file has semicolons. */
const TERMINATED = new Set([
  'ImportDeclaration',
  'ExpressionStatement',
  'ReturnStatement',
  'PropertyDefinition',
  'ThrowStatement',
]);

/** The most frequent value; `fallback` if there is none. */
function most(found: readonly string[], fallback: string): string {
  const counts = new Map<string, number>();
  for (const each of found) counts.set(each, (counts.get(each) ?? 0) + 1);
  const [first] = [...counts].sort(([, a], [, b]) => b - a);
  return first?.[0] ?? fallback;
}

/** Detects the style of a file. The defaults are those of `oxfmt` and Prettier, but with single quotes. */
export function styleOf({ text, program }: Source): Style {
  const [quotes, ends, units]: [string[], string[], string[]] = [[], [], []];
  walk(program, (node, ancestors) => {
    if (node.type === 'Literal' && /^["']/.test(node.raw ?? '')) quotes.push(node.raw?.charAt(0) ?? '');
    if (TERMINATED.has(node.type)) ends.push(text[node.end - 1] === ';' ? ';' : '');
    const parent = ancestors.at(-1);
    const isBlock = parent?.type === 'ClassBody' || parent?.type === 'BlockStatement';
    if (!isBlock || !startsLine(text, node.start)) return;
    const [outer, inner] = [indentAt(text, parent.start), indentAt(text, node.start)];
    if (inner.startsWith(outer) && inner !== outer) units.push(inner.slice(outer.length));
  });
  return {
    eol: most(text.match(/\r\n|\n/g) ?? [], '\n'),
    unit: most(units, '  '),
    quote: most(quotes, "'"),
    semi: most(ends, ';'),
  };
}
