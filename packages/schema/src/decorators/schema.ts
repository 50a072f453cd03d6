import type { JsonObject } from '../values/json.js';
import { type FieldDecorator, fieldDecorator } from './describe.js';

/**
 * Sets the JSON Schema of a DTO field, for constraints that validation rules cannot express. The schema is published
 * unchanged. It describes the value on the wire, because validation happens before `@Transform` runs.
 * @param schema JSON Schema 2020-12 without `$ref`
 * @example
 * ```ts
 * class Query {
 *   @Schema({ anyOf: [{ type: 'string' }, { type: 'integer' }] }) id!: string | number;
 * }
 * ```
 * @throws {DecorumError} `DECORUM_UNSUPPORTED_MEMBER` for static, private and symbol-named fields
 * @throws {DecorumError} `DECORUM_MISUSED_DECORATOR` if used without parentheses, or on anything but a field
 */
export function Schema(schema: JsonObject): FieldDecorator;
export function Schema(schema: JsonObject, ...rest: unknown[]): FieldDecorator {
  return fieldDecorator([schema, ...rest], {
    decorator: 'Schema',
    example: "@Schema({ type: 'string' })",
    facts: { form: { kind: 'Schema', schema } },
  });
}
