import type { Parsed, SchemaSource } from '@decorum/schema/internal';

import type { ResourceOptions as Options } from '../metadata/member-options.js';
import { type MemberDecorator, memberDecorator, type Method } from './member-decorator.js';

/** Options of `@Resource`. */
export type ResourceOptions<I extends SchemaSource = SchemaSource> = Options<I>;

/** Serves a method as a resource, with a schema for the variables of its template. */
export function Resource<I extends SchemaSource>(
  uri: string,
  options: ResourceOptions<I> & { readonly input: I },
): MemberDecorator<(input: Parsed<I>, context: never) => unknown>;
/**
 * Serves a method as a resource, or as a family of resources if `uri` is a template (RFC 6570). The method receives the
 * template's variables and the `Context`. Return text, bytes, a stream, an object (sent as JSON) or complete contents.
 * `undefined` and `null` mean that the resource does not exist.
 * @param uri an absolute URI (RFC 3986) or a URI template, such as `docs://{+path}`
 * @throws {DecorumError} `DECORUM_UNSUPPORTED_MEMBER` for static, private and symbol-named members
 * @throws {DecorumError} `DECORUM_MISUSED_DECORATOR` if used without parentheses, or on anything but a method
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/resources
 * @example
 * ```ts
 * class NoteId {
 *   @IsString() id!: string;
 * }
 *
 * class Notes {
 *   private readonly notes = new Map([['42', 'Buy milk']]);
 *
 *   @Resource('notes://{id}', { mimeType: 'text/plain', list: 'all' })
 *   note({ id }: NoteId) {
 *     return this.notes.get(id);
 *   }
 *
 *   all() {
 *     return [...this.notes.keys()].map((id) => ({ variables: { id } }));
 *   }
 * }
 * ```
 */
export function Resource(uri: string, options?: ResourceOptions): MemberDecorator<Method>;
export function Resource(uri: string, options: ResourceOptions = {}, ...rest: unknown[]): MemberDecorator<Method> {
  // memberDecorator rejects anything but an object
  const given = typeof options === 'object' ? { ...options, uri } : (options as never);
  return memberDecorator('resource', given, [uri, options, ...rest]);
}
