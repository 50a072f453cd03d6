import type { JsonObject } from '../protocol/model.js';
import type { Context } from './context.js';

/**
 * Something that the specification leaves to extensions: methods of its own, which only clients that declare the
 * extension can use. It is given to a server as an option.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/index
 */
export interface Extension {
  /** A reverse domain name and a name, such as `com.example/feature`. */
  readonly id: string;
  /** What the server declares under the id. */
  readonly settings?: JsonObject;
  /** Handlers by method name. They return the result, and throw `McpError`s. */
  readonly methods?: Readonly<
    Record<string, (params: JsonObject, context: Context) => JsonObject | Promise<JsonObject>>
  >;
}
