import type { LogLevel } from '../../protocol/model.js';
import type { QuestionMethod } from '../../protocol/revisions/revision.js';
import type { JsonObject } from '@decorum/schema/internal';

import type { Context } from '../context.js';
import { EXCHANGE } from '../context-keys.js';
import { requireDeclared } from '../questions.js';

/** The client in front of a proxy, as far as handlers don't have to know it. */
export interface Front {
  /** Whether a question ends the round, and its answer arrives in another request. */
  readonly asksInRounds: boolean;
  /** The lowest log level that the client wants; undefined if it wants no messages. */
  readonly logLevel: LogLevel | undefined;
  /** The session of the request; undefined without one. The same object for all requests of a connection. */
  readonly session: object | undefined;
  /** Whether the client can be asked a question: it has declared the capability, and its revision has the question. */
  takes(method: QuestionMethod, params: JsonObject): boolean;
}

/**
 * The client that sent the request of a context.
 */
export function frontOf(ctx: Context): Front {
  const exchange = ctx[EXCHANGE]();
  const { peer } = exchange;
  return {
    asksInRounds: peer.endRound !== undefined,
    logLevel: peer.logLevel,
    session: peer.memory,
    takes(method, params) {
      try {
        requireDeclared(exchange, { method, params } as Parameters<typeof requireDeclared>[1]);
        return true;
      } catch {
        return false;
      }
    },
  };
}
