import type { CallToolResult, ClientCapabilities, Principal } from '@decorum/core';
import type { Era } from '@decorum/core/internal';
import type { Host } from '@decorum/core/transport';

import type { ServerRequestHandlers } from './questions.js';
import type { RehearsalStore } from './rehearsal-store.js';

/** Passed to the function that builds the server under test. */
export interface Rehearsal {
  /** Call this in place of the tool's real side effect. */
  readonly record: (effect: string) => void;
  /** Pass this to the server as its secret. All servers of a rehearsal must be able to read each other's state. */
  readonly secret: string;
  /** `stateful` for the session, `stateless` for replay and tasks. */
  readonly era: Era;
  /** The name of the run: `session`, `replay`, `task`, `crash 1` and so on. Reset anything that outlives a server when it changes. */
  readonly run: string;
  /** For tools that run as tasks: pass this to `tasks({ store })`. */
  readonly store: RehearsalStore;
}

/** Options of `rehearse`. */
export interface RehearseOptions extends ServerRequestHandlers {
  /** Builds the server. Called once for the session, for each round of the replay, and for each start of a task's server. */
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

/** Outcome of a tool call in one run. */
export interface Performance {
  readonly result: CallToolResult;
  /** Side effects passed to `record`, in order. */
  readonly effects: readonly string[];
  /** Number of times the handler ran. In a session, more than 1 only if the client called again after a URL visit. */
  readonly rounds: number;
}

/** Outcome of a task whose server was killed once. */
export interface Crash extends Performance {
  /** The effects until the server was killed. */
  readonly after: readonly string[];
  /** The effects that may have run twice, because the server was killed before it had stored them. */
  readonly mayRepeat: readonly string[];
}

/** Outcomes of a tool call in all runs. */
export interface Rehearsed {
  readonly session: Performance;
  readonly replay: Performance;
  /** The outcome as a task; undefined for a tool that doesn't run as one. */
  readonly task: Performance | undefined;
  /** One outcome for each moment at which the task's server can be killed. */
  readonly crashes: readonly Crash[];
  /** What differs between the runs, and effects that ran too often: one sentence each. Empty if all is well. */
  readonly problems: readonly string[];
}

const ranTimes = (times: number) => (times === 0 ? 'did not run' : times === 1 ? 'ran once' : `ran ${times} times`);

/** What differs between the runs. */
export function problemsOf({ session, replay, task, crashes }: Omit<Rehearsed, 'problems'>): string[] {
  const others: (readonly [string, Performance, readonly string[]])[] = [['Without a session', replay, []]];
  if (task !== undefined) others.push(['As a task', task, []]);
  for (const crash of crashes) {
    const after = crash.after.length === 0 ? 'before any effect' : `after ${crash.after.join(', ')}`;
    others.push([`As a task that was killed ${after}`, crash, crash.mayRepeat]);
  }
  const found = others.flatMap(([run, performance, mayRepeat]) => {
    const counted = new Set([...session.effects, ...performance.effects]);
    const odd = [...counted].flatMap((effect) => {
      const [wanted, times] = [session, performance].map(({ effects }) => effects.filter((it) => it === effect).length);
      const isFine = times === wanted || (mayRepeat.includes(effect) && times === (wanted ?? 0) + 1);
      return isFine
        ? []
        : [`${run}, "${effect}" ${ranTimes(times ?? 0)}. In the session, it ${ranTimes(wanted ?? 0)}.`];
    });
    const [mine, theirs] = [performance, session].map(({ result }) => JSON.stringify([result.content, result.isError]));
    return mine === theirs ? odd : [...odd, `${run}, the result is ${mine}. In the session, it is ${theirs}.`];
  });
  return [...new Set(found)];
}
