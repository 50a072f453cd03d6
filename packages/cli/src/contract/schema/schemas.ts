import { CannotTell } from './cannot-tell.js';
import { type Bound, type Form, type Node, typeOf, valueText } from './form.js';
import { NormalForms, NOTHING } from './normal-form.js';
import { type Budget, Work } from './work.js';

/** Whether something is so; undefined if that can't be told. */
export type Answer = boolean | undefined;

const all = (answers: Iterable<Answer>): Answer => {
  let result: Answer = true;
  for (const answer of answers) {
    if (answer === false) return false;
    if (answer === undefined) result = undefined;
  }
  return result;
};

const not = (answer: Answer): Answer => (answer === undefined ? undefined : !answer);

/** Cap on the levels of a value and of the schemas around it. */
const MAX_DEPTH = 300;

/** The schemas of a comparison: what they say of one property or item, and which values they accept. */
export class Schemas {
  readonly work: Work;
  private readonly normal: NormalForms;
  private depth = 0;

  constructor(budget: Budget) {
    this.work = new Work(budget);
    this.normal = new NormalForms(this.work);
  }

  /** @throws {CannotTell} */
  forms(node: Node): readonly Form[] {
    return this.normal.of(node);
  }

  /** Whether it is known that no value fits. */
  isNever(node: Node): boolean {
    try {
      return this.normal.isNever(node);
    } catch (error) {
      if (error instanceof CannotTell) return false;
      throw error;
    }
  }

  /** What a form says of the property with a name. */
  property({ objects, names }: Form, name: string): Node {
    if (names.some((node) => this.accepts(node, name) === false)) return NOTHING;
    return objects.flatMap(({ properties, patterns, additional = [] }) => {
      const matching = [...patterns].filter(([pattern]) => this.work.isMatch(pattern, name)).map(([, node]) => node);
      const own = properties.get(name);
      if (own === undefined && matching.length === 0) return additional;
      return [...(own ?? []), ...matching.flat()];
    });
  }

  /** What a form says of the item at an index. */
  item({ arrays }: Form, index: number): Node {
    return arrays.flatMap(({ prefix, rest }) => prefix[index] ?? rest);
  }

  /**
   * Whether a value fits a node.
   * @throws {CannotTell}
   */
  accepts(node: Node, value: unknown): Answer {
    // `not` may lead back to itself, and each value has an end
    if (this.depth > MAX_DEPTH) throw new CannotTell('it has a "$ref" that leads back to itself');
    this.depth += 1;
    try {
      const answers = this.forms(node).map((form) => this.formAccepts(form, value));
      return answers.includes(true) || (answers.includes(undefined) ? undefined : false);
    } finally {
      this.depth -= 1;
    }
  }

  /** Whether a value fits a form. */
  formAccepts(form: Form, value: unknown): Answer {
    this.work.spend();
    if (!form.types.has(typeOf(value))) return false;
    const text = valueText(value);
    if (form.values !== undefined && !form.values.some((each) => valueText(each) === text)) return false;
    const nots = form.nots.map((node) => not(this.accepts(node, value)));
    return all([this.typeAccepts(form, value), ...nots, ...form.unknown.map(() => undefined)]);
  }

  private typeAccepts(form: Form, value: unknown): Answer {
    if (typeof value === 'number') return numberAccepts(form, value);
    if (typeof value === 'string') return this.stringAccepts(form, value);
    if (Array.isArray(value)) return this.arrayAccepts(form, value);
    if (typeof value === 'object' && value !== null) return this.objectAccepts(form, value as Record<string, unknown>);
    return true;
  }

  private stringAccepts({ minLength, maxLength, patterns, formats }: Form, value: string): Answer {
    const length = [...value].length;
    if (length < minLength || length > maxLength) return false;
    if (patterns.some((pattern) => !this.work.isMatch(pattern, value))) return false;
    return formats.length === 0 ? true : undefined;
  }

  private arrayAccepts(form: Form, value: readonly unknown[]): Answer {
    if (value.length < form.minItems || value.length > form.maxItems) return false;
    if (form.isUnique && new Set(value.map(valueText)).size < value.length) return false;
    const items = value.map((each, index) => this.accepts(this.item(form, index), each));
    const found = form.contains.map(({ node, min, max }) => {
      const answers = value.map((each) => this.accepts(node, each));
      if (answers.includes(undefined)) return undefined;
      const count = answers.filter((each) => each === true).length;
      return count >= min && count <= max;
    });
    return all([...items, ...found]);
  }

  private objectAccepts(form: Form, value: Readonly<Record<string, unknown>>): Answer {
    const keys = Object.keys(value);
    if (keys.length < form.minProperties || keys.length > form.maxProperties) return false;
    if (form.required.some((name) => !Object.hasOwn(value, name))) return false;
    const lacks = (name: string) => !Object.hasOwn(value, name);
    if (form.dependent.some(([name, needs]) => !lacks(name) && needs.some(lacks))) return false;
    const names = keys.flatMap((name) => form.names.map((node) => this.accepts(node, name)));
    return all([...names, ...keys.map((name) => this.accepts(this.property(form, name), value[name]))]);
  }
}

function numberAccepts({ isInteger, minimum, maximum, multiples }: Form, value: number): boolean {
  if (isInteger && !Number.isInteger(value)) return false;
  if (minimum !== undefined && beyond(minimum, value, -1)) return false;
  if (maximum !== undefined && beyond(maximum, value, 1)) return false;
  return multiples.every((step) => Number.isInteger(value / step));
}

const beyond = ({ value: limit, isExclusive }: Bound, value: number, sign: 1 | -1): boolean =>
  (value - limit) * sign > 0 || (isExclusive && value === limit);
