import { CannotTell, TooComplex } from './cannot-tell.js';
import { compareArrays } from './compare-arrays.js';
import { compareObjects } from './compare-objects.js';
import { compareNumbers, compareStrings } from './compare-scalars.js';
import { isDisjoint } from './disjoint.js';
import { type Form, type Node, type Type, typeOf } from './form.js';
import { meaningOf } from './keywords.js';
import { type Comparing, problem, type Problem, unknown } from './problem.js';
import { Schemas } from './schemas.js';
import { type Budget, excerptOf } from './work.js';

type Path = readonly string[];

/** Cap on the levels of properties and items that are followed. */
const MAX_LEVELS = 100;

interface Targets {
  readonly targets: readonly Form[];
  /** Whether the form is one case of another. */
  readonly isCase?: boolean;
}

/** Values of a property by which alternatives are told apart. */
const MAX_CASES = 32;

/**
 * Compares two schemas: does each value of one fit the other? Schemas may refer to themselves. A pair that is being
 * compared counts as fitting further inside, because a value that shows otherwise would have a smaller one in it.
 */
export class Comparison implements Comparing {
  private readonly schemas: Schemas;
  /** The pairs that are being compared, with their level. */
  private readonly open = new Map<string, number>();
  /** The pairs that fit if those do that are being compared, in order. */
  private readonly fitting = new Set<string>();
  private readonly failing = new Map<string, readonly Problem[]>();
  private level = 0;

  constructor(budget: Budget = { left: Infinity }) {
    this.schemas = new Schemas(budget);
  }

  /**
   * Why some values of `a` don't fit `b`: empty if all fit.
   * @throws {TooComplex}
   */
  compare(a: Node, b: Node): readonly Problem[] {
    return this.pair(a, b, []);
  }

  readonly fits = (a: Node, b: Node, path: Path): readonly Problem[] => {
    if (this.level >= MAX_LEVELS) throw new TooComplex();
    this.level += 1;
    try {
      return this.pair(a, b, path);
    } finally {
      this.level -= 1;
    }
  };

  private pair(a: Node, b: Node, path: Path): readonly Problem[] {
    const { work } = this.schemas;
    work.spend();
    if (b.length === 0 || isSame(a, b)) return [];
    const key = `${work.keyOf(a)} < ${work.keyOf(b)}`;
    const level = this.open.get(key);
    // without a property or an item in between, it would prove itself
    if (level !== undefined) return level < this.level ? [] : [unknown(path, 'it refers to itself')];
    if (this.fitting.has(key)) return [];
    const failed = this.failing.get(key);
    if (failed !== undefined) return failed.map((each) => ({ ...each, path: [...path, ...each.path] }));
    const before = this.fitting.size;
    this.open.set(key, this.level);
    try {
      const problems = this.forms(a, b);
      if (problems.length === 0) this.fitting.add(key);
      else {
        // what fits only if this pair does
        for (const each of [...this.fitting].slice(before)) this.fitting.delete(each);
        this.failing.set(key, problems);
      }
      return problems.map((each) => ({ ...each, path: [...path, ...each.path] }));
    } finally {
      this.open.delete(key);
    }
  }

  private forms(a: Node, b: Node): readonly Problem[] {
    try {
      const targets = this.schemas.forms(b);
      return this.schemas
        .forms(a)
        .flatMap((form) => [...form.types].flatMap((type) => this.form(narrowed(form, type), type, { targets })));
    } catch (error) {
      if (!(error instanceof CannotTell) || error instanceof TooComplex) throw error;
      return [unknown([], error.message)];
    }
  }

  /** Compares one alternative of one type with all alternatives of the other schema. */
  private form(a: Form, type: Type, { targets, isCase = false }: Targets): readonly Problem[] {
    const values = valuesOf(a, type)?.filter((value) => this.schemas.formAccepts(a, value) !== false);
    if (values !== undefined) return values.flatMap((value) => this.value(value, targets));
    const ofType = targets.filter(({ types }) => types.has(type));
    if (ofType.length === 0) return [problem([], { code: 'type', type: nameOf(a, type) })];
    let best: readonly Problem[] | undefined;
    for (const target of ofType) {
      const problems = this.one(a, target, type);
      if (problems.length === 0) return [];
      if (best === undefined || problems.length < best.length) best = problems;
    }
    const cases = ofType.length > 1 && !isCase ? this.cases(a, type) : undefined;
    return cases?.flatMap((each) => this.form(each, type, { targets, isCase: true })) ?? best ?? [];
  }

  private value(value: unknown, targets: readonly Form[]): readonly Problem[] {
    const answers = targets.map((target) => this.schemas.formAccepts(target, value));
    if (answers.includes(true)) return [];
    if (answers.includes(undefined)) return [unknown([], `whether ${excerptOf(value)} is allowed is not known`)];
    if (!targets.some(({ types }) => types.has(typeOf(value))))
      return [problem([], { code: 'type', type: typeOf(value) })];
    return [problem([], { code: 'value', value: excerptOf(value) })];
  }

  /** Compares one alternative with one alternative. */
  private one(a: Form, b: Form, type: Type): readonly Problem[] {
    const tools = { schemas: this.schemas, comparing: this };
    const problems: Problem[] = [];
    if (b.values !== undefined) {
      const values = b.values.slice(0, 8).map(excerptOf).join(', ');
      return [problem([], { code: 'values', values: b.values.length > 8 ? `${values}, …` : values })];
    }
    if (type === 'number') problems.push(...compareNumbers(a, b, []));
    if (type === 'string') problems.push(...compareStrings(a, b, []));
    if (type === 'array') problems.push(...compareArrays(tools, { a, b }, []));
    if (type === 'object') problems.push(...compareObjects(tools, { a, b }, []));
    for (const node of b.nots) {
      if (!this.excludes(a, node))
        problems.push(unknown([], 'whether `not` or `oneOf` excludes some values is not known'));
    }
    // the same keyword in both may still mean less: what it allows depends on the rest of its schema
    for (const keyword of b.unknown) problems.push(unknown([], `"${keyword}" can't be compared`));
    return problems;
  }

  /** Whether it is known that no value of a form fits a node. */
  private excludes(a: Form, node: Node): boolean {
    // the level stays: these are schemas of the same value
    return isDisjoint(this.schemas, a, node) || a.nots.some((own) => this.pair(node, own, []).length === 0);
  }

  /** The cases of a form by a property that has only some values; undefined if there is none. */
  private cases(a: Form, type: Type): readonly Form[] | undefined {
    if (type !== 'object') return undefined;
    for (const name of a.required) {
      const forms = this.schemas.forms(this.schemas.property(a, name));
      const values = forms.map((form) =>
        form.types.size === 1 ? valuesOf(form, [...form.types][0] as Type) : form.values,
      );
      const all = values.flatMap((each) => each ?? []);
      if (values.includes(undefined) || all.length < 2 || all.length > MAX_CASES) continue;
      const [located] = a.objects.flatMap(({ properties }) => properties.get(name) ?? []);
      if (located === undefined) continue;
      return all.map((value) => {
        const node: Node = [{ ...located, schema: { const: value } }];
        return {
          ...a,
          objects: [...a.objects, { properties: new Map([[name, node]]), patterns: new Map(), additional: [] }],
        };
      });
    }
    return undefined;
  }
}

const narrowed = (form: Form, type: Type): Form =>
  form.types.size === 1 ? form : { ...form, types: new Set<Type>([type]) };

/** Integers between bounds that are listed as values. */
const MAX_INTEGERS = 32;

/** The values of one type, if there are only some. */
function valuesOf({ values, isInteger, minimum, maximum }: Form, type: Type): readonly unknown[] | undefined {
  if (values !== undefined) return values.filter((value) => typeOf(value) === type);
  if (type === 'null') return [null];
  if (type === 'boolean') return [false, true];
  if (type !== 'number' || !isInteger || minimum === undefined || maximum === undefined) return undefined;
  const first = Math.ceil(minimum.value);
  const count = Math.floor(maximum.value) - first + 1;
  return count > MAX_INTEGERS
    ? undefined
    : Array.from({ length: Math.max(0, count) }, (_value, index) => first + index);
}

const nameOf = ({ isInteger }: Form, type: Type): string => (isInteger && type === 'number' ? 'integer' : type);

const REFERENCES = /"\$(?:ref|dynamicRef|recursiveRef)":"([^"]*)"/g;
const TO_DEFINITIONS = /^#\/(?:\$defs|definitions)\//;

/** The references in the text of a schema; undefined if some lead elsewhere than to definitions. */
const referencesIn = (text: string): number | undefined => {
  const targets = [...text.matchAll(REFERENCES)].map(([, target = '']) => target);
  return targets.every((target) => TO_DEFINITIONS.test(target)) ? targets.length : undefined;
};

/** Whether two nodes are the same schema, and refer to the same definitions. */
function isSame([a, ...others]: Node, [b, ...rest]: Node): boolean {
  if (a === undefined || b === undefined || others.length + rest.length > 0) return false;
  if ((b.isClosed && !a.isClosed) || a.document.isOld !== b.document.isOld) return false;
  const text = meaningOf(a.schema);
  if (text !== meaningOf(b.schema)) return false;
  const { definitions } = a.document;
  const count = referencesIn(text);
  return (
    count === 0 ||
    (count !== undefined && definitions === b.document.definitions && referencesIn(definitions) !== undefined)
  );
}
