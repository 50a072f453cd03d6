import { verb } from '../change.js';
import { CannotTell } from './cannot-tell.js';
import { Comparison } from './comparison.js';
import { describe, type Side, subject, written } from './describe.js';
import { SchemaDocument } from './document.js';
import type { Node } from './form.js';
import { meaningOf, oversize } from './keywords.js';
import { notesOf } from './notes.js';
import { problem, type Problem, unknown } from './problem.js';
import type { Budget } from './work.js';

/** What has changed in a schema. */
export interface SchemaChange {
  readonly class: 'breaking' | 'widening' | 'wording';
  /** Where, as in `items[].price`. */
  readonly path: string;
  readonly why: string;
}

/** Cap on the changes that are listed of one schema. */
const MAX_CHANGES = 30;

/** Cap on the steps of all comparisons: a server of a stranger may list many schemas that take long. */
const MAX_STEPS = 2_000_000;

/** Compares schemas. The same pair, as in several revisions, is compared once. */
export class SchemaComparer {
  private readonly known = new Map<string, readonly SchemaChange[]>();
  private readonly budget: Budget = { left: MAX_STEPS };

  /**
   * What has changed in a schema for clients that know the old one. Inputs are compared as closed objects: clients send
   * only what the schema names. Outputs are compared as open ones: the server sends what the new schema names, and the
   * old one allows more unless it says otherwise.
   */
  changes(before: unknown, after: unknown, side: Side): readonly SchemaChange[] {
    const large = oversize(before) ?? oversize(after);
    if (large !== undefined) return changesOf({ breaking: [unknown([], large)], widening: [] }, side);
    const key = JSON.stringify([side, before, after]);
    const known = this.known.get(key) ?? this.compare(before, after, side);
    this.known.set(key, known);
    return known;
  }

  private compare(before: unknown, after: unknown, side: Side): readonly SchemaChange[] {
    const notes = noteChanges(before, after, side);
    if (meaningOf(before) === meaningOf(after)) return notes;
    const changes = [...changesOf(problemsOf({ before, after, side }, this.budget), side), ...notes];
    return [...new Map(changes.map((each) => [each.why, each])).values()].slice(0, MAX_CHANGES);
  }
}

function changesOf(problems: Problems, side: Side): readonly SchemaChange[] {
  const broken = new Set(problems.breaking.map(({ path }) => written(path)));
  return (['breaking', 'widening'] as const).flatMap((effect) =>
    problems[effect]
      .filter(({ path }) => effect === 'breaking' || !broken.has(written(path)))
      .map((each) => ({ class: effect, path: written(each.path), why: describe(each, side, effect) })),
  );
}

interface Problems {
  readonly breaking: readonly Problem[];
  readonly widening: readonly Problem[];
}

interface Versions {
  readonly before: unknown;
  readonly after: unknown;
  readonly side: Side;
}

function problemsOf({ before, after, side }: Versions, budget: Budget): Problems {
  const nodes = { old: nodeOf(before, side), new: nodeOf(after, side) };
  const compare = (a: Node, b: Node) => new Comparison(budget).compare(a, b);
  try {
    if (side === 'input') return { breaking: compare(nodes.old, nodes.new), widening: compare(nodes.new, nodes.old) };
    const known = nodes.old.map((each) => ({ ...each, isClosed: false }));
    const breaking = compare(nodes.new, known);
    const added = compare(nodes.new, nodes.old).filter(({ reason }) => reason.code === 'unexpected');
    const paths = new Set(added.map(({ path }) => written(path)));
    const narrower = compare(nodes.old, nodes.new).filter(({ path }) => !paths.has(written(path)));
    return { breaking, widening: [...added.map(asNew), ...narrower] };
  } catch (error) {
    if (error instanceof CannotTell) return { breaking: [unknown([], error.message)], widening: [] };
    throw error;
  }
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
      why: `${subject(note.path, side)} ${verb(note.notes[key], other.notes[key], key)}`,
    }));
  });
}
