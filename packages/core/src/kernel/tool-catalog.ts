import type { JsonObject } from '@decorum/schema/internal';

import type { JsonRpcRequest } from '../protocol/jsonrpc.js';
import { CALL_TOOL } from '../protocol/methods.js';
import type { RequestHeaders } from '../protocol/wire.js';
import type { ToolPlan } from '../registry/tool-plan.js';

/** The key of a plugin's `ToolCatalog`. A symbol, because only our own packages set it. */
export const TOOL_CATALOG: unique symbol = Symbol.for('decorum:tool-catalog') as never;

/** What a client says besides asking for the list of tools. */
export interface ListRequest {
  readonly meta: JsonObject | undefined;
  /** HTTP only. */
  readonly headers: RequestHeaders | undefined;
}

/** Decides which tools `tools/list` has, and which tool a call means. The plugin of a server that has few of its tools listed. */
export interface ToolCatalog {
  /**
   * The tools to list.
   * @param visible those that the caller may see: the same array until something changes. Its pages are kept, so return
   *   the same array for it again
   */
  listed(visible: readonly ToolPlan[], request: ListRequest): readonly ToolPlan[];
  /**
   * The params of the call that a call means. It is judged, observed and answered as if the client had sent them.
   * @param params of `tools/call`, as sent. The answer must depend on nothing else
   * @returns undefined if the call means itself
   */
  meant(params: JsonObject): JsonObject | undefined;
}

/** The request that a client means by a call of a tool that calls others; undefined if it means what it has sent. */
export type Meant = (request: JsonRpcRequest) => JsonRpcRequest | undefined;

/** Reads what calls mean; undefined without a catalog. */
export const meantBy = (catalog: ToolCatalog | undefined): Meant | undefined =>
  catalog &&
  ((request) => {
    const params = request.method === CALL_TOOL ? catalog.meant(request.params ?? {}) : undefined;
    return params && { ...request, params };
  });
