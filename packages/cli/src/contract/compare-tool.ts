import type { JsonObject } from '@decorum/core';
import { isObject } from '@decorum/core/internal';

import { type Change, differs, type EntryPair, listingChange, wordingChanges } from './change.js';
import type { SchemaComparer } from './schema/compare-schemas.js';

/** Fields that are compared one by one. Changes of others are wording. */
const COMPARED = ['name', 'inputSchema', 'outputSchema', 'annotations', 'execution', 'aliases', 'listed', 'preview'];

/** What has changed of a tool. */
export function toolChanges(pair: EntryPair, schemas: SchemaComparer): readonly Change[] {
  return [
    ...inputChanges(pair, schemas),
    ...headerChanges(pair),
    ...outputChanges(pair, schemas),
    ...hintChanges(pair),
    ...taskChanges(pair),
    ...previewChanges(pair),
    ...listingChange(pair),
    ...wordingChanges(pair, COMPARED),
  ];
}

const EMPTY = { type: 'object' };

function inputChanges({ member, before, after }: EntryPair, schemas: SchemaComparer): readonly Change[] {
  const changes = schemas.changes(before['inputSchema'] ?? EMPTY, after['inputSchema'] ?? EMPTY, 'input');
  return changes.map(({ path, ...change }) => ({
    ...change,
    member,
    path: path === '' ? 'arguments' : `arguments.${path}`,
    field: 'inputSchema',
  }));
}

/**
 * Clients of stateless revisions repeat some arguments in headers, as the schema says that they know. Without the header,
 * the server refuses the call.
 */
function headerChanges({ member, before, after }: EntryPair): readonly Change[] {
  const [old, current] = [headersIn(before['inputSchema']), headersIn(after['inputSchema'])];
  return [...current].flatMap(([argument, header]): readonly Change[] => {
    if (header === undefined || !old.has(argument) || old.get(argument)?.toLowerCase() === header.toLowerCase())
      return [];
    const why = `argument "${argument}" must now be repeated in the header Mcp-Param-${header}`;
    return [{ class: 'breaking', member, path: `arguments.${argument}`, why, field: 'inputSchema' }];
  });
}

/** The arguments of a schema, with the header that repeats each, if there is one. */
function headersIn(schema: unknown, path = ''): ReadonlyMap<string, string | undefined> {
  const properties = objectOf(objectOf(schema)['properties']);
  const found = new Map<string, string | undefined>();
  for (const [name, inner] of Object.entries(properties)) {
    const argument = path === '' ? name : `${path}.${name}`;
    const header = objectOf(inner)['x-mcp-header'];
    found.set(argument, typeof header === 'string' ? header : undefined);
    for (const [key, value] of headersIn(inner, argument)) found.set(key, value);
  }
  return found;
}

function outputChanges({ member, before, after }: EntryPair, schemas: SchemaComparer): readonly Change[] {
  const [old, current] = [before['outputSchema'], after['outputSchema']];
  const common = { member, field: 'outputSchema' };
  if (old === undefined && current === undefined) return [];
  if (old === undefined)
    return [{ ...common, class: 'widening', path: 'result', why: 'returns structured results now' }];
  if (current === undefined)
    return [{ ...common, class: 'breaking', path: 'result', why: 'no longer returns structured results' }];
  return schemas.changes(old, current, 'output').map(({ path, ...change }) => ({
    ...change,
    ...common,
    path: path === '' ? 'result' : `result.${path}`,
  }));
}

/** The hints, with what they are by default, and the value on which clients rely. */
const HINTS = [
  { hint: 'readOnlyHint', fallback: false, safe: true },
  { hint: 'destructiveHint', fallback: true, safe: false },
  { hint: 'idempotentHint', fallback: false, safe: true },
  { hint: 'openWorldHint', fallback: true, safe: false },
] as const;

/** Hints that mean nothing for tools that only read. */
const OF_WRITERS: ReadonlySet<string> = new Set(['destructiveHint', 'idempotentHint']);

/** @see https://modelcontextprotocol.io/specification/2025-11-25/schema#toolannotations */
function hintChanges({ member, before, after }: EntryPair): readonly Change[] {
  const [old, current] = [objectOf(before['annotations']), objectOf(after['annotations'])];
  const reads = (hints: JsonObject) => hints['readOnlyHint'] === true;
  const changes = HINTS.flatMap(({ hint, fallback, safe }): readonly Change[] => {
    // a tool that only reads is neither destructive nor unsafe to repeat
    if (OF_WRITERS.has(hint) && (reads(old) || reads(current))) return [];
    const [was, is] = [old[hint] ?? fallback, current[hint] ?? fallback];
    if (was === is) return [];
    const common = { member, path: `annotations.${hint}`, field: 'annotations' };
    if (was === safe) return [{ ...common, class: 'breaking', why: `${hint} is no longer ${safe}` }];
    return is === safe ? [{ ...common, class: 'widening', why: `${hint} is ${safe} now` }] : [];
  });
  const known: readonly string[] = HINTS.map(({ hint }) => hint);
  const texts = Object.keys({ ...old, ...current }).filter(
    (key) => !known.includes(key) && differs(old[key], current[key]),
  );
  return [
    ...changes,
    ...texts.map((key) => ({
      class: 'wording' as const,
      member,
      path: `annotations.${key}`,
      why: `has another ${key} in its annotations`,
      field: 'annotations',
    })),
  ];
}

const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});

/** Whether a tool may run as a task, and without one. */
const MODES: Readonly<Record<string, { readonly task: boolean; readonly plain: boolean }>> = {
  forbidden: { task: false, plain: true },
  optional: { task: true, plain: true },
  required: { task: true, plain: false },
};

function taskChanges({ member, before, after }: EntryPair): readonly Change[] {
  const [old, current] = [before, after].map(({ execution }) => MODES[String(objectOf(execution)['taskSupport'])]);
  const [was, is] = [old ?? FORBIDDEN, current ?? FORBIDDEN];
  const common = { member, path: 'execution.taskSupport', field: 'execution' };
  const kinds = [
    { kind: 'task', name: 'as a task' },
    { kind: 'plain', name: 'without a task' },
  ] as const;
  return kinds.flatMap(({ kind, name }): readonly Change[] => {
    if (was[kind] === is[kind]) return [];
    if (is[kind]) return [{ ...common, class: 'widening', why: `can be called ${name} now` }];
    return [{ ...common, class: 'breaking', why: `can no longer be called ${name}` }];
  });
}

/** Lists of running servers show previews only by their argument. */
const hasTicket = ({ inputSchema }: JsonObject) => 'ticket' in objectOf(objectOf(inputSchema)['properties']);

function previewChanges({ member, before, after }: EntryPair): readonly Change[] {
  const common = { class: 'breaking', member, path: 'preview', field: 'preview' } as const;
  if (after['preview'] === true && before['preview'] !== true && !hasTicket(before))
    return [{ ...common, why: 'a call only shows a plan now, and does nothing without its ticket' }];
  if (before['preview'] === true && after['preview'] !== true && !hasTicket(after))
    return [{ ...common, why: 'a call acts at once now, and shows no plan before' }];
  return [];
}

const FORBIDDEN = { task: false, plain: true };
