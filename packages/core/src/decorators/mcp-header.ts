import { type FieldDecorator, fieldDecorator } from './describe.js';

/**
 * Has clients of stateless revisions repeat a field of a tool's input in the header `Mcp-Param-{name}`, so that a proxy
 * can route by it without reading the body. Header and body must agree. Not for anything secret.
 * @param name a token (RFC 9110, section 5.6.2), unique within the input; the field is a string, an integer or a boolean
 * @throws {DecorumError} `DECORUM_UNSUPPORTED_MEMBER` for static, private and symbol-named fields
 * @throws {DecorumError} `DECORUM_MISUSED_DECORATOR` without parentheses or argument, and on anything but a field
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 * @example
 * ```ts
 * class Order {
 *   @McpHeader('Region') @IsIn(['eu', 'us']) region!: 'eu' | 'us'; // Mcp-Param-Region: eu
 * }
 * ```
 */
export function McpHeader(name: string): FieldDecorator;
export function McpHeader(name: string, ...rest: unknown[]): FieldDecorator {
  return fieldDecorator([name, ...rest], {
    decorator: 'McpHeader',
    example: "@McpHeader('Region')",
    facts: { header: name },
    needsArgument: true,
  });
}
