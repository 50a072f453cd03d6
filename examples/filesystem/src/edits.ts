import { ToolError } from '@decorum/core';

import { diffOf } from './diffs.js';
import type { Edit } from './dto.js';
import { readText, replaceFile } from './files.js';
import { placeOf } from './place.js';

const MAX_FILE = 1024 * 1024;

/** Cap on the characters that all edits of a call search. */
const MAX_SEARCHED = 20 * MAX_FILE;

let lastEdit: Promise<unknown> = Promise.resolve();

/**
 * Applies edits one after the other, either all or none. Calls wait for each other, so no call overwrites another's
 * edits.
 * @returns the changes as a diff in a Markdown code block
 * @throws {ToolError} if the file doesn't contain the text that an edit replaces
 */
export function editFile(path: string, edits: readonly Edit[], dryRun: boolean): Promise<string> {
  const edit = lastEdit.then(async () => {
    const original = await readText(path, MAX_FILE);
    const before = withoutCarriageReturns(original);
    const after = applyEdits(before, edits);
    const lineEnd = original.includes('\r\n') ? '\r\n' : '\n';
    if (!dryRun) await replaceFile(path, after.replaceAll('\n', lineEnd));
    return fenced(diffOf(path, before, after));
  });
  lastEdit = edit.catch(() => {});
  return edit;
}

function applyEdits(original: string, edits: readonly Edit[]): string {
  let searched = 0;
  return edits.reduce((text, edit) => {
    searched += text.length;
    if (searched > MAX_SEARCHED) throw new ToolError('Send fewer edits at a time: the file is too large for so many.');
    return applyEdit(text, edit);
  }, original);
}

function applyEdit(text: string, edit: Edit): string {
  const oldText = withoutCarriageReturns(edit.oldText);
  const newText = withoutCarriageReturns(edit.newText);
  const place = placeOf(oldText, text);
  if (place !== -1) return text.slice(0, place) + newText + text.slice(place + oldText.length);
  // Models often get the indentation wrong.
  const lines = text.split('\n');
  const wanted = oldText.split('\n').map((line) => line.trim());
  const start = placeOf(
    wanted,
    lines.map((line) => line.trim()),
  );
  if (start === -1) throw new ToolError(`The file doesn't contain this text:\n${edit.oldText}`);
  const replaced = indentAs(lines[start] ?? '', newText.split('\n'));
  return [...lines.slice(0, start), ...replaced, ...lines.slice(start + wanted.length)].join('\n');
}

/** Indents lines so that the first has the indentation of the model line, and the others keep theirs relative to it. */
function indentAs(model: string, lines: readonly string[]): string[] {
  const [from, to] = [indentOf(lines[0] ?? ''), indentOf(model)];
  return lines.map((line) => (line.startsWith(from) && line.trim() ? to + line.slice(from.length) : line));
}

const indentOf = (line: string) => /^\s*/.exec(line)?.[0] ?? '';

const withoutCarriageReturns = (text: string) => text.replaceAll('\r\n', '\n');

function fenced(diff: string): string {
  const longest = [...diff.matchAll(/`+/g)].reduce((most, [run]) => Math.max(most, run.length), 2);
  const fence = '`'.repeat(longest + 1);
  return `${fence}diff\n${diff}${fence}\n\n`;
}
