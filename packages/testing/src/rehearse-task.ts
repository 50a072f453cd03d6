import type { CallToolResult, JsonObject, ToolEntry } from '@decorum/core';
import { newestOf } from '@decorum/core/internal';

import { overMemory } from '@decorum/client/internal';
import { Connection } from './connection.js';
import { inRounds } from '@decorum/client/internal';
import { restarted, scriptOf } from './elicits.js';
import { capabilitiesOf } from '@decorum/client/internal';
import type { ServerRequestHandlers } from './questions.js';
import { Disk, RehearsalStore } from './rehearsal-store.js';
import type { Crash, Performance, Rehearsal, RehearseOptions } from './rehearsed.js';
import { asTask, createdIn, ended } from './task-calls.js';

/** Cap on the moments at which a task is killed. */
const MAX_CRASHES = 500;

/** Whether clients may, must or must not call a tool as a task. */
export function supportOf({ execution }: ToolEntry & { readonly execution?: unknown }): unknown {
  return (execution as { readonly taskSupport?: unknown } | undefined)?.taskSupport ?? 'forbidden';
}

/** Runs a tool as a task, and once more for each moment at which its server can be killed. */
export async function asTasks(
  options: RehearseOptions,
  secret: string,
): Promise<{ readonly task: Performance; readonly crashes: readonly Crash[] }> {
  const { after: _never, ...task } = await playTask({ options, secret, run: 'task' }, Infinity);
  const crashes: Crash[] = [];
  for (let killAt = 1; killAt <= MAX_CRASHES; killAt += 1) {
    const played = await playTask({ options, secret, run: `crash ${killAt}` }, killAt);
    if (played.after === undefined) return { task, crashes };
    const { after } = played;
    crashes.push({ ...played, after });
  }
  throw new Error(`"${options.tool}" records more than ${MAX_CRASHES} changes. Rehearse it with smaller arguments.`);
}

interface Play {
  readonly options: RehearseOptions;
  readonly secret: string;
  readonly run: string;
}

interface Played extends Performance {
  readonly mayRepeat: readonly string[];
  /** The effects before the crash; undefined without one. */
  readonly after: readonly string[] | undefined;
}

/** One server of a play. */
interface Stage {
  readonly connection: Connection;
  readonly control: ReturnType<typeof RehearsalStore.control>;
}

async function playTask(play: Play, killAt: number): Promise<Played> {
  const { options } = play;
  const handlers = restarted<ServerRequestHandlers>(options);
  const [disk, effects] = [new Disk(), [] as string[]];
  const answers = new Map<string, unknown>();
  const open = (lives: number) => openStage(play, handlers, new RehearsalStore(disk, effects, lives));
  const first = await open(killAt);
  const died = first.control.killed.then(() => undefined);
  const finished = runTask(first, options, answers);
  finished.catch(() => {});
  let result = await Promise.race([finished, died]);
  const after = result === undefined ? [...effects] : undefined;
  const mayRepeat = result === undefined ? first.control.unsaved() : [];
  if (result !== undefined) await first.connection.close();
  else {
    // the server that was killed is left alone, and the client knows the task even if the response has not arrived
    const [taskId = ''] = disk.tasks.keys();
    const second = await open(Infinity);
    result = await ended(second.connection, taskId, { answers });
    await second.connection.close();
    first.control.bury();
  }
  scriptOf(handlers.onElicit)?.requireUsed(newestOf('stateless').id);
  return { result: result as unknown as CallToolResult, effects, rounds: after ? 2 : 1, after, mayRepeat };
}

async function runTask(
  { connection, control }: Stage,
  { tool, args = {} }: RehearseOptions,
  answers: Map<string, unknown>,
): Promise<JsonObject> {
  const call = { method: 'tools/call', params: { name: tool, arguments: args }, options: {} };
  const created = createdIn(await inRounds(connection, asTask(connection, call, undefined)));
  if (created === undefined) throw new Error(`The server returned the result of "${tool}" without a task.`);
  if (!control.isUsed())
    throw new Error(`"${tool}" runs as a task, but not in the store of the rehearsal. Pass it: tasks({ store })`);
  return await ended(connection, created.taskId, { answers });
}

async function openStage(
  { options, secret, run }: Play,
  handlers: ServerRequestHandlers,
  store: RehearsalStore,
): Promise<Stage> {
  const era = 'stateless';
  const control = RehearsalStore.control(store);
  const rehearsal: Rehearsal = { record: (effect) => control.record(effect), secret, era, run, store };
  const identity = {
    era,
    revision: newestOf(era).id,
    capabilities: capabilitiesOf(options, options.capabilities),
    clientInfo: { name: '@decorum/testing', version: '0.0.0' },
    handlers,
  } as const;
  const connection = await Connection.open(identity, overMemory(options.server(rehearsal), options.principal));
  return { connection, control };
}
