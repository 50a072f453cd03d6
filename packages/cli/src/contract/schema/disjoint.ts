import { CannotTell } from './cannot-tell.js';
import { type Form, type Node, type Type, typeOf } from './form.js';
import type { Schemas } from './schemas.js';

/** Levels of properties that are looked at. */
const MAX_LEVELS = 6;

/** Whether it is known that no value fits both a form and a node. */
export function isDisjoint(schemas: Schemas, form: Form, node: Node): boolean {
  return isFormApart(schemas, form, { node, level: 0 });
}

interface Target {
  readonly node: Node;
  readonly level: number;
}

function isFormApart(schemas: Schemas, form: Form, { node, level }: Target): boolean {
  schemas.work.spend();
  if (level > MAX_LEVELS) return false;
  try {
    return schemas
      .forms(node)
      .every((other) =>
        [...form.types].every(
          (type) => !other.types.has(type) || areApart(schemas, { type, a: form, b: other, level }),
        ),
      );
  } catch (error) {
    if (error instanceof CannotTell) return false;
    throw error;
  }
}

interface Pair {
  readonly type: Type;
  readonly a: Form;
  readonly b: Form;
  readonly level: number;
}

function areApart(schemas: Schemas, { type, a, b, level }: Pair): boolean {
  const accepting = (values: readonly unknown[], other: Form) =>
    values.some((value) => typeOf(value) === type && schemas.formAccepts(other, value) !== false);
  if (a.values !== undefined) return !accepting(a.values, b);
  if (b.values !== undefined) return !accepting(b.values, a);
  if (type === 'number') return (a.minimum?.value ?? -Infinity) > (b.maximum?.value ?? Infinity) || isAbove(b, a);
  if (type === 'string') return a.minLength > b.maxLength || b.minLength > a.maxLength;
  if (type === 'array') {
    if (a.minItems > b.maxItems || b.minItems > a.maxItems) return true;
    const count = Math.min(Math.max(a.minItems, b.minItems), MAX_ITEMS);
    return Array.from({ length: count }, (_item, index) => index).some((index) =>
      areNodesApart(schemas, schemas.item(a, index), { node: schemas.item(b, index), level: level + 1 }),
    );
  }
  if (type !== 'object') return false;
  return [...new Set([...a.required, ...b.required])].some((name) =>
    areNodesApart(schemas, schemas.property(a, name), { node: schemas.property(b, name), level: level + 1 }),
  );
}

const isAbove = (a: Form, b: Form): boolean => (a.minimum?.value ?? -Infinity) > (b.maximum?.value ?? Infinity);

/** Items of tuples that are looked at. */
const MAX_ITEMS = 20;

const areNodesApart = (schemas: Schemas, a: Node, target: Target): boolean =>
  schemas.forms(a).every((form) => isFormApart(schemas, form, target));
