import type { Class } from '../metadata/store.js';
import type { Inspection } from './ajv.js';
import { loadTransformer } from './class-facts.js';
import type { ClassModel, Conversion } from './class-model.js';
import type { Checked } from './shape.js';

/** Makes a DTO instance of a plain object that was checked. */
export type Hydrate = (plain: unknown) => object;

type Fields = Record<string, unknown>;
type Convert = (value: unknown) => unknown;

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

function toDate(value: unknown): unknown {
  return typeof value === 'string' ? new Date(value) : value;
}

/** Of an object that nothing was checked of, only the known fields are taken. */
function known(model: ClassModel, plain: Fields): Fields {
  return Object.fromEntries(
    model.fields.filter(({ key }) => Object.hasOwn(plain, key)).map(({ key }) => [key, plain[key]]),
  );
}

function converter({ to, isList, isUnchecked }: Conversion, hydratorOf: (model: ClassModel) => Hydrate): Convert {
  const convertItem = to === 'date' ? toDate : nested(to, hydratorOf, isUnchecked);
  if (!isList) return convertItem;
  return (value) => (Array.isArray(value) ? value.map((item) => convertItem(item)) : value);
}

function nested(model: ClassModel, hydratorOf: (model: ClassModel) => Hydrate, isUnchecked: boolean): Convert {
  // Looked up late, because a class may contain itself.
  let hydrate: Hydrate | undefined;
  return (value) => {
    if (!isObject(value) || Array.isArray(value) || value instanceof model.cls) return value;
    hydrate ??= hydratorOf(model);
    return hydrate(isUnchecked ? known(model, value) : value);
  };
}

/**
 * A function that makes instances of a DTO class and of those nested in it. Fields are copied in one go: the value has
 * passed a schema that names every key, so none of them can reach the prototype.
 */
export function compileHydrator(root: ClassModel): Hydrate {
  const hydrators = new Map<ClassModel, Hydrate>();
  const hydratorOf = (model: ClassModel): Hydrate => {
    const present = hydrators.get(model);
    if (present !== undefined) return present;
    const conversions = model.fields.flatMap(({ key, convert }) =>
      convert === undefined ? [] : [{ key, convert: converter(convert, hydratorOf) }],
    );
    const { cls, Construct, initialized, fields } = model;
    const bare = fields.filter(({ key, isNullable }) => isNullable && !initialized.includes(key)).map(({ key }) => key);
    const hydrate = (plain: unknown): object => {
      const fresh = Construct ? new Construct() : (Object.create(cls.prototype as object) as Fields);
      const instance: Fields = Object.assign(fresh, plain);
      // many models write null for what they leave out
      for (const key of initialized) {
        if (instance[key] === undefined || instance[key] === null) instance[key] = model.create()[key];
      }
      for (const key of bare) if (instance[key] === null) instance[key] = undefined;
      for (const { key, convert } of conversions) {
        const value = instance[key];
        if (value !== undefined) instance[key] = convert(value);
      }
      return instance;
    };
    hydrators.set(model, hydrate);
    return hydrate;
  };
  return hydratorOf(root);
}

/** The same, by class-transformer: for DTOs with `@Transform`, `@Expose` or `@Exclude`. */
export function transformerHydrator(root: ClassModel, models: readonly ClassModel[]): Hydrate {
  const targetMaps = models.map(({ cls, fields }) => ({
    target: cls,
    properties: Object.fromEntries(fields.flatMap(typeOf)),
  }));
  // Without `exposeUnsetFields: false`, an exposed field that is absent would overwrite its initializer.
  return (plain) => loadTransformer().plainToInstance(root.cls, plain, { exposeUnsetFields: false, targetMaps });
}

function typeOf({ key, convert }: ClassModel['fields'][number]): [string, Class][] {
  if (convert === undefined) return [];
  return [[key, convert.to === 'date' ? (Date as unknown as Class) : convert.to.cls]];
}

/** The check of a DTO whose schema says all: a value that fits becomes an instance. */
export function instanceCheck(hydrate: Hydrate, { fits, explain }: Inspection): (value: unknown) => Checked {
  return (value) => (fits(value) ? { ok: true, value: hydrate(value) } : { ok: false, problems: explain(value) });
}
