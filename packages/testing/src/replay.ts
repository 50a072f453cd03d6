import type { CallToolResult, Host, JsonObject } from '@decorum/core';
import { newestOf } from '@decorum/core/transport';

import { connect } from './connect.js';
import { Connection } from './connection.js';
import { capabilitiesOf, type ServerRequestHandlers } from './questions.js';

/** What a server under test is built with. */
export interface Rehearsal {
  /** Call it where the tool would do something to the world. */
  readonly record: (effect: string) => void;
  /** Give it to the server: all servers of one rehearsal read each other's states. */
  readonly secret: string;
}

/** Options of `rehearse`. */
export interface RehearseOptions extends ServerRequestHandlers {
  /** Builds the server; called once for the session, and once for each round of the replay. */
  readonly server: (rehearsal: Rehearsal) => Host;
  readonly tool: string;
  readonly args?: object;
}

/** How a tool behaved. */
export interface Performance {
  readonly result: CallToolResult;
  /** What was recorded, in order. */
  readonly effects: readonly string[];
  /** How often the handler ran. */
  readonly rounds: number;
}

/** How a tool behaved in both eras. */
export interface Rehearsed {
  readonly session: Performance;
  readonly replay: Performance;
}

const SECRET = 'a secret that all servers of a rehearsal share';
const MAX_ROUNDS = 20;

/**
 * Runs a tool that asks its client once in a session, and once by replay with the server restarted before each round.
 * A tool that is fit for both gives the same result and the same effects: what it does before its last question goes
 * through `ctx.once`.
 *
 * ```ts
 * const { session, replay } = await rehearse({ server, tool: 'book', onElicit });
 * expect(replay.result.content).toEqual(session.result.content);
 * expect(replay.effects).toEqual(session.effects);
 * ```
 */
export async function rehearse(options: RehearseOptions): Promise<Rehearsed> {
  return { session: await inSession(options), replay: await byReplay(options) };
}

async function inSession({ server, tool, args = {}, ...handlers }: RehearseOptions): Promise<Performance> {
  const effects: string[] = [];
  const client = await connect(server({ record: (effect) => effects.push(effect), secret: SECRET }), handlers);
  const result = await client.callTool(tool, args);
  await client.close();
  return { result, effects, rounds: 1 };
}

async function byReplay({ server, tool, args = {}, ...handlers }: RehearseOptions): Promise<Performance> {
  const effects: string[] = [];
  let given: JsonObject = {};
  for (let rounds = 1; rounds <= MAX_ROUNDS; rounds++) {
    const connection = new Connection({
      era: 'stateless',
      revision: newestOf('stateless').id,
      capabilities: capabilitiesOf(handlers),
      clientInfo: { name: '@decorum/testing', version: '0.0.0' },
      principal: undefined,
      handlers,
    });
    await connection.open(server({ record: (effect) => effects.push(effect), secret: SECRET }));
    const result = await connection.request('tools/call', { name: tool, arguments: args, ...given }, {});
    if (result['resultType'] === 'input_required') given = await connection.respond(result);
    connection.close();
    if (result['resultType'] !== 'input_required') {
      return { result: result as unknown as CallToolResult, effects, rounds };
    }
  }
  throw new Error(`"${tool}" has asked ${MAX_ROUNDS} times and still has no result.`);
}
