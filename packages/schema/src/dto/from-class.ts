import { isDeepStrictEqual } from 'node:util';

import type { FieldFacts } from '../metadata/records.js';
import { scanFields } from '../metadata/scan.js';
import type { Class } from '../metadata/store.js';
import { type DecorumError, startupError } from '../errors.js';
import type { JsonObject } from '../values/json.js';
import { type Direction, exposureOf, rulesOf, type TypeFact } from '../rules/class-facts.js';
import type { ClassModel, ClassReading, Conversion, FieldModel, Tag, UnionModel } from './class-model.js';
import { isJson, leavesRoom, objectSchema } from './class-model.js';
import { construct } from './construct.js';
import { Draft } from './draft.js';
import { encodedSchema, encodingProblem, ENCODINGS } from './encoded.js';
import { addForm, checkForm, checkItems, ownSchema, recordProblem } from './field-form.js';
import {
  accessorOf,
  checkAccessor,
  declaredKeys,
  initialOf,
  inOrderOf,
  isClass,
  isNestedRule,
  isOptionalRule,
  isRequired,
  readSubject,
  reject,
  type Subject,
} from './field-subject.js';
import { checkType, isOpen, rejectLacking, rejectUncallable } from './field-type.js';
import { checkFormInitializer, checkInitializer } from './initializers.js';
import { admitsNull, hinted, nullable, orNull, presented } from '../rules/keywords.js';
import { rejectLostRules } from './lost-rules.js';
import { documentedSchema, swaggerFacts } from './swagger-facts.js';
import { isSameTag, requireDeclared, taggedFields, transformerProblem, unionSchema, variantsOf } from './union.js';

/** The drafts of a field: of its value, or of each item and of the whole list or record. */
interface Drafts {
  readonly item: Draft;
  readonly whole: Draft | undefined;
}

class ClassReader {
  readonly #direction: Direction;
  readonly #models: ClassModel[] = [];
  readonly #schemas = new Map<ClassModel, JsonObject>();
  readonly #recursive = new Map<ClassModel, string>();
  readonly #flags = {
    needsInstance: false,
    needsTransformer: false,
    isOpen: false,
    mayBacktrack: false,
    hasDays: false,
  };
  /** Errors that apply only if class-transformer is needed. */
  readonly #notForTransformer: DecorumError[] = [];

  /** @param where the owner of the class, for error messages */
  constructor(
    direction: Direction,
    private readonly where: string,
  ) {
    this.#direction = direction;
  }

  read(cls: Class): ClassReading {
    const root = this.#model(cls);
    const [unfit] = this.#notForTransformer;
    if (unfit !== undefined && this.#flags.needsTransformer) throw unfit;
    const definitions = [...this.#recursive].map(([of, name]) => [name, this.#schemas.get(of)]);
    const $defs = definitions.length > 0 ? { $defs: Object.fromEntries(definitions) as JsonObject } : {};
    const validated = { ...this.#schemas.get(root), ...$defs };
    return { root, models: this.#models, validated, ...this.#flags };
  }

  #model(cls: Class, tag?: Tag): ClassModel {
    const known = this.#models.find((model) => model.cls === cls && isSameTag(model.tag, tag));
    if (known !== undefined) return known;
    const described = scanFields(cls);
    const rules = rulesOf(cls);
    rejectLostRules(cls, rules.keys());
    const keys = [...new Set([...rules.keys(), ...declaredKeys(described)])];
    const constructed = construct(cls);
    const held = [...described.keys(), ...this.#dataOf(cls, constructed ?? {})];
    const unruled = held.find((key) => !keys.includes(key) && key !== tag?.property);
    // a class of a union may have no fields besides the discriminator
    if (keys.length === 0 && tag === undefined)
      throw startupError('DECORUM_NO_RULES', `${this.where}: the class ${cls.name}`, 'class');
    if (unruled !== undefined) throw startupError('DECORUM_NO_RULES', `${cls.name}.${unruled}`, 'field');
    const fresh = constructed ?? (Object.create(cls.prototype as object) as JsonObject);
    const initialized = keys.filter((key) => initialOf(fresh, { key, accessor: accessorOf(cls, key) }) !== undefined);
    const another = construct(cls) ?? fresh;
    const model: ClassModel = { cls, tag, takesNothing: constructed !== undefined, initialized, fields: [] };
    this.#models.push(model);
    for (const key of keys.length > rules.size ? inOrderOf(fresh, keys) : keys) {
      const facts = { ...swaggerFacts(cls, key), ...described.get(key) };
      const subject = readSubject(cls, [key, rules.get(key) ?? [], facts], this.#direction);
      this.#noteTransformer(subject);
      if (subject.exposure.isHidden) continue;
      reject(subject, key === tag?.property);
      // a discriminator has one value, so nothing is lost if a getter returns it
      if (this.#direction === 'output' || key !== tag?.property) checkAccessor(subject);
      const initial = initialOf(fresh, subject);
      const { schema, ...field } = this.#field(subject, facts, initial);
      // an initializer that differs between instances, such as a random id, isn't a default
      if (!isDeepStrictEqual(initial, initialOf(another, subject))) delete schema['default'];
      model.fields.push({ ...field, schema });
    }
    if (tag !== undefined) this.#tag(model, tag);
    this.#schemas.set(model, objectSchema(model.fields));
    return model;
  }

  #tag({ cls, fields }: ClassModel, tag: Tag): void {
    fields.splice(0, fields.length, ...taggedFields(cls, fields, tag));
    if (this.#direction === 'output') requireDeclared(cls, fields, tag);
    const unfit = transformerProblem(cls, { fields, tag, direction: this.#direction });
    if (unfit !== undefined) this.#notForTransformer.push(unfit);
  }

  /** The data fields of a new instance, which clients could mistake for fields of the DTO. */
  #dataOf(cls: Class, fresh: JsonObject): string[] {
    const keys = Object.keys(fresh).filter((key) => typeof fresh[key] !== 'function');
    const data = keys.filter((key) => !exposureOf(cls, key, this.#direction).isHidden);
    // class-transformer must keep the hidden fields out of results
    if (this.#direction === 'output' && data.length < keys.length) this.#flags.needsTransformer = true;
    return data;
  }

  #noteTransformer({ exposure, key, accessor }: Subject): void {
    const isComputed = accessor !== undefined && this.#direction === 'output';
    if (isComputed || exposure.isHidden || exposure.isTransformed || exposure.wire !== key)
      this.#flags.needsTransformer = true;
    if (exposure.isTransformed) this.#flags.needsInstance = true;
  }

  #field(subject: Subject, { title, description, examples, keywords }: FieldFacts, initial: unknown): FieldModel {
    const { key, rules, isConditional, isOptional, isNullable, exposure, form } = subject;
    const { checked, convert } = this.#value(subject, initial);
    const isPlain = convert === undefined || typeof convert.to === 'string';
    if (form !== undefined && isPlain && this.#direction === 'input') {
      checkFormInitializer({ where: subject.where, kind: form.kind }, initial, checked);
    }
    const own = isNullable ? orNull(checked) : checked;
    const allowed = isOptional ? nullable(own, this.#direction) : own;
    const isSkipped = form === undefined && (isConditional || exposure.isTransformed);
    // clients validate results, which a transformation may turn into anything
    const mayDiffer = isConditional || this.#direction === 'output';
    const wanted = () => presented(documentedSchema(subject, allowed));
    const schema = isSkipped ? (mayDiffer ? hinted(allowed) : wanted()) : allowed;
    const mayBeAbsent = rules.some(isOptionalRule) || initial !== undefined;
    if (isConditional) this.#flags.needsInstance = true;
    if (leavesRoom(schema)) this.#flags.isOpen = true;
    return {
      key,
      wire: exposure.wire,
      convert,
      isRequired: isRequired(subject, initial),
      dropsNull: this.#direction === 'input' && mayBeAbsent && !isSkipped && !admitsNull(own),
      isRecord: subject.isRecord,
      isUnreached: !rules.some(isNestedRule),
      schema: {
        ...(title !== undefined && { title }),
        ...(description !== undefined && { description }),
        ...schema,
        ...(isJson(initial) && (initial !== null || isOptional || isNullable) && { default: initial }),
        ...(examples !== undefined && { examples }),
        ...keywords,
      },
    };
  }

  /** The schema of a field's value, and how to convert the value. */
  #value(subject: Subject, initial: unknown): { checked: JsonObject; convert: Conversion | undefined } {
    const { where, rules, form, values, isList, isRecord } = subject;
    if (form !== undefined) checkForm({ ...subject, form });
    const aboutWhole = rules.filter(({ each }) => !each);
    const whole = isList || isRecord ? new Draft(where, aboutWhole) : undefined;
    const item = new Draft(where, whole ? rules.filter(({ each }) => each) : aboutWhole);
    if (form?.kind === 'Schema') {
      this.#flags.needsInstance ||= item.needsInstance;
      return { checked: ownSchema(form.schema as JsonObject, where), convert: undefined };
    }
    if (form !== undefined) checkItems({ ...subject, form }, subject);
    else if (values !== undefined && !subject.exposure.isTransformed) item.choose(values);
    const convert = this.#conversion(subject, item, initial);
    const { to } = convert ?? {};
    const ruled = { item: item.node, list: whole?.node, to, initial };
    if (form === undefined) checkType(subject, ruled);
    else rejectUncallable(subject, ruled);
    // in a result, an initializer is a placeholder: the value that the handler returns is validated instead
    if (this.#direction === 'input')
      checkInitializer(subject, initial, typeof to === 'object' && 'cls' in to ? to.cls : undefined);
    return { checked: this.#finish(subject, { item, whole }, convert), convert };
  }

  #finish({ isList }: Subject, { item, whole }: Drafts, convert: Conversion | undefined): JsonObject {
    const inner = item.finish(this.#direction);
    const isNested = convert !== undefined && typeof convert.to !== 'string';
    const schema = whole === undefined ? inner : isList ? whole.finishList(inner, isNested) : whole.finishRecord(inner);
    for (const draft of [item, whole]) {
      this.#flags.needsInstance ||= draft?.needsInstance ?? false;
      this.#flags.mayBacktrack ||= draft?.mayBacktrack ?? false;
    }
    return schema;
  }

  /** How to convert the value, or each item. Adds the schema of the wire format to the draft. */
  #conversion(subject: Subject, draft: Draft, initial: unknown): Conversion | undefined {
    const { where, rules, form, emitted, isList, isRecord, named, exposure } = subject;
    const of = form !== undefined && 'of' in form ? form.of : undefined;
    const type = of ?? named?.type ?? (isList ? undefined : emitted);
    if (rules.some(isNestedRule) || isClass(of)) {
      const to = named?.discriminator === undefined ? this.#nested(type, where) : this.#union(named, where);
      draft.add(this.#schemaOf(to));
      return this.#noteRecord(subject, { to, isList, isRecord });
    }
    if (named?.discriminator !== undefined) {
      const remedy = 'Add @ValidateNested(). Without it, the object is not validated.';
      throw startupError('DECORUM_UNSUPPORTED_RULE', where, 'Type without @ValidateNested', remedy);
    }
    // TypeScript does not emit the type that it infers from an initializer
    const isDate = type === Date || draft.isDate || initial instanceof Date;
    if (form !== undefined) addForm({ ...subject, form }, draft, isDate);
    if (form?.kind === 'DateOnly') {
      this.#flags.hasDays ||= draft.isDate;
      return draft.isDate ? { to: 'day', isList, isRecord } : undefined;
    }
    if (draft.isDate || (type === Date && isOpen(draft.node))) {
      draft.becomeDate();
      return this.#noteRecord(subject, { to: 'date', isList, isRecord });
    }
    const encoding = ENCODINGS.get(type);
    if (encoding !== undefined && isOpen(draft.node) && !exposure.isTransformed) {
      this.#notForTransformer.push(encodingProblem(where));
      draft.add(encodedSchema(encoding, this.#direction));
      return { to: encoding.to, isList, isRecord };
    }
    draft.refine(type);
    return undefined;
  }

  #nested(type: unknown, where: string): ClassModel {
    rejectLacking(type, where);
    if (!isClass(type)) throw startupError('DECORUM_UNKNOWN_FIELD_TYPE', where, 'object');
    return this.#model(type);
  }

  #union(named: TypeFact, where: string): UnionModel {
    const variants = variantsOf(named, where).map(({ cls, tag }) => [tag.name, this.#model(cls, tag)] as const);
    const property = variants[0]?.[1].tag?.property ?? '';
    return { property, variants: new Map(variants) };
  }

  #schemaOf(to: ClassModel | UnionModel): JsonObject {
    if ('cls' in to) return this.#reference(to);
    const schemas = [...to.variants.values()].map((model) => this.#reference(model));
    return unionSchema(to, schemas);
  }

  #noteRecord({ where, isRecord }: Subject, convert: Conversion): Conversion {
    if (isRecord) this.#notForTransformer.push(recordProblem(where));
    return convert;
  }

  /** Inlines the schema wherever possible, because some clients don't follow `$ref`. */
  #reference(model: ClassModel): JsonObject {
    const finished = this.#schemas.get(model);
    if (finished !== undefined && !this.#recursive.has(model)) return finished;
    const name = this.#recursive.get(model) ?? this.#freeName(model.cls.name || 'Anonymous');
    this.#recursive.set(model, name);
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
 * Reads a DTO class and the classes that it references into one JSON Schema.
 * @param where the owner of the class, for error messages
 * @throws {DecorumError} `DECORUM_NO_RULES`, `DECORUM_UNSUPPORTED_RULE`, `DECORUM_UNKNOWN_FIELD_TYPE` or
 *   `DECORUM_INVALID_FIELD`
 */
export function readClass(cls: Class, direction: Direction, where: string): ClassReading {
  return new ClassReader(direction, where).read(cls);
}
