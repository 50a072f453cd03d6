import type { FieldDescription } from '../metadata/records.js';
import { fieldWriter } from '../metadata/store.js';
import { rejectArgument, rejectBare, rejectPlace, type Usage } from './misuse.js';

/** A field decorator, for both TC39 decorators and `experimentalDecorators`. */
export interface FieldDecorator {
  (value: undefined, context: ClassFieldDecoratorContext): void;
  (target: object, key: string | symbol): void;
}

/**
 * Creates a field decorator.
 * @param args all arguments of the call; without parentheses, the compiler passes the decorated member here
 * @throws {DecorumError} `DECORUM_MISUSED_DECORATOR`
 */
export function fieldDecorator(
  usage: Usage,
  args: readonly unknown[],
  write: ReturnType<typeof fieldWriter>,
): FieldDecorator {
  rejectBare(usage, args);
  return (...place: [...Parameters<typeof write>, extra?: unknown]) => {
    rejectPlace(usage, place);
    const [given] = args;
    if (given === undefined || given === null || given === '') rejectArgument(usage, place, 'is missing its argument');
    write(place[0], place[1]);
  };
}

const DESCRIBE: Usage = { decorator: 'Describe', example: "@Describe('City, for example Oslo')", place: 'field' };

/**
 * Describes a DTO field. The text goes into its JSON Schema, where the model and the user read it.
 * @param description a description, or an object with title, description and examples
 * @throws {DecorumError} `DECORUM_UNSUPPORTED_MEMBER` for static, private and symbol-named fields
 * @throws {DecorumError} `DECORUM_MISUSED_DECORATOR` without parentheses or argument, and on anything but a field
 */
export function Describe(description: string | FieldDescription): FieldDecorator;
export function Describe(description: string | FieldDescription, ...rest: unknown[]): FieldDecorator {
  const facts = typeof description === 'string' ? { description } : description;
  return fieldDecorator(DESCRIBE, [description, ...rest], fieldWriter(facts));
}
