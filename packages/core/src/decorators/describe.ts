import type { FieldDescription, FieldFacts } from '../metadata/records.js';
import { fieldWriter } from '../metadata/store.js';
import { requireKnown } from '../protocol/option-names.js';
import { refuseArgument, refuseBare, refusePlace, type Usage, whereOf } from './misuse.js';

/** A decorator for fields, in the TC39 dialect and in that of `experimentalDecorators`. */
export interface FieldDecorator {
  (value: undefined, context: ClassFieldDecoratorContext): void;
  (target: object, key: string | symbol): void;
}

/** What a decorator for fields says, and how it is used. */
interface FieldUsage extends Omit<Usage, 'place'> {
  readonly facts: FieldFacts;
  /** It means nothing without an argument. */
  readonly needsArgument?: boolean;
  /** Refuses options at this place. */
  readonly check?: (where: string) => void;
}

/**
 * Makes a decorator for fields.
 * @param args everything that the user's call passed: without parentheses, the compiler calls
 * @throws {DecorumError} `DECORUM_MISUSED_DECORATOR`
 */
export function fieldDecorator(
  args: readonly unknown[],
  { facts, needsArgument, check, ...rest }: FieldUsage,
): FieldDecorator {
  const usage: Usage = { ...rest, place: 'field' };
  refuseBare(usage, args);
  const write = fieldWriter(facts);
  return (...place: [...Parameters<typeof write>, extra?: unknown]) => {
    refusePlace(usage, place);
    const [given] = args;
    const isMissing = given === undefined || given === null || given === '';
    if (needsArgument && isMissing) refuseArgument(usage, place, 'has no argument');
    check?.(`${whereOf(place[0], place[1])} (@${usage.decorator})`);
    write(place[0], place[1]);
  };
}

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
  return fieldDecorator([description, ...rest], {
    decorator: 'Describe',
    example: "@Describe('City, for example Oslo')",
    onMethod: "Describe a method by its own decorator: @Tool({ description: '…' })",
    facts,
    needsArgument: true,
    check: (where) => requireKnown(where, facts, { title: 'string', description: 'string', examples: 'array' }),
  });
}
