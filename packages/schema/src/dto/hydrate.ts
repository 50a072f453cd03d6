import { loadTransformer } from '../rules/class-facts.js';
import type { Class } from '../metadata/store.js';
import { isObject, type JsonObject } from '../values/json.js';
import type { Inspection } from '../validation/ajv.js';
import { generatesCode } from '../validation/code-generation.js';
import { type ClassModel, type Conversion, mapHeld, modelOf } from './class-model.js';
import { DECODERS } from './encoded.js';
import { toJsonForm } from '../values/json-form.js';
import type { Checked } from '../shape.js';

/** Creates a DTO instance from a validated plain object. */
export type Hydrate = (plain: unknown) => object;

type Convert = (value: unknown) => unknown;

function converter(conversion: Conversion, hydratorOf: (model: ClassModel) => Hydrate): Convert {
  const { to } = conversion;
  if (typeof to === 'string') return mapHeld(conversion, DECODERS[to]);
  if ('cls' in to) return mapHeld(conversion, nested(to, hydratorOf));
  const variants = new Map([...to.variants.values()].map((model) => [model, nested(model, hydratorOf)]));
  return mapHeld(conversion, (value) => {
    const model = isObject(value) ? modelOf(to, value) : undefined;
    return model === undefined ? value : variants.get(model)?.(value);
  });
}

function nested(model: ClassModel, hydratorOf: (model: ClassModel) => Hydrate): Convert {
  // looked up on first use, because a class may contain itself
  let hydrate: Hydrate | undefined;
  return (value) => {
    // nearly all values are plain objects, and `instanceof` takes as long as creating the instance
    const isPlain = typeof value === 'object' && value !== null && value.constructor === Object;
    if (!isPlain && (!isObject(value) || value instanceof model.cls)) return value;
    hydrate ??= hydratorOf(model);
    return hydrate(value);
  };
}

/**
 * Compiles a function that creates instances of a DTO class and its nested classes. It copies only the fields that the
 * class declares.
 */
export function compileHydrator(root: ClassModel): Hydrate {
  const hydrators = new Map<ClassModel, Hydrate>();
  const hydratorOf = (model: ClassModel): Hydrate => {
    const present = hydrators.get(model);
    if (present !== undefined) return present;
    const fields = model.fields.filter(({ isDropped }) => isDropped !== true);
    const converts = fields.map(({ convert }) => convert && converter(convert, hydratorOf));
    const create = generatesCode() ? generate : interpret;
    const hydrate = create(model, stepsOf({ ...model, fields }, converts));
    hydrators.set(model, hydrate);
    return hydrate;
  };
  return hydratorOf(root);
}

/** One field of an instance that is created. */
interface Step {
  readonly key: string;
  /** Whether every object inherits a member of this name. */
  readonly isInherited: boolean;
  readonly dropsNull: boolean;
  readonly isInitialized: boolean;
  readonly convert: Convert | undefined;
}

function stepsOf({ fields, initialized }: ClassModel, converts: readonly (Convert | undefined)[]): Step[] {
  return fields.map(({ key, dropsNull }, index) => ({
    key,
    isInherited: key in Object.prototype,
    dropsNull,
    isInitialized: initialized.includes(key),
    convert: converts[index],
  }));
}

/**
 * Generates code, as ajv does for its checks. With straight-line code for each field, the engine knows the shapes of
 * the objects, so it creates and serializes them faster.
 */
function generate({ cls, takesNothing }: ClassModel, steps: readonly Step[]): Hydrate {
  const parts = steps.map(({ key, isInherited, dropsNull, isInitialized, convert }, index) => {
    const name = JSON.stringify(key);
    const given = `plain[${name}]`;
    const value = isInherited ? `Object.hasOwn(plain, ${name}) ? ${given} : undefined` : given;
    const isAbsent = dropsNull ? 'value == null' : 'value === undefined';
    const set = `it[${name}] = ${convert ? `converts[${index}](value)` : 'value'};`;
    // an initializer may need converting too
    const kept = convert && isInitialized ? `value = it[${name}]; ${set}` : '';
    return `value = ${value}; if (!(${isAbsent})) { ${set} } else { ${kept} }`;
  });
  const made = takesNothing ? 'new cls()' : 'Object.create(cls.prototype)';
  const code = `(plain) => { const it = ${made}; let value; ${parts.join(' ')} return it; }`;
  return compileCode<Hydrate>(code, { cls, converts: steps.map(({ convert }) => convert) });
}

/** Does what the generated code does, where the runtime forbids such code. */
function interpret({ cls, takesNothing }: ClassModel, steps: readonly Step[]): Hydrate {
  const create = (): JsonObject =>
    takesNothing ? new (cls as new () => JsonObject)() : (Object.create(cls.prototype as object) as JsonObject);
  return (plain) => {
    const it = create();
    for (const { key, isInherited, dropsNull, isInitialized, convert } of steps) {
      const value = isInherited && !Object.hasOwn(plain as object, key) ? undefined : (plain as JsonObject)[key];
      const isAbsent = value === undefined || (dropsNull && value === null);
      // unlike an assignment in this file, one in generated code ignores fields that have only a getter
      if (!isAbsent) Reflect.set(it, key, convert ? convert(value) : value);
      else if (convert && isInitialized) Reflect.set(it, key, convert(it[key]));
    }
    return it;
  };
}

/** Compiles an expression whose variables are the members of `scope`. */
function compileCode<T>(expression: string, scope: Readonly<Record<string, unknown>>): T {
  // oxlint-disable-next-line no-implied-eval -- the code contains only names quoted by JSON.stringify
  return new Function(...Object.keys(scope), `return ${expression};`)(...Object.values(scope)) as T;
}

/** Like `compileHydrator`, but with class-transformer, for DTOs with `@Transform`, `@Expose` or `@Exclude`. */
export function transformerHydrator(root: ClassModel, models: readonly ClassModel[]): Hydrate {
  const targetMaps = models.map(({ cls, fields }) => ({
    target: cls,
    properties: Object.fromEntries(fields.flatMap(typeOf)),
  }));
  // without `exposeUnsetFields: false`, absent exposed fields would overwrite their initializers
  const options = { exposeUnsetFields: false, targetMaps };
  const hasUnions = models.some(({ tag }) => tag !== undefined);
  return (plain) => {
    // class-transformer deletes discriminators, so work on a copy
    const given = hasUnions ? toJsonForm(plain) : plain;
    return loadTransformer().plainToInstance(root.cls as new () => object, given, options);
  };
}

/** The class of a field. class-transformer resolves unions itself. */
function typeOf({ key, convert }: ClassModel['fields'][number]): [string, Class][] {
  if (convert === undefined) return [];
  const { to } = convert;
  if (typeof to === 'string') return [[key, Date as unknown as Class]];
  return 'cls' in to ? [[key, to.cls]] : [];
}

/** The check for a DTO whose schema covers all rules: valid values become instances. */
export function instanceCheck(hydrate: Hydrate, { fits, explain }: Inspection): (value: unknown) => Checked {
  if (!generatesCode())
    return (value) => (fits(value) ? { ok: true, value: hydrate(value) } : { ok: false, problems: explain(value) });
  const code = '(value) => fits(value) ? { ok: true, value: hydrate(value) } : { ok: false, problems: explain(value) }';
  return compileCode(code, { hydrate, fits, explain });
}
