import { CommandFailure } from 'create-decorum';
import { MagicString } from 'magic-string';

import { type ClassInfo, classesOf, startOfStatement } from './classes.js';
import { importInsertions, type Insertion, lineAfter, type Spelled } from './needs.js';
import { indentAt, lineStart, parseSource, placeOf, startsLine } from './source.js';
import type { Style } from './style.js';

/** The new code of a class. */
export interface Parts {
  readonly missing: Spelled['missing'];
  /** Lines of the DTO, if there is one. */
  readonly dto: readonly string[];
  /** Lines of the member. */
  readonly member: readonly string[];
  /** The name of the member. */
  readonly method: string;
  /** A name that the file must export for the test. */
  readonly exported: string | undefined;
}

const indented = (lines: readonly string[], indent: string, eol: string): string =>
  lines.map((line) => `${indent}${line}${eol}`).join('');

/**
 * Inserts code into a file. Everything else stays unchanged.
 * @returns the new text of the file, and the offset of the new member
 * @throws {CommandFailure} if the result could not be parsed
 */
export function insert(cls: ClassInfo, parts: Parts, style: Style): { text: string; offset: number } {
  const { source } = cls;
  const changed = new MagicString(source.text);
  const insertions = [
    ...importInsertions(source, parts.missing, style),
    ...dtoInsertion(cls, parts.dto, style),
    memberInsertion(cls, parts.member, style),
    ...exportInsertion(cls, parts.exported, style),
  ];
  for (const { offset, text } of insertions) changed.appendLeft(offset, text);
  const text = source.bom + changed.toString();
  const index = classesOf(source).findIndex(({ node }) => node.start === cls.node.start);
  // the DTO may be a class that was inserted above it
  const after = classesOf(parseSource(source.path, text))[index + (parts.dto[0]?.startsWith('class ') ? 1 : 0)];
  const member = after?.members.find(({ key, kind }) => key === parts.method && kind !== undefined);
  if (member) return { text, offset: member.start };
  throw new CommandFailure(`${placeOf(source, cls.node.start)}  The class can't be extended. Nothing was written.`);
}

/** A block of lines at the end of a class body, below its comments. */
function memberInsertion({ node, source: { text } }: ClassInfo, member: readonly string[], style: Style): Insertion {
  const { eol, unit } = style;
  const close = node.body.end - 1;
  const outer = indentAt(text, node.start);
  const first = node.body.body.find(({ start }) => startsLine(text, start));
  const indent = first ? indentAt(text, first.start) : outer + unit;
  const lines = indented(member, indent, eol);
  // a body on one line has to be split
  if (!startsLine(text, close)) return { offset: close, text: `${eol}${lines}${outer}` };
  const offset = lineStart(text, close);
  const body = text.slice(node.body.start + 1, offset);
  const needsGap = body.trim() !== '' && !/\n[ \t]*\r?\n$/.test(body);
  return { offset, text: `${needsGap ? eol : ''}${lines}` };
}

/** Lines above the statement of a class, and above its decorators and comments. */
function above(cls: ClassInfo, block: string, eol: string): Insertion {
  const { text } = cls.source;
  const offset = startOfStatement(cls);
  if (!startsLine(text, offset)) return { offset, text: `${eol}${block}${eol}` };
  const start = lineStart(text, offset);
  const before = text.slice(0, start);
  const needsGap = before !== '' && !/(?:^|\n)[ \t]*\r?\n$/.test(before);
  return { offset: start, text: `${needsGap ? eol : ''}${block}${eol}` };
}

/** The DTO has to be declared before the class, because emitted types refer to it. */
const dtoInsertion = (cls: ClassInfo, dto: readonly string[], { eol }: Style): Insertion[] =>
  dto.length === 0 ? [] : [above(cls, indented(dto, '', eol), eol)];

function exportInsertion(cls: ClassInfo, name: string | undefined, { eol, semi }: Style): Insertion[] {
  if (name === undefined) return [];
  const line = `export { ${name} }${semi}${eol}`;
  const offset = lineAfter(cls.source, cls.statement.end);
  // if the file doesn't end with a newline, appending would change its last line
  return [offset === undefined ? above(cls, line, eol) : { offset, text: `${eol}${line}` }];
}
