import { ToolError } from '@decorum/core';
import { createTwoFilesPatch } from 'diff';

import type { Edit } from './dto.js';
import { readText, replaceFile } from './files.js';

let lastEdit: Promise<unknown> = Promise.resolve();

/**
 * Applies edits one after the other, either all or none. Calls wait for each other, so no call overwrites another's
 * edits.
 * @returns the changes as a diff in a Markdown code block
 * @throws {ToolError} if the file doesn't contain the text that an edit replaces
 */
export function editFile(path: string, edits: readonly Edit[], dryRun: boolean): Promise<string> {
  const edit = lastEdit.then(async () => {
    const original = await readText(path);
    const before = withoutCarriageReturns(original);
    const after = edits.reduce(applyEdit, before);
    const lineEnd = original.includes('\r\n') ? '\r\n' : '\n';
    if (!dryRun) await replaceFile(path, after.replaceAll('\n', lineEnd));
    return fenced(createTwoFilesPatch(path, path, before, after, 'original', 'modified'));
  });
  lastEdit = edit.catch(() => {});
  return edit;
}

function applyEdit(text: string, edit: Edit): string {
  const oldText = withoutCarriageReturns(edit.oldText);
  const newText = withoutCarriageReturns(edit.newText);
  if (text.includes(oldText)) return text.replace(oldText, () => newText);
  // Models often get the indentation wrong.
  const lines = text.split('\n');
  const wanted = oldText.split('\n').map((line) => line.trim());
  const start = lines.findIndex((_, index) => wanted.every((line, offset) => lines[index + offset]?.trim() === line));
  if (start === -1) throw new ToolError(`The file doesn't contain this text:\n${edit.oldText}`);
  lines.splice(start, wanted.length, ...indentAs(lines[start] ?? '', newText.split('\n')));
  return lines.join('\n');
}

/** Indents lines so that the first has the indentation of the model line, and the others keep theirs relative to it. */
function indentAs(model: string, lines: readonly string[]): string[] {
  const [from, to] = [indentOf(lines[0] ?? ''), indentOf(model)];
  return lines.map((line) => (line.startsWith(from) && line.trim() ? to + line.slice(from.length) : line));
}

const indentOf = (line: string) => /^\s*/.exec(line)?.[0] ?? '';

const withoutCarriageReturns = (text: string) => text.replaceAll('\r\n', '\n');

function fenced(diff: string): string {
  const longest = Math.max(2, ...[...diff.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}diff\n${diff}${fence}\n\n`;
}
