import { isObject } from '@decorum/core/internal';

import { CannotTell } from './cannot-tell.js';
import { SchemaDocument } from './document.js';
import { ANY, type Form, type Located, merged, type Node, type ObjectPart, typeOf, valueText } from './form.js';
import { ownForm } from './own-form.js';
import type { Work } from './work.js';

/** Cap on the alternatives of one schema. */
const MAX_FORMS = 256;

/** Cap on schemas that apply each other to the same value. */
const MAX_CHAIN = 200;

/** Allows nothing. */
export const NOTHING: Node = [{ schema: false, document: new SchemaDocument(false), isClosed: false }];

/** Turns schemas into alternatives, of which each value has to fit one. */
export class NormalForms {
  private readonly known = new Map<string, readonly Form[]>();
  private readonly expanded = new Map<string, readonly Form[]>();

  constructor(private readonly work: Work) {}

  /**
   * The alternatives of a node. What they say of `not` and unknown keywords stays in them.
   * @throws {CannotTell}
   */
  of(node: Node): readonly Form[] {
    const key = this.work.keyOf(node);
    const known = this.known.get(key);
    if (known !== undefined) return known;
    const forms = node.reduce<readonly Form[]>((all, each) => this.product(all, this.expand(each, [])), [ANY]);
    const closed = node.some(({ isClosed }) => isClosed) ? closeObjects(forms) : forms;
    this.known.set(key, closed);
    return closed;
  }

  /** Whether no value fits. */
  isNever(node: Node): boolean {
    return node.some(({ schema }) => schema === false) || this.of(node).length === 0;
  }

  private product(a: readonly Form[], b: readonly Form[]): readonly Form[] {
    this.work.spend(a.length * b.length);
    if (a.length * b.length > MAX_FORMS ** 2) throw new CannotTell('it has too many alternatives');
    const forms = a.flatMap((each) => b.flatMap((other) => merged(each, other) ?? []));
    if (forms.length > MAX_FORMS) throw new CannotTell('it has too many alternatives');
    return forms;
  }

  private expand(located: Located, outer: readonly unknown[]): readonly Form[] {
    const { schema } = located;
    if (schema === true) return [ANY];
    if (schema === false) return [];
    if (!isObject(schema)) throw new CannotTell('it has a schema that is neither an object nor a boolean');
    const key = this.work.keyOf([located]);
    const forms = this.expanded.get(key) ?? this.expandSchema(schema, located, outer);
    this.expanded.set(key, forms);
    return forms;
  }

  private expandSchema(schema: Schema, located: Located, outer: readonly unknown[]): readonly Form[] {
    const { document } = located;
    if (outer.includes(schema)) throw new CannotTell('it has a "$ref" that leads back to itself');
    if (outer.length > MAX_CHAIN) throw new CannotTell('it has too many schemas in a row');
    this.work.spend();
    const inner = (each: unknown) => this.expand({ ...located, schema: each }, [...outer, schema]);
    const target = '$ref' in schema ? inner(document.resolve(schema['$ref'])) : [ANY];
    if ('$ref' in schema && document.isOld) return target;
    const parts = [...this.alternatives(schema, located, inner), ...conditions(schema, located, inner)];
    const own = ownForm(located);
    const isEmpty = own.types.size === 0 || own.values?.length === 0;
    const forms = [target, ...listOf(schema['allOf']).map(inner), ...parts].reduce<readonly Form[]>(
      (all, each) => this.product(all, each),
      isEmpty ? [] : [own],
    );
    if (!('unevaluatedProperties' in schema)) return forms;
    return withUnevaluated(forms, { ...located, schema: schema['unevaluatedProperties'] });
  }

  private alternatives(schema: Schema, located: Located, inner: Expand): (readonly Form[])[] {
    const { anyOf, oneOf } = schema;
    const parts: (readonly Form[])[] = [];
    if (Array.isArray(anyOf)) {
      const branches = anyOf.map(inner);
      parts.push(valuesOf(branches, () => true) ?? [...new Set(branches.flat())]);
    }
    if (Array.isArray(oneOf)) {
      const branches = oneOf.map(inner);
      const nots = oneOf.map((each: unknown): Node => [{ ...located, schema: each, isClosed: false }]);
      const exclusive = branches.flatMap((forms, at) => {
        const others = nots.filter((_node, index) => index !== at);
        const choices = [{ among: oneOf, at }];
        return forms.map((form) => ({
          ...form,
          nots: [...form.nots, ...others],
          choices: [...form.choices, ...choices],
        }));
      });
      parts.push(valuesOf(branches, (count) => count === 1) ?? exclusive);
    }
    return parts;
  }
}

type Schema = Readonly<Record<string, unknown>>;
type Expand = (schema: unknown) => readonly Form[];

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Branches that only list values, as one form, with those that are in a number of branches; undefined for others. */
function valuesOf(branches: readonly (readonly Form[])[], isWanted: (count: number) => boolean) {
  if (!branches.flat().every(isList)) return undefined;
  const counts = new Map<string, { readonly value: unknown; readonly count: number }>();
  for (const forms of branches) {
    const values = forms.flatMap(({ values: all = [], ...form }) => all.filter((value) => fitsType(value, form)));
    for (const [text, value] of new Map(values.map((each) => [valueText(each), each])))
      counts.set(text, { value, count: (counts.get(text)?.count ?? 0) + 1 });
  }
  const values = [...counts.values()].filter(({ count }) => isWanted(count)).map(({ value }) => value);
  return values.length === 0 ? [] : [{ ...ANY, values }];
}

const fitsType = (value: unknown, { types, isInteger }: Pick<Form, 'types' | 'isInteger'>): boolean =>
  types.has(typeOf(value)) && (!isInteger || typeof value !== 'number' || Number.isInteger(value));

/** Whether a form only lists values, of some type. */
const isList = ({ types: _types, isInteger: _isInteger, choices: _choices, values, ...others }: Form): boolean =>
  values !== undefined &&
  Object.entries(others).every(([key, value]) =>
    Array.isArray(value) ? value.length === 0 : value === ANY[key as keyof Form],
  );

/** `if`, and schemas that depend on a property. */
function conditions(schema: Schema, located: Located, inner: Expand): (readonly Form[])[] {
  const parts: (readonly Form[])[] = [];
  if ('if' in schema) {
    const not: Node = [{ ...located, schema: schema['if'], isClosed: false }];
    const yes = inner({ allOf: [schema['if'], schema['then'] ?? true] });
    const no = inner(schema['else'] ?? true).map((form) => ({ ...form, nots: [...form.nots, not] }));
    parts.push([...yes, ...no]);
  }
  const dependent = { ...members(schema['dependencies']), ...members(schema['dependentSchemas']) };
  for (const [name, needed] of Object.entries(dependent)) {
    if (Array.isArray(needed)) continue;
    const absent: ObjectPart = { properties: new Map([[name, NOTHING]]), patterns: new Map(), additional: undefined };
    parts.push([{ ...ANY, objects: [absent] }, ...inner({ required: [name], allOf: [needed] })]);
  }
  return parts;
}

const members = (value: unknown): Schema => (isObject(value) ? value : {});

const namesIn = (parts: readonly ObjectPart[], kind: 'properties' | 'patterns'): ReadonlyMap<string, Node> =>
  new Map(parts.flatMap((part) => [...part[kind].keys()].map((name) => [name, []] as const)));

/** A part that says something only of properties that no other part names. */
const restPart = (parts: readonly ObjectPart[], additional: Node): ObjectPart => ({
  properties: namesIn(parts, 'properties'),
  patterns: namesIn(parts, 'patterns'),
  additional,
});

const isOpen = ({ objects }: Form): boolean => objects.every(({ additional }) => additional === undefined);

/** Which properties are evaluated is known only without alternatives. */
function withUnevaluated(forms: readonly Form[], located: Located): readonly Form[] {
  const node: Node = located.schema === true ? [] : [located];
  if (forms.length === 1)
    return forms.map((form) =>
      isOpen(form) ? { ...form, objects: [...form.objects, restPart(form.objects, node)] } : form,
    );
  const rest = node.length === 0 || located.schema === false ? [] : [restPart([], [])];
  return forms.map((form) => ({
    ...form,
    objects: [...form.objects, ...rest],
    unknown: node.length === 0 ? form.unknown : [...form.unknown, 'unevaluatedProperties'],
  }));
}

/**
 * Closes the objects that name some properties, and say nothing of others. Alternatives know the names of those that a
 * value may fit too.
 */
function closeObjects(forms: readonly Form[]): readonly Form[] {
  return forms.map((form) => {
    if (form.objects.length === 0 || !isOpen(form)) return form;
    const parts = forms.filter((other) => !isExclusive(form, other)).flatMap(({ objects }) => objects);
    const rest = restPart(parts, NOTHING);
    // what is required may be there, even if no schema describes it
    const properties = new Map([...form.required.map((name) => [name, []] as const), ...rest.properties]);
    return { ...form, objects: [...form.objects, { ...rest, properties }] };
  });
}

/** Whether no value fits both of two alternatives, by `oneOf` or by a property with different values. */
function isExclusive(a: Form, b: Form): boolean {
  if (a.choices.some(({ among, at }) => b.choices.some((each) => each.among === among && each.at !== at))) return true;
  return a.required.some((name) => {
    const [own, others] = [constantsOf(a, name), b.required.includes(name) ? constantsOf(b, name) : undefined];
    return own !== undefined && others !== undefined && own.every((text) => !others.includes(text));
  });
}

/** The texts of the values that a property may have; undefined if others are possible. */
function constantsOf({ objects }: Form, name: string): readonly string[] | undefined {
  for (const { schema } of objects.flatMap(({ properties }) => properties.get(name) ?? [])) {
    if (!isObject(schema)) continue;
    if ('const' in schema) return [valueText(schema['const'])];
    if (Array.isArray(schema['enum'])) return schema['enum'].map(valueText);
  }
  return undefined;
}
