import type { FieldDescription } from '../metadata/records.js';
import { fieldWriter } from '../metadata/store.js';

/** A decorator for fields, in the TC39 dialect and in that of `experimentalDecorators`. */
export interface FieldDecorator {
  (value: undefined, context: ClassFieldDecoratorContext): void;
  (target: object, key: string | symbol): void;
}

/**
 * Describes a field of a DTO in its JSON Schema: what a model or a person reads about the argument.
 * @param description the description, or title, description and examples
 * @throws {DecorumError} `DECORUM_UNSUPPORTED_MEMBER` for static, private and symbol-named fields
 */
export function Describe(description: string | FieldDescription): FieldDecorator {
  return fieldWriter(typeof description === 'string' ? { description } : description);
}
