/** The key of the method that returns the request behind a context. A symbol, so that it isn't offered to handlers. */
export const EXCHANGE: unique symbol = Symbol('exchange');

/** The key of the method that asks a question as it is. A symbol, so that it isn't offered to handlers. */
export const ASK: unique symbol = Symbol('ask');

/** The key of the part of the request that a context is limited to. */
export const SCOPE: unique symbol = Symbol('scope');
