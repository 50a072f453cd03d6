import type { JsonObject } from '../protocol/model.js';
import { type FieldDecorator, fieldDecorator } from './describe.js';

/**
 * Declares one DTO field by a JSON Schema, for what rules cannot say. It is published as it is, and describes what comes
 * over the wire: it is checked before `@Transform` runs.
 * @param schema JSON Schema 2020-12 without `$ref`
 * @example
 * ```ts
 * class Query {
 *   @Schema({ anyOf: [{ type: 'string' }, { type: 'integer' }] }) id!: string | number;
 * }
 * ```
 * @throws {DecorumError} `DECORUM_UNSUPPORTED_MEMBER` for static, private and symbol-named fields
 * @throws {DecorumError} `DECORUM_MISUSED_DECORATOR` without parentheses, and on anything but a field
 */
export function Schema(schema: JsonObject): FieldDecorator;
export function Schema(schema: JsonObject, ...rest: unknown[]): FieldDecorator {
  return fieldDecorator([schema, ...rest], {
    decorator: 'Schema',
    example: "@Schema({ type: 'string' })",
    facts: { form: { kind: 'Schema', schema } },
  });
}
