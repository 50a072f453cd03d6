import type { FieldDescription, FieldFacts } from '../metadata/records.js';
import { fieldWriter } from '../metadata/store.js';
import { requireOptions } from '../options.js';
import { rejectArgument, rejectBare, rejectPlace, type Usage, whereOf } from './misuse.js';

/** A field decorator, for both TC39 decorators and `experimentalDecorators`. */
export interface FieldDecorator {
  (value: undefined, context: ClassFieldDecoratorContext): void;
  (target: object, key: string | symbol): void;
}

/** How to use a field decorator, and the facts that it records. */
interface FieldUsage extends Omit<Usage, 'place'> {
  readonly facts: FieldFacts;
  /** Whether the decorator needs an argument. */
  readonly needsArgument?: boolean;
  /** Rejects invalid options. */
  readonly check?: (where: string) => void;
}

/**
 * Creates a field decorator.
 * @param args all arguments of the call; without parentheses, the compiler passes the decorated member here
 * @throws {DecorumError} `DECORUM_MISUSED_DECORATOR`
 */
export function fieldDecorator(
  args: readonly unknown[],
  { facts, needsArgument, check, ...rest }: FieldUsage,
): FieldDecorator {
  const usage: Usage = { ...rest, place: 'field' };
  rejectBare(usage, args);
  const write = fieldWriter(facts);
  return (...place: [...Parameters<typeof write>, extra?: unknown]) => {
    rejectPlace(usage, place);
    const [given] = args;
    const isMissing = given === undefined || given === null || given === '';
    if (needsArgument && isMissing) rejectArgument(usage, place, 'is missing its argument');
    check?.(`${whereOf(place[0], place[1])} (@${usage.decorator})`);
    write(place[0], place[1]);
  };
}

/**
 * Describes a DTO field. The text goes into the field's JSON Schema, where the model and the user read it.
 * @param description a description, or an object with title, description and examples
 * @throws {DecorumError} `DECORUM_UNSUPPORTED_MEMBER` for static, private and symbol-named fields
 * @throws {DecorumError} `DECORUM_MISUSED_DECORATOR` without parentheses or argument, or on anything but a field
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
  return fieldDecorator([description, ...rest], {
    decorator: 'Describe',
    example: "@Describe('City, for example Oslo')",
    onMethod: "Describe a method by its own decorator: @Tool({ description: '…' })",
    facts,
    needsArgument: true,
    check: (where) => requireOptions(where, facts, { title: 'string', description: 'string', examples: 'array' }),
  });
}
