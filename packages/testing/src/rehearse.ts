import { type CallToolResult, type ClientCapabilities, type JsonObject, McpError, type Principal } from '@decorum/core';
import type { Host } from '@decorum/core/transport';
import { type Era, newestOf } from '@decorum/core/internal';

import { overMemory } from './carriers/memory.js';
import { connect } from './connect.js';
import { Connection } from './connection.js';
import { restarted, scriptOf } from './elicits.js';
import { answer, capabilitiesOf, type ElicitAnswer, type ServerRequestHandlers } from './questions.js';

/** Passed to the function that builds the server under test. */
export interface Rehearsal {
  /** Call this in place of the tool's real side effect. */
  readonly record: (effect: string) => void;
  /** Pass this to the server as its secret. All servers of a rehearsal must be able to read each other's state. */
  readonly secret: string;
  /** `stateful` for the session, `stateless` for replay. Reset anything that outlives a server when the era changes. */
  readonly era: Era;
}

/** Options of `rehearse`. */
export interface RehearseOptions extends ServerRequestHandlers {
  /** Builds the server. Called once for the session and once for each round of the replay. */
  readonly server: (rehearsal: Rehearsal) => Host;
  /** Name of the tool to call. */
  readonly tool: string;
  /** Arguments of the call. */
  readonly args?: object;
  /** Capabilities to declare besides those the handlers imply, such as `{ elicitation: { form: {}, url: {} } }`. */
  readonly capabilities?: ClientCapabilities;
  /** The authenticated caller, available to handlers as `ctx.principal`. */
  readonly principal?: Principal;
}

/** Outcome of a tool call in one era. */
export interface Performance {
  readonly result: CallToolResult;
  /** Side effects passed to `record`, in order. */
  readonly effects: readonly string[];
  /** Number of times the handler ran. In a session, more than 1 only if the client called again after a URL visit. */
  readonly rounds: number;
}

/** Outcome of a tool call in both eras. */
export interface Rehearsed {
  readonly session: Performance;
  readonly replay: Performance;
}

const SECRET = 'a secret that all servers of a rehearsal share';
const MAX_ROUNDS = 20;

/**
 * Runs a tool that asks questions, once in each era: in a session, and as a replay that uses a new server for each
 * round. A tool that works in both eras returns the same result with the same side effects. To achieve this, wrap the
 * side effects before its last question in `ctx.once`.
 *
 * If the tool requires a URL visit (`ctx.requireUrl`), `onElicit` is called for each URL in both eras. In the session,
 * the tool is called again once all URLs are accepted.
 *
 * @throws {McpError} if the server responds with an error
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

/** Error code for a call that requires URL visits first (MCP 2025-11-25, URL mode elicitation). */
const URL_REQUIRED = -32042;

/** Has the user visit the URLs in an error. Rethrows the error if it has no URLs or the user doesn't accept. */
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
  const handlers = restarted<ServerRequestHandlers>(caller);
  let given: JsonObject = {};
  for (let rounds = 1; rounds <= MAX_ROUNDS; rounds++) {
    const identity = {
      era,
      revision: newestOf(era).id,
      capabilities: capabilitiesOf(caller, caller.capabilities),
      clientInfo: { name: '@decorum/testing', version: '0.0.0' },
      handlers,
    } as const;
    const connection = await Connection.open(
      identity,
      overMemory(server({ record, secret: SECRET, era }), caller.principal),
    );
    try {
      const result = await connection.request('tools/call', { name: tool, arguments: args, ...given });
      if (result['resultType'] !== 'input_required') {
        scriptOf(handlers.onElicit)?.requireUsed(identity.revision);
        return { result: result as unknown as CallToolResult, effects, rounds };
      }
      given = await connection.respond(result);
    } finally {
      await connection.close();
    }
  }
  throw unending(tool);
}

const unending = (tool: string) => new Error(`"${tool}" asked ${MAX_ROUNDS} times without returning a result.`);
