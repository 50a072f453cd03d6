import type { FieldFacts } from '../metadata/records.js';
import { scanFields } from '../metadata/scan.js';
import { type Class, fieldType } from '../metadata/store.js';
import { startupError } from '../protocol/errors.js';
import type { JsonObject } from '../protocol/model.js';
import { type Direction, exposureOf, type Rule, rulesOf, typeFact } from './class-facts.js';
import type { ClassModel, ClassReading, Conversion, FieldModel } from './class-model.js';
import { construct, isJson, leavesRoom, objectSchema } from './class-model.js';
import { REFUSED } from './constraints.js';
import { Draft } from './draft.js';
import { ENCODINGS, encodedSchema } from './encoded.js';
import { checkType, isOpen } from './field-type.js';
import { checkInitializer } from './initializers.js';
import { nullable } from './keywords.js';
import { decoratorOf } from './value-rule.js';

const SCALARS = [String, Number, Boolean, Symbol, BigInt];
const BUILT_IN: ReadonlySet<unknown> = new Set([...SCALARS, Date, Array, Object, Function, Uint8Array, Buffer]);

/** Field rules that make a field a list: those named after arrays. */
const ABOUT_LISTS = /^(?:isArray$|array[A-Z])/;

function isOptionalRule({ type, name }: Rule): boolean {
  return type === 'conditionalValidation' && name === 'isOptional';
}

function readSubject(cls: Class, [key, rules]: [string, readonly Rule[]], direction: Direction) {
  // the type as TypeScript emitted it
  const emitted = fieldType(cls, key);
  return {
    cls,
    key,
    where: `${cls.name}.${key}`,
    rules,
    direction,
    named: typeFact(cls, key),
    exposure: exposureOf(cls, key, direction),
    emitted,
    isList: emitted === Array || rules.some(({ each, name }) => each || ABOUT_LISTS.test(name ?? '')),
    isOptional: rules.some(isOptionalRule) || rules.every(({ type }) => type === 'whitelistValidation'),
    isConditional: rules.some((rule) => rule.type === 'conditionalValidation' && !isOptionalRule(rule)),
  };
}

/** One field while it is read. */
type Subject = ReturnType<typeof readSubject>;

function refuse({ where, rules }: Subject): void {
  for (const decorator of rules.map(decoratorOf)) {
    const remedy = REFUSED[decorator];
    if (remedy !== undefined) throw startupError('DECORUM_UNSUPPORTED_RULE', where, decorator, remedy);
  }
}

/** Whether a request without the field is refused. */
function isRequired({ isOptional, isConditional, exposure, rules }: Subject, initial: unknown): boolean {
  if (isOptional || isConditional || initial !== undefined) return false;
  if (exposure.isTransformed && exposure.isExposed) return false;
  return !rules.some(({ name }) => name === 'isEmpty');
}

class ClassReader {
  readonly #direction: Direction;
  readonly #models = new Map<Class, ClassModel>();
  readonly #schemas = new Map<Class, JsonObject>();
  readonly #recursive = new Map<Class, string>();
  /** The first field with bytes or a bigint. */
  #encoded: string | undefined;
  readonly #flags = { needsInstance: false, needsTransformer: false, isOpen: false, mayBacktrack: false };

  constructor(direction: Direction) {
    this.#direction = direction;
  }

  read(cls: Class): ClassReading {
    const root = this.#model(cls);
    if (this.#flags.needsTransformer && this.#encoded !== undefined) {
      const problem =
        'class-transformer cannot read bytes and bigints, and it runs for classes with @Expose, @Exclude or @Transform';
      const remedy = 'Give the field a @Transform() that reads its text, or remove those decorators.';
      throw startupError('DECORUM_INVALID_FIELD', this.#encoded, problem, remedy);
    }
    const definitions = [...this.#recursive].map(([of, name]) => [name, this.#schemas.get(of)]);
    const $defs = definitions.length > 0 ? { $defs: Object.fromEntries(definitions) as JsonObject } : {};
    const schema = { ...this.#schemas.get(cls), ...$defs };
    return { root, models: [...this.#models.values()], schema, ...this.#flags };
  }

  #model(cls: Class): ClassModel {
    const known = this.#models.get(cls);
    if (known !== undefined) return known;
    const rules = rulesOf(cls);
    const described = scanFields(cls);
    const constructed = construct(cls);
    const unruled = [...described.keys(), ...this.#dataOf(cls, constructed ?? {})].find((key) => !rules.has(key));
    if (rules.size === 0) throw startupError('DECORUM_NO_RULES', cls.name, 'class');
    if (unruled !== undefined) throw startupError('DECORUM_NO_RULES', `${cls.name}.${unruled}`, 'field');
    const fresh = constructed ?? (Object.create(cls.prototype as object) as JsonObject);
    const initialized = [...rules.keys()].filter((key) => fresh[key] !== undefined);
    const model: ClassModel = { cls, takesNothing: constructed !== undefined, initialized, fields: [] };
    this.#models.set(cls, model);
    for (const entry of rules) {
      const subject = readSubject(cls, entry, this.#direction);
      this.#noteTransformer(subject);
      if (subject.exposure.isHidden) continue;
      model.fields.push(this.#field(subject, described.get(subject.key) ?? {}, fresh[subject.key]));
    }
    this.#schemas.set(cls, objectSchema(model.fields));
    return model;
  }

  /** What a fresh instance holds and clients could take for fields. */
  #dataOf(cls: Class, fresh: JsonObject): string[] {
    const keys = Object.keys(fresh).filter((key) => typeof fresh[key] !== 'function');
    const data = keys.filter((key) => !exposureOf(cls, key, this.#direction).isHidden);
    // class-transformer keeps the others out of results
    if (this.#direction === 'output' && data.length < keys.length) this.#flags.needsTransformer = true;
    return data;
  }

  #noteTransformer({ exposure, key }: Subject): void {
    if (exposure.isHidden || exposure.isTransformed || exposure.wire !== key) this.#flags.needsTransformer = true;
    if (exposure.isTransformed) this.#flags.needsInstance = true;
  }

  #field(subject: Subject, { title, description, examples, header }: FieldFacts, initial: unknown): FieldModel {
    refuse(subject);
    const { key, where, rules, isList, isConditional, isOptional, exposure } = subject;
    const aboutWhole = rules.filter(({ each }) => !each);
    const item = new Draft(where, isList ? rules.filter(({ each }) => each) : aboutWhole);
    const list = isList ? new Draft(where, aboutWhole) : undefined;
    const convert = this.#conversion(subject, item);
    checkType(subject, { item: item.node, list: list?.node, to: convert?.to, initial });
    checkInitializer(subject, initial, typeof convert?.to === 'object' ? convert.to.cls : undefined);
    const checked = this.#finish(item, list, convert);
    const schema =
      isConditional || exposure.isTransformed ? {} : isOptional ? nullable(checked, this.#direction) : checked;
    if (isConditional) this.#flags.needsInstance = true;
    if (leavesRoom(schema)) this.#flags.isOpen = true;
    return {
      key,
      wire: exposure.wire,
      convert,
      isRequired: isRequired(subject, initial),
      isNullable: rules.some(isOptionalRule),
      schema: {
        ...(title !== undefined && { title }),
        ...(description !== undefined && { description }),
        ...schema,
        ...(isJson(initial) && (initial !== null || isOptional) && { default: initial }),
        ...(examples !== undefined && { examples }),
        ...(header !== undefined && { 'x-mcp-header': header }),
      },
    };
  }

  #finish(item: Draft, list: Draft | undefined, convert: Conversion | undefined): JsonObject {
    const inner = item.finish(this.#direction);
    const isNested = convert !== undefined && typeof convert.to !== 'string';
    const schema = list?.finishList(inner, isNested) ?? inner;
    for (const draft of [item, list]) {
      this.#flags.needsInstance ||= draft?.needsInstance ?? false;
      this.#flags.mayBacktrack ||= draft?.mayBacktrack ?? false;
    }
    return schema;
  }

  /** What the value, or each item of it, becomes. Adds to the draft what follows for the wire. */
  #conversion(subject: Subject, draft: Draft): Conversion | undefined {
    const { where, rules, emitted, isList, named, exposure } = subject;
    const type = named?.type ?? (isList ? undefined : emitted);
    const unsupported = (decorator: string, remedy: string): Error =>
      startupError('DECORUM_UNSUPPORTED_RULE', where, decorator, remedy);
    if (named?.hasDiscriminator) {
      throw unsupported('Type with a discriminator', 'Give the tool a Standard Schema or a JSON Schema.');
    }
    if (rules.some((rule) => rule.type === 'nestedValidation')) {
      if (typeof type !== 'function' || BUILT_IN.has(type))
        throw startupError('DECORUM_UNKNOWN_FIELD_TYPE', where, 'object');
      const model = this.#model(type as Class);
      draft.add(this.#reference(model));
      return { to: model, isList };
    }
    if (draft.isDate || (type === Date && isOpen(draft.node))) {
      draft.becomeDate();
      return { to: 'date', isList };
    }
    const encoding = ENCODINGS.get(type);
    if (encoding !== undefined && isOpen(draft.node) && !exposure.isTransformed) {
      this.#encoded ??= where;
      draft.add(encodedSchema(encoding, this.#direction));
      return { to: encoding.to, isList };
    }
    draft.refine(type);
    return undefined;
  }

  /** Inline wherever possible: some clients do not follow `$ref`. */
  #reference({ cls }: ClassModel): JsonObject {
    const finished = this.#schemas.get(cls);
    if (finished !== undefined && !this.#recursive.has(cls)) return finished;
    const name = this.#recursive.get(cls) ?? this.#freeName(cls.name || 'Anonymous');
    this.#recursive.set(cls, name);
    return { $ref: `#/$defs/${name}` };
  }

  #freeName(name: string): string {
    const taken = new Set(this.#recursive.values());
    let free = name;
    for (let n = 2; taken.has(free); n++) free = `${name}${n}`;
    return free;
  }
}

/**
 * Reads a DTO class: its rules, and those of the classes it leads to, as one JSON Schema.
 * @throws {DecorumError} `DECORUM_NO_RULES`, `DECORUM_UNSUPPORTED_RULE`, `DECORUM_UNKNOWN_FIELD_TYPE` or
 * `DECORUM_INVALID_FIELD`
 */
export function readClass(cls: Class, direction: Direction): ClassReading {
  return new ClassReader(direction).read(cls);
}
