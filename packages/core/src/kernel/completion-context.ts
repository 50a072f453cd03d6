import type { Exchange } from '../protocol/exchange.js';
import { type RunScope, WITHIN } from '../registry/caller.js';
import { Context } from './context.js';
import { EXCHANGE, SCOPE } from './context-keys.js';
import { narrowed } from './run-scope.js';

/** The context of a completion method. */
export class CompletionContext extends Context {
  /**
   * @param exchange the request being handled
   * @param args the arguments that the user has already filled in
   * @param scope the part of the request that the context is limited to
   */
  constructor(
    exchange: Exchange,
    readonly args: Readonly<Record<string, string>>,
    scope?: RunScope,
  ) {
    super(exchange, scope);
  }

  override [WITHIN](scope: RunScope): CompletionContext {
    return new CompletionContext(this[EXCHANGE](), this.args, narrowed(this[SCOPE], scope));
  }
}
