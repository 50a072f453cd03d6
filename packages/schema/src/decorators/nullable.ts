import { skipNull } from '../metadata/rule-store.js';
import type { Class } from '../metadata/store.js';
import { type FieldDecorator, fieldDecorator } from './describe.js';
import { rejectArgument } from './misuse.js';

/**
 * Lets a DTO field be `null`. The schema says so, and the handler gets the `null`. Its rules apply to all other values,
 * also where class-validator itself validates the class. The field is still required, unless it has `@IsOptional()` or
 * an initializer.
 * @example
 * ```ts
 * class CityPatch {
 *   @IsOptional() @Nullable() @IsString() mayor?: string | null; // absent: leave it; null: clear it
 * }
 * ```
 * @throws {DecorumError} `DECORUM_UNSUPPORTED_MEMBER` for static, private and symbol-named fields
 * @throws {DecorumError} `DECORUM_MISUSED_DECORATOR` if used without parentheses, or on anything but a field
 */
export function Nullable(): FieldDecorator;
export function Nullable(...args: unknown[]): FieldDecorator {
  const usage = { decorator: 'Nullable', example: '@Nullable()', place: 'field' } as const;
  const decorate = fieldDecorator(args, { ...usage, facts: { nullable: true } });
  return (...place: [target: unknown, key: unknown, extra?: unknown]) => {
    (decorate as (...all: typeof place) => void)(...place);
    if (args.length > 0)
      rejectArgument(usage, place, 'takes no arguments (describe items that may be null with @Schema)');
    const [target, key] = place;
    // class-validator has no standard decorators
    if (typeof key === 'string') skipNull((target as object).constructor as Class, key);
  };
}
