import type { JsonObject } from '@decorum/schema/internal';

import type { Effects } from '../protocol/effects.js';
import type { NeedInput } from '../protocol/input.js';
import type { RequestId } from '../protocol/model.js';
import type { Records, Remembered } from '../protocol/records.js';
import type { Principal, TransportInfo } from '../protocol/wire.js';

/** The key of the method that sends the requests of `needInput`. A symbol, so that it isn't offered to handlers. */
export const COLLECT: unique symbol = Symbol('collect');

/** The key of what tells whether the client was asked. A symbol, so that it isn't offered to handlers. */
export const HAS_ASKED: unique symbol = Symbol('has asked');

/** The key of the method that limits a context to a part of its request. A symbol, so that it isn't offered to handlers. */
export const WITHIN: unique symbol = Symbol('within');

/** The key of the method that listens for cancellation. A symbol, so that it isn't offered to handlers. */
export const ON_CANCEL: unique symbol = Symbol('on cancel');

/** The key of what policies need that keep something beyond a call. A symbol, so that it isn't offered to handlers. */
export const RUN: unique symbol = Symbol('run');

/** What a run may keep beyond its call. */
export interface RunFacts {
  readonly records: Records;
  readonly effects: Effects;
  /** The same in all runs of a request: in each of its rounds, and if another process or request takes it over. */
  readonly id: string;
  /** What the run wants to remember; undefined if nothing so far. */
  readonly remembered: Remembered | undefined;
  /** The request's `_meta`. */
  readonly meta: JsonObject | undefined;
  /** The name of the member in the server that serves the request; undefined for what has none. */
  readonly member: string | undefined;
  /** The id of what runs it apart from its request, such as a task; undefined if nothing does. */
  readonly host: RequestId | undefined;
  /** Whether it has asked the client, and runs again with the answer. */
  readonly isAsking: boolean;
}

/** A part of a request: one run of a handler, for example. */
export interface RunScope {
  /** Aborts when the part is over, or the whole request. */
  readonly signal?: AbortSignal | undefined;
  /** Told of each question to the client, which takes as long as the client does. */
  asking?(answer: Promise<unknown>): void;
  /** Characters that the result may have. */
  readonly maxResultChars?: number | undefined;
  /** The plan that it carries out. */
  readonly planned?: { readonly plan?: unknown } | undefined;
  /** Whether its member has decided how long it may take. */
  readonly isLimited?: boolean;
  /** Whether it has failed. Then `ctx.memory` writes nothing of it. */
  readonly hasFailed?: boolean;
  /** Told that a part of it has decided that. */
  replaced?(): void;
}

/** The part of a handler's context that plans use. The kernel passes a full `Context`. */
export interface Caller {
  /** Reports progress. */
  progress(progress: number, total?: number, message?: string): void;
  /** Aborts when the result is no longer needed. */
  readonly signal: AbortSignal;
  readonly principal: Principal | undefined;
  readonly sessionId: string | undefined;
  readonly transport: TransportInfo;
  readonly [RUN]: RunFacts;
  /** Whether the request has asked the client. */
  readonly [HAS_ASKED]: boolean;
  /** The same request, within a part of it that may end sooner. */
  [WITHIN](scope: RunScope): Caller;
  /**
   * Calls back when the request is cancelled; at once if it is over already.
   * @returns a function that unregisters the callback
   */
  [ON_CANCEL](callback: () => void): () => void;
  /** Asks the user to confirm. */
  confirm(message: string, options: { readonly key: string }): Promise<boolean>;
  /** Asks the client for the input that a handler needs before the handler runs again. */
  [COLLECT](needed: NeedInput): Promise<void>;
}
