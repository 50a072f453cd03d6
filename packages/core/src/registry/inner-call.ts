import type { JsonObject } from '@decorum/schema/internal';

import type { Caller } from './caller.js';

/** A call of a mounted member, with the names that its own server gives it. */
export interface InnerCall {
  readonly kind: 'tool' | 'prompt' | 'resource' | 'completion';
  readonly name: string;
  readonly args: JsonObject;
  readonly caller: Caller;
}

/** What a server does around calls of its members, wherever they are served. */
export interface InnerCalls {
  run<R extends object>(call: InnerCall, run: (caller: Caller) => R | Promise<R>): R | Promise<R>;
}
