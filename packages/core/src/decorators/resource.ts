import type { Annotations, Icon, JsonObject } from '../protocol/model.js';
import type { CacheHint } from '../protocol/revisions/revision.js';
import type { Access } from '../protocol/wire.js';
import type { Parsed, SchemaSource } from '../schema/shape.js';
import { type MemberDecorator, memberDecorator, type Method } from './member-decorator.js';

/** Options of `@Resource`. */
export interface ResourceOptions<I extends SchemaSource = SchemaSource> {
  /** By default the name of the method. */
  readonly name?: string;
  /** For people. */
  readonly title?: string;
  readonly description?: string;
  readonly icons?: readonly Icon[];
  /** Of the content; by default `text/plain`, `application/json` for objects, `application/octet-stream` for bytes. */
  readonly mimeType?: string;
  /** Bytes. Not for templates. */
  readonly size?: number;
  readonly annotations?: Annotations;
  readonly _meta?: JsonObject;
  /** Who may see and use it. By default everybody. Contents that not everybody may see have no `cache` that is public. */
  readonly access?: Access;
  /** How long clients of stateless revisions may keep what they read. By default not at all. */
  readonly cache?: CacheHint;
  /** Of a template: the DTO of its variables. By default the class of the first parameter, where it is emitted. */
  readonly input?: I;
  /**
   * Of a template: the method that enumerates what exists, so that `resources/list` shows it. It takes the `Context`
   * and returns (or resolves to, or yields) `ResourceListing`s.
   */
  readonly list?: string;
}

/**
 * Serves a method as a resource, or as a family of resources where `uri` is a template (RFC 6570). The method gets the
 * template's variables and the `Context`. It returns text, bytes, an object (sent as JSON) or complete contents;
 * `undefined` means that there is no such resource.
 * @param uri an absolute URI (RFC 3986) or a URI template, such as `docs://{+path}`
 * @throws {DecorumError} `DECORUM_UNSUPPORTED_MEMBER` for static, private and symbol-named members
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/resources
 */
export function Resource<I extends SchemaSource>(
  uri: string,
  options: ResourceOptions<I> & { readonly input: I },
): MemberDecorator<(input: Parsed<I>, context: never) => unknown>;
export function Resource(
  uri: string,
  options?: ResourceOptions & { readonly input?: undefined },
): MemberDecorator<Method>;
export function Resource(uri: string, options: object = {}): MemberDecorator<Method> {
  return memberDecorator('resource', { ...options, uri });
}
