import { CannotTell } from './cannot-tell.js';
import { Comparison } from './comparison.js';
import { describe, type Side, subject, written } from './describe.js';
import { SchemaDocument } from './document.js';
import type { Node } from './form.js';
import { meaningOf, oversize } from './keywords.js';
import { notesOf } from './notes.js';
import { problem, type Problem, unknown } from './problem.js';

/** What has changed in a schema. */
export interface SchemaChange {
  readonly class: 'breaking' | 'widening' | 'wording';
  /** Where, as in `items[].price`. */
  readonly path: string;
  readonly why: string;
}

/** Cap on the changes that are listed of one schema. */
const MAX_CHANGES = 30;

/**
 * What has changed in a schema for clients that know the old one. Inputs are compared as closed objects: clients send
 * only what the schema names. Outputs are compared as open ones: the server sends what the new schema names, and the old
 * one allows more unless it says otherwise.
 */
export function schemaChanges(before: unknown, after: unknown, side: Side): readonly SchemaChange[] {
  const large = oversize(before) ?? oversize(after);
  const notes = large === undefined ? noteChanges(before, after, side) : [];
  if (large === undefined && meaningOf(before) === meaningOf(after)) return notes;
  const problems =
    large === undefined ? problemsOf(before, after, side) : { breaking: [unknown([], large)], widening: [] };
  const broken = new Set(problems.breaking.map(({ path }) => written(path)));
  const changes = (['breaking', 'widening'] as const).flatMap((effect) =>
    problems[effect]
      .filter(({ path }) => effect === 'breaking' || !broken.has(written(path)))
      .map((each) => ({ class: effect, path: written(each.path), why: describe(each, side, effect) })),
  );
  const distinct = [...new Map([...changes, ...notes].map((each) => [each.why, each])).values()];
  return distinct.slice(0, MAX_CHANGES);
}

interface Problems {
  readonly breaking: readonly Problem[];
  readonly widening: readonly Problem[];
}

function problemsOf(before: unknown, after: unknown, side: Side): Problems {
  const nodes = { old: nodeOf(before, side), new: nodeOf(after, side) };
  if (side === 'input') {
    return { breaking: compare(nodes.old, nodes.new), widening: compare(nodes.new, nodes.old) };
  }
  const known = nodes.old.map((each) => ({ ...each, isClosed: false }));
  const added = compare(nodes.new, nodes.old).filter(({ reason }) => reason.code === 'unexpected');
  const paths = new Set(added.map(({ path }) => written(path)));
  const narrower = compare(nodes.old, nodes.new).filter(({ path }) => !paths.has(written(path)));
  return { breaking: compare(nodes.new, known), widening: [...added.map(asNew), ...narrower] };
}

/** A new field of a result is news, whether it is always there or not. */
const asNew = ({ path }: Problem): Problem => problem(path, { code: 'new' });

/** Without any properties, an input has none. */
const NO_MORE = { properties: {} };

function nodeOf(schema: unknown, side: Side): Node {
  const document = new SchemaDocument(schema);
  const place = { document, isClosed: true };
  const root = { ...place, schema };
  return side === 'input' ? [root, { ...place, schema: NO_MORE }] : [root];
}

function compare(a: Node, b: Node): readonly Problem[] {
  try {
    return new Comparison().compare(a, b);
  } catch (error) {
    if (error instanceof CannotTell) return [unknown([], error.message)];
    throw error;
  }
}

/** What has changed in the texts and defaults of a schema. */
function noteChanges(before: unknown, after: unknown, side: Side): readonly SchemaChange[] {
  const [old, current] = [notesOf(before), notesOf(after)];
  return [...old].flatMap(([path, note]) => {
    const other = current.get(path);
    if (other === undefined) return [];
    const changed = Object.keys({ ...note.notes, ...other.notes }).filter(
      (key) => note.notes[key] !== other.notes[key],
    );
    return changed.map((key) => ({
      class: 'wording' as const,
      path: written(note.path),
      why: `${subject(note.path, side)} has another ${key}`,
    }));
  });
}
