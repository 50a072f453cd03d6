import {
  type CallToolResult,
  type ClientCapabilities,
  type Host,
  type JsonObject,
  McpError,
  type Principal,
} from '@decorum/core';
import { type Era, newestOf } from '@decorum/core/transport';

import { connect } from './connect.js';
import { Connection } from './connection.js';
import { answer, capabilitiesOf, type ElicitAnswer, type ServerRequestHandlers } from './questions.js';

/** What a server under test is built with. */
export interface Rehearsal {
  /** Call it where the tool would do something to the world. */
  readonly record: (effect: string) => void;
  /** Give it to the server: all servers of one rehearsal read each other's states. */
  readonly secret: string;
  /** `stateful` for the session, `stateless` for replay: what outlives a server must begin anew for each. */
  readonly era: Era;
}

/** Options of `rehearse`. */
export interface RehearseOptions extends ServerRequestHandlers {
  /** Builds the server; called once for the session, and once for each round of the replay. */
  readonly server: (rehearsal: Rehearsal) => Host;
  readonly tool: string;
  readonly args?: object;
  /** Beside those that follow from the handlers, such as `{ elicitation: { form: {}, url: {} } }`. */
  readonly capabilities?: ClientCapabilities;
  /** Who calls, as if authorization had established it: `ctx.principal`. */
  readonly principal?: Principal;
}

/** How a tool behaved. */
export interface Performance {
  readonly result: CallToolResult;
  /** What was recorded, in order. */
  readonly effects: readonly string[];
  /** How often the handler ran: in a session more than once where the client had to call again after a URL. */
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
 * Where a session is refused until the user has been at a URL (`ctx.requireUrl`), `onElicit` is asked for each URL, as
 * by replay, and the tool is called again when it accepts.
 *
 * @throws {McpError} when the server answers with an error
 * @example
 * ```ts
 * import assert from 'node:assert/strict';
 *
 * import { Context, McpServer, NoInput, Tool } from '@decorum/core';
 * import { rehearse } from '@decorum/testing';
 *
 * class Airline {
 *   constructor(private readonly record: (effect: string) => void) {}
 *
 *   @Tool({ description: 'Books a seat' })
 *   async book(_input: NoInput, ctx: Context) {
 *     await ctx.once('hold', () => this.record('hold a seat'));
 *     return (await ctx.confirm('Pay 20 €?')) ? 'Booked.' : 'Not booked.';
 *   }
 * }
 *
 * const { session, replay } = await rehearse({
 *   server: ({ record, secret }) =>
 *     new McpServer({ name: 'airline', version: '1.0.0', secret, providers: [new Airline(record)] }),
 *   tool: 'book',
 *   onElicit: () => ({ action: 'accept' }),
 * });
 * assert.deepEqual(replay.result.content, session.result.content);
 * assert.deepEqual(replay.effects, session.effects);
 * ```
 */
export async function rehearse(options: RehearseOptions): Promise<Rehearsed> {
  return { session: await inSession(options), replay: await byReplay(options) };
}

async function inSession({ server, tool, args = {}, ...caller }: RehearseOptions): Promise<Performance> {
  const effects: string[] = [];
  const record = (effect: string) => void effects.push(effect);
  const client = await connect(server({ record, secret: SECRET, era: 'stateful' }), caller);
  try {
    for (let rounds = 1; rounds <= MAX_ROUNDS; rounds++) {
      const result = await client.callTool(tool, args).catch((error: Error) => visited(error, caller));
      if (result !== undefined) return { result, effects, rounds };
    }
  } finally {
    await client.close();
  }
  throw unending(tool);
}

/** The error that asks for visits first (MCP 2025-11-25, URL mode elicitation). */
const URL_REQUIRED = -32042;

/** Lets the user go to the URLs that an error names. Throws it where it names none, or the user does not go. */
async function visited(error: Error, handlers: ServerRequestHandlers): Promise<undefined> {
  if (!(error instanceof McpError) || error.code !== URL_REQUIRED) throw error;
  const { elicitations } = error.data as { readonly elicitations: readonly JsonObject[] };
  for (const params of elicitations) {
    const { action } = (await answer(handlers, 'elicitation/create', params)) as ElicitAnswer;
    if (action !== 'accept') throw error;
  }
}

async function byReplay({ server, tool, args = {}, ...caller }: RehearseOptions): Promise<Performance> {
  const effects: string[] = [];
  const record = (effect: string) => void effects.push(effect);
  const era = 'stateless';
  let given: JsonObject = {};
  for (let rounds = 1; rounds <= MAX_ROUNDS; rounds++) {
    const connection = new Connection({
      era,
      revision: newestOf(era).id,
      capabilities: capabilitiesOf(caller, caller.capabilities),
      clientInfo: { name: '@decorum/testing', version: '0.0.0' },
      principal: caller.principal,
      handlers: caller,
    });
    await connection.open(server({ record, secret: SECRET, era }));
    try {
      const result = await connection.request('tools/call', { name: tool, arguments: args, ...given }, {});
      if (result['resultType'] !== 'input_required') {
        return { result: result as unknown as CallToolResult, effects, rounds };
      }
      given = await connection.respond(result);
    } finally {
      connection.close();
    }
  }
  throw unending(tool);
}

const unending = (tool: string) => new Error(`"${tool}" has asked ${MAX_ROUNDS} times and still has no result.`);
