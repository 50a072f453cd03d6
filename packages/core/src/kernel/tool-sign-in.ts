import type { JsonObject } from '@decorum/schema/internal';

import type { McpError } from '../protocol/errors.js';
import type { Exchange } from '../protocol/exchange.js';
import type { CallToolResult, Tool } from '../protocol/model.js';
import type { Revision } from '../protocol/revisions/revision.js';
import { BASE, isDenial, type Need } from '../protocol/scopes.js';
import type { Authorization } from '../protocol/wire.js';
import type { Results } from './results.js';

/** Holds the challenges of a denied call (OpenAI Apps SDK, "Triggering authentication UI"). */
const CHALLENGES = 'mcp/www_authenticate';

/**
 * The JSON of the result for a denied tool call, from which clients such as ChatGPT start the sign-in.
 * @returns undefined if the call isn't denied, or if the transport answers denied calls itself
 */
export function signInResult(denial: McpError, exchange: Exchange, results: Results): string | undefined {
  const { method, revision, wire } = exchange;
  const { principal, authorization } = wire;
  if (authorization?.toolChallenge === undefined || revision.methods.get(method)?.names !== 'tool' || !isDenial(denial))
    return undefined;
  let challenge: string | undefined;
  try {
    challenge = authorization.toolChallenge(denial, { principal, inSession: revision.sessions });
  } catch {
    // the transport asks for the same challenge next, and reports the error
    return undefined;
  }
  if (challenge === undefined) return undefined;
  const content: CallToolResult['content'] = [{ type: 'text', text: denial.message }];
  const result: CallToolResult = { content, isError: true, _meta: { [CHALLENGES]: [challenge] } };
  return results.write(revision, revision.toolResult(result, UNNAMED));
}

/** Stands in for the tool: the caller must not learn whether it exists, and its schemas don't matter for errors. */
const UNNAMED: Tool = { name: '', inputSchema: { type: 'object' } };

/** Encodes a tool with its security schemes, in revisions whose tools may have `_meta`. */
export function withSecuritySchemes(
  tool: Tool,
  need: Need = BASE,
  { revision, authorization }: { readonly revision: Revision; readonly authorization: Authorization },
): JsonObject {
  const needed = [...new Set([...authorization.scopes, ...need.scopes])];
  const scopes = needed.map((scope) => authorization.requestedScope?.(scope) ?? scope);
  const own = need.isPublic ? [{ type: 'noauth' }] : [{ type: 'oauth2', scopes }];
  const { _meta: meta } = tool;
  const { securitySchemes = own } = meta ?? {};
  const encoded = revision.tool({ ...tool, _meta: { ...meta, securitySchemes } });
  // no revision has this field yet, but clients read it first
  return encoded['_meta'] === undefined ? encoded : { ...encoded, securitySchemes };
}
