import type { Exchange } from '../protocol/exchange.js';
import { Context } from './context.js';

/** The context of a completion method. */
export class CompletionContext extends Context {
  /**
   * @param exchange the request being handled
   * @param args the arguments that the user has already filled in
   */
  constructor(
    exchange: Exchange,
    readonly args: Readonly<Record<string, string>>,
  ) {
    super(exchange);
  }
}
