import { type FieldDecorator, fieldDecorator } from '@decorum/schema/internal';

/**
 * Mirrors an input field of a tool in the `Mcp-Param-{name}` request header, so a proxy can route requests without
 * parsing the body. Clients of stateless revisions send the header, and its value must match the body. Don't use it for
 * secrets.
 * @param name a token (RFC 9110, section 5.6.2), unique within the input. The field must be a string, integer or
 *   boolean
 * @throws {DecorumError} `DECORUM_UNSUPPORTED_MEMBER` for static, private and symbol-named fields
 * @throws {DecorumError} `DECORUM_MISUSED_DECORATOR` without parentheses or argument, or on anything but a field
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
    facts: { keywords: { 'x-mcp-header': name } },
    needsArgument: true,
  });
}
