import { isObject } from '../values/json.js';
import { type ClassModel, type Conversion, mapHeld, modelOf } from './class-model.js';

/** A nested instance with its path. */
interface Inner {
  readonly instance: object;
  readonly keys: readonly string[];
}

/** The values of a field, each with its path. */
function valuesIn(value: unknown, { isList, isRecord }: Conversion): [keys: string[], item: unknown][] {
  if (!isList && !isRecord) return [[[], value]];
  return typeof value === 'object' && value !== null ? Object.entries(value).map(([key, item]) => [[key], item]) : [];
}

/** The nested instances that class-validator does not reach: see `FieldModel.isUnreached`. */
export function unreachedIn(instance: object, model: ClassModel, keys: readonly string[] = []): Inner[] {
  return model.fields.flatMap(({ key, convert, isUnreached }) => {
    if (convert === undefined) return [];
    return valuesIn((instance as Record<string, unknown>)[key], convert).flatMap(([way, item]) => {
      const inner = isObject(item) ? modelOf(convert.to, item) : undefined;
      if (inner === undefined) return [];
      const place = [...keys, key, ...way];
      const deeper = unreachedIn(item as object, inner, place);
      return isUnreached ? [{ instance: item as object, keys: place }, ...deeper] : deeper;
    });
  });
}

const MIDNIGHT = 'T00:00:00.000Z';

/**
 * Formats dates without a time, in the JSON form of an instance. A `Date` with a time is left alone and rejected later.
 */
export function writeDays(form: unknown, model: ClassModel): void {
  if (!isObject(form)) return;
  for (const { wire, convert } of model.fields) {
    if (convert === undefined || form[wire] === undefined) continue;
    form[wire] = mapHeld(convert, (item) => {
      if (convert.to === 'day') return String(item).endsWith(MIDNIGHT) ? String(item).slice(0, -MIDNIGHT.length) : item;
      const inner = isObject(item) ? modelOf(convert.to, item) : undefined;
      if (inner !== undefined) writeDays(item, inner);
      return item;
    })(form[wire]);
  }
}
