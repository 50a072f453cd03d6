import type { Exchange } from '../protocol/exchange.js';
import { denialOf, isScope } from '../protocol/scopes.js';

/**
 * Requires scopes of the caller of a request, in addition to those that it requires already.
 * @throws {McpError} `insufficient-scope` or `unauthorized`
 * @throws {TypeError} for anything but scopes
 */
export function requireScopes(exchange: Exchange, scopes: readonly string[]): void {
  const wrong = scopes.findIndex((scope) => !isScope(scope));
  if (wrong !== -1 || scopes.length === 0) throw new TypeError('`ctx.requireScopes` takes scopes, one per argument.');
  const needs = [...(exchange.needs ?? []), { scopes, isPublic: false }];
  exchange.require(needs);
  const denial = denialOf(exchange.wire, needs);
  if (denial) throw denial;
}
