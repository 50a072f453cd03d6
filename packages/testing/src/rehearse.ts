import { type CallToolResult, type JsonObject, McpError } from '@decorum/core';
import { newestOf } from '@decorum/core/internal';

import { overMemory } from '@decorum/client/internal';
import { connect } from './connect.js';
import { Connection } from './connection.js';
import { restarted, scriptOf } from './elicits.js';
import { capabilitiesOf } from '@decorum/client/internal';
import type { ElicitAnswer } from '@decorum/client';
import { answer, type ServerRequestHandlers } from './questions.js';
import { Disk, RehearsalStore } from './rehearsal-store.js';
import { asTasks, supportOf } from './rehearse-task.js';
import { type Performance, problemsOf, type Rehearsal, type Rehearsed, type RehearseOptions } from './rehearsed.js';

const SECRET = 'a secret that all servers of a rehearsal share';
const MAX_ROUNDS = 20;

/**
 * Runs a tool that asks questions, once in each era: in a session, and as a replay that uses a new server for each
 * round. A tool that works in both eras returns the same result with the same side effects. To achieve this, wrap the
 * side effects before its last question in `ctx.once`.
 *
 * A tool that runs as a task also runs as one, and once more for each moment at which its server can be killed: before
 * and after each change of the task, and after each effect.
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
  const { support, ...session } = await inSession(options);
  // only a task can run a tool that requires one
  const replay = support === 'required' ? undefined : await byReplay(options);
  const { task, crashes } = support === 'forbidden' ? NO_TASKS : await asTasks(options, SECRET);
  const runs = { session, replay: replay ?? (task as Performance), task, crashes };
  return { ...runs, problems: problemsOf(runs) };
}

const NO_TASKS = { task: undefined, crashes: [] };

/** What the servers of a run get. Without a task, nothing comes into their store. */
function rehearsalOf(effects: string[], run: Pick<Rehearsal, 'era' | 'run'>): Rehearsal {
  const store = new RehearsalStore(new Disk(), effects, Infinity);
  return { ...run, record: (effect) => void effects.push(effect), secret: SECRET, store };
}

async function inSession({
  server,
  tool,
  args = {},
  ...caller
}: RehearseOptions): Promise<Performance & { readonly support: unknown }> {
  const effects: string[] = [];
  const client = await connect(server(rehearsalOf(effects, { era: 'stateful', run: 'session' })), caller);
  try {
    const entry = (await client.listTools()).find(({ name }) => name === tool);
    const support = entry === undefined ? 'forbidden' : supportOf(entry);
    for (let rounds = 1; rounds <= MAX_ROUNDS; rounds++) {
      const result = await client
        .callTool(tool, args, { task: support === 'required' })
        .catch((error: Error) => visited(error, caller));
      if (result !== undefined) return { result, effects, rounds, support };
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
    const { action } = (await answer(handlers, { method: 'elicitation/create', params })) as ElicitAnswer;
    if (action !== 'accept') throw error;
  }
}

async function byReplay({ server, tool, args = {}, ...caller }: RehearseOptions): Promise<Performance> {
  const effects: string[] = [];
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
      overMemory(server(rehearsalOf(effects, { era, run: 'replay' })), caller.principal),
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
