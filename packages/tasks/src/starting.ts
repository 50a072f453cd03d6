import { type JsonObject, McpError, type ToolEntry } from '@decorum/core';
import { type StartingCall, startupError } from '@decorum/core/plugin';

import type { Runner } from './runner.js';
import { SESSIONS, STATELESS } from './revisions.js';
import { relatedTo, taskFields } from './status.js';

/** The id of the extension. */
export const TASKS = 'io.modelcontextprotocol/tasks';

/** Whether clients may, must or must not call a tool as a task. */
export type TaskSupport = 'forbidden' | 'optional' | 'required';

const SUPPORT: readonly unknown[] = ['forbidden', 'optional', 'required'] satisfies readonly TaskSupport[];

/**
 * Reads the option `task` of a tool.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function supportOf({ name }: Pick<ToolEntry, 'name'>, { task = 'forbidden' }: JsonObject): TaskSupport {
  if (SUPPORT.includes(task)) return task as TaskSupport;
  throw startupError(
    'DECORUM_INVALID_OPTION',
    `The tool "${name}"`,
    'task',
    "must be 'forbidden', 'optional' or 'required'",
  );
}

/** The error for a client that has to declare the extension. */
export const undeclared = () =>
  new McpError('missing-capability', `The client does not support ${TASKS}.`, {
    requiredCapabilities: { extensions: { [TASKS]: {} } },
  });

/** Starts calls of a tool as tasks: what `Extension.start` returns. */
export function taskStarter(
  support: TaskSupport,
  runner: () => Runner,
): (starting: StartingCall) => Promise<JsonObject> | undefined {
  return (starting) => {
    const { revision } = starting.call;
    if (revision === STATELESS) {
      if (support === 'forbidden' || (support === 'optional' && !starting.declared)) return undefined;
      if (!starting.declared) throw undeclared();
      return startStateless(starting, runner());
    }
    const asked = revision === SESSIONS ? starting.params['task'] : undefined;
    if (asked === undefined) {
      if (support !== 'required') return undefined;
      throw new McpError(
        'method-not-found',
        'This tool runs only as a task. Call it with `task`, if your revision of the protocol has tasks.',
      );
    }
    if (support === 'forbidden')
      throw new McpError('method-not-found', 'This tool does not run as a task. Call it without `task`.');
    return startInSession(starting, runner(), ttlOf(asked));
  };
}

/** @throws {McpError} `invalid-params` */
function ttlOf(asked: unknown): number | undefined {
  const isObject = typeof asked === 'object' && asked !== null && !Array.isArray(asked);
  const { ttl } = isObject ? (asked as JsonObject) : { ttl: -1 };
  // as long as possible
  if (ttl === null) return Infinity;
  if (ttl === undefined || (Number.isInteger(ttl) && (ttl as number) >= 0)) return ttl as number | undefined;
  throw new McpError(
    'invalid-params',
    '"task" must be an object. Its `ttl`, if there is one, must be a whole number of milliseconds.',
  );
}

async function startStateless(starting: StartingCall, runner: Runner): Promise<JsonObject> {
  const started = await runner.start(starting);
  if ('interim' in started) return started.interim;
  // how the task was created: it may have changed already
  return { resultType: 'task', ...taskFields({ ...started.task }, STATELESS, runner.settings.pollIntervalMs) };
}

async function startInSession(starting: StartingCall, runner: Runner, ttlMs: number | undefined): Promise<JsonObject> {
  const task = await runner.startNow(starting, ttlMs);
  return { task: taskFields(task, SESSIONS, runner.settings.pollIntervalMs), _meta: relatedTo(task) };
}
