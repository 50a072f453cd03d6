import { loadTransformer } from './class-facts.js';
import type { Class } from '../metadata/store.js';
import { isObject } from '../protocol/jsonrpc.js';
import type { Inspection } from './ajv.js';
import type { ClassModel, Conversion } from './class-model.js';
import { DECODERS } from './encoded.js';
import type { Checked } from './shape.js';

/** Makes a DTO instance of a plain object that was checked. */
export type Hydrate = (plain: unknown) => object;

type Convert = (value: unknown) => unknown;

function converter({ to, isList }: Conversion, hydratorOf: (model: ClassModel) => Hydrate): Convert {
  const convertItem = typeof to === 'string' ? DECODERS[to] : nested(to, hydratorOf);
  if (!isList) return convertItem;
  return (value) => (Array.isArray(value) ? value.map((item) => convertItem(item)) : value);
}

function nested(model: ClassModel, hydratorOf: (model: ClassModel) => Hydrate): Convert {
  // Looked up late, because a class may contain itself.
  let hydrate: Hydrate | undefined;
  return (value) => {
    if (!isObject(value) || value instanceof model.cls) return value;
    hydrate ??= hydratorOf(model);
    return hydrate(value);
  };
}

/**
 * A function that makes instances of a DTO class and of those nested in it. It takes the fields that the class has, and
 * no others.
 */
export function compileHydrator(root: ClassModel): Hydrate {
  const hydrators = new Map<ClassModel, Hydrate>();
  const hydratorOf = (model: ClassModel): Hydrate => {
    const present = hydrators.get(model);
    if (present !== undefined) return present;
    const converts = model.fields.map(({ convert }) => convert && converter(convert, hydratorOf));
    const hydrate = generate(model, converts);
    hydrators.set(model, hydrate);
    return hydrate;
  };
  return hydratorOf(root);
}

/**
 * Written as code, as ajv writes its checks: field by field, the engine knows the shape of what is read and made, which
 * makes both the instance and its JSON cheaper.
 */
function generate({ cls, takesNothing, initialized, fields }: ClassModel, converts: readonly unknown[]): Hydrate {
  const steps = fields.map(({ key, isNullable }, index) => {
    const name = JSON.stringify(key);
    const given = `plain[${name}]`;
    const value = key in Object.prototype ? `Object.hasOwn(plain, ${name}) ? ${given} : undefined` : given;
    // many models write null for what they leave out
    const isAbsent = isNullable || initialized.includes(key) ? 'value == null' : 'value === undefined';
    const set = `it[${name}] = ${converts[index] ? `converts[${index}](value)` : 'value'};`;
    // an initializer may be plain data too
    const kept = converts[index] && initialized.includes(key) ? `value = it[${name}]; ${set}` : '';
    return `value = ${value}; if (!(${isAbsent})) { ${set} } else { ${kept} }`;
  });
  const made = takesNothing ? 'new cls()' : 'Object.create(cls.prototype)';
  const code = `(plain) => { const it = ${made}; let value; ${steps.join(' ')} return it; }`;
  return compileCode<Hydrate>(code, { cls, converts });
}

/** Compiles an expression in which the names of `scope` have its values. */
function compileCode<T>(expression: string, scope: Readonly<Record<string, unknown>>): T {
  // oxlint-disable-next-line no-implied-eval -- of names that JSON.stringify has quoted, and of nothing else from outside
  return new Function(...Object.keys(scope), `return ${expression};`)(...Object.values(scope)) as T;
}

/** The same, by class-transformer: for DTOs with `@Transform`, `@Expose` or `@Exclude`. */
export function transformerHydrator(root: ClassModel, models: readonly ClassModel[]): Hydrate {
  const targetMaps = models.map(({ cls, fields }) => ({
    target: cls,
    properties: Object.fromEntries(fields.flatMap(typeOf)),
  }));
  // Without `exposeUnsetFields: false`, an exposed field that is absent would overwrite its initializer.
  const options = { exposeUnsetFields: false, targetMaps };
  return (plain) => loadTransformer().plainToInstance(root.cls as new () => object, plain, options);
}

function typeOf({ key, convert }: ClassModel['fields'][number]): [string, Class][] {
  if (convert === undefined) return [];
  return [[key, typeof convert.to === 'string' ? (Date as unknown as Class) : convert.to.cls]];
}

/** The check of a DTO whose schema says all: a value that fits becomes an instance. */
export function instanceCheck(hydrate: Hydrate, { fits, explain }: Inspection): (value: unknown) => Checked {
  const code = '(value) => fits(value) ? { ok: true, value: hydrate(value) } : { ok: false, problems: explain(value) }';
  return compileCode(code, { hydrate, fits, explain });
}
