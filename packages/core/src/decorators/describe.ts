import type { FieldDescription } from '../metadata/records.js';
import { fieldWriter } from '../metadata/store.js';
import { refuseArgument, refuseBare, refusePlace, type Usage } from './misuse.js';

/** A decorator for fields, in the TC39 dialect and in that of `experimentalDecorators`. */
export interface FieldDecorator {
  (value: undefined, context: ClassFieldDecoratorContext): void;
  (target: object, key: string | symbol): void;
}

/**
 * Makes a decorator for fields.
 * @param args everything that the user's call passed: without parentheses, the compiler calls
 * @throws {DecorumError} `DECORUM_MISUSED_DECORATOR`
 */
export function fieldDecorator(
  usage: Usage,
  args: readonly unknown[],
  write: ReturnType<typeof fieldWriter>,
): FieldDecorator {
  refuseBare(usage, args);
  return (...place: [...Parameters<typeof write>, extra?: unknown]) => {
    refusePlace(usage, place);
    const [given] = args;
    if (given === undefined || given === null || given === '') refuseArgument(usage, place, 'has no argument');
    write(place[0], place[1]);
  };
}

const DESCRIBE: Usage = { decorator: 'Describe', example: "@Describe('City, for example Oslo')", place: 'field' };

/**
 * Describes a field of a DTO in its JSON Schema: what a model or a person reads about the argument.
 * @param description the description, or title, description and examples
 * @throws {DecorumError} `DECORUM_UNSUPPORTED_MEMBER` for static, private and symbol-named fields
 * @throws {DecorumError} `DECORUM_MISUSED_DECORATOR` without parentheses or argument, and on anything but a field
 * @example
 * ```ts
 * class Place {
 *   @Describe('City, for example "Oslo"') @IsString() city!: string;
 *   @Describe({ title: 'Country', examples: ['NO', 'DK'] }) @IsISO31661Alpha2() country!: string;
 * }
 * ```
 */
export function Describe(description: string | FieldDescription): FieldDecorator;
export function Describe(description: string | FieldDescription, ...rest: unknown[]): FieldDecorator {
  const facts = typeof description === 'string' ? { description } : description;
  return fieldDecorator(DESCRIBE, [description, ...rest], fieldWriter(facts));
}
