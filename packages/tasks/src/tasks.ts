import type { Context, JsonObject } from '@decorum/core';
import { definePlugin, type Extension, type ExtensionHandler, type Plugin } from '@decorum/core/plugin';

import { Inspection, inspector } from './inspection.js';
import { invalidTasksOption, settingsOf, type TasksOptions } from './options.js';
import { Runner } from './runner.js';
import { type Asking, resultInSession } from './result-method.js';
import { cancelInSession, getInSession, listInSession, statusNotification } from './session-methods.js';
import { supportOf, TASKS, taskStarter } from './starting.js';
import { cancelStateless, followTasks, getStateless, updateStateless } from './stateless-methods.js';
import { SESSIONS, STATELESS } from './revisions.js';

declare module '@decorum/core' {
  interface ExtensionToolOptions {
    /**
     * Whether clients may call the tool as a task: `forbidden` (the default), `optional` or `required`. Needs `tasks()` of
     * `@decorum/tasks` among the server's `plugins`.
     */
    readonly task?: 'forbidden' | 'optional' | 'required';
  }
}

const ONE_SERVER = 'has one `tasks()` for two servers, which would share their tasks. Call `tasks()` for each server';

type Handle = (params: JsonObject, ctx: Context, runner: Runner) => Promise<JsonObject>;

/** The methods of both revisions. */
function methodsOf(runner: () => Runner): NonNullable<Extension['methods']> {
  const asking: Asking = new Map();
  // callers without credentials have tasks of public tools
  const all = { subject: 'taskId', callers: 'all', needs: 'list' } as const;
  const either =
    (inSession: Handle, stateless: Handle): ExtensionHandler =>
    (params, ctx) =>
      (ctx.revision === SESSIONS ? inSession : stateless)(params, ctx, runner());
  return {
    'tasks/get': { ...all, handle: either(getInSession, getStateless) },
    'tasks/cancel': { ...all, handle: either(cancelInSession, cancelStateless) },
    'tasks/update': { ...all, handle: (params, ctx) => updateStateless(params, ctx, runner()), revisions: [STATELESS] },
    'tasks/list': { ...all, handle: (params, ctx) => listInSession(params, ctx, runner()), revisions: [SESSIONS] },
    'tasks/result': {
      ...all,
      handle: (params, ctx) => resultInSession(params, ctx, { runner: runner(), asking }),
      revisions: [SESSIONS],
    },
  };
}

/** Clients of 2025-11-25 are told of tasks among the capabilities; later ones among the extensions. */
const capabilitiesOf: NonNullable<Extension['capabilities']> = (revision, { principal }) =>
  revision === STATELESS
    ? { extensions: { [TASKS]: {} } }
    : { tasks: { ...(principal !== undefined && { list: {} }), cancel: {}, requests: { tools: { call: {} } } } };

/** What `tools/list` says of a tool. */
const shown: NonNullable<Extension['tool']> = (entry, { task }, { revision }) => {
  if (task === 'forbidden' || revision === STATELESS) return entry;
  if (revision === SESSIONS) return { ...entry, execution: { taskSupport: task } };
  return task === 'required' ? undefined : entry;
};

/**
 * Lets tools run as tasks.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
 * @example
 * ```ts
 * import { McpServer, Tool } from '@decorum/core';
 * import { tasks } from '@decorum/tasks';
 *
 * class Reports {
 *   @Tool({ description: 'Builds the yearly report', task: 'optional' })
 *   yearly() {
 *     return 'The report';
 *   }
 * }
 *
 * new McpServer({ name: 'reports', version: '1.0.0', providers: [Reports], plugins: [tasks()] });
 * ```
 */
export const tasks: (options?: TasksOptions) => Plugin = definePlugin((options: TasksOptions = {}) => {
  const settings = settingsOf(options);
  let opened: Runner | undefined;
  // calls come only after `open`
  const runner = () => opened as Runner;
  const extension: Extension = {
    id: TASKS,
    methods: methodsOf(runner),
    capabilities: capabilitiesOf,
    toolOptions: { task: 'string' },
    tool: shown,
    start: (tool, given) => taskStarter(supportOf(tool, given), runner),
    listen: { taskIds: (asked, ctx) => followTasks(asked, ctx, runner()) },
    session: (published, client) => statusNotification(published, client, runner()),
    async open(host) {
      if (opened !== undefined) throw invalidTasksOption('plugins', ONE_SERVER);
      const inspect = inspector();
      if (inspect !== undefined) return await inspect((access) => new Inspection(settings, host, access));
      opened = new Runner(settings, host);
      await opened.open();
    },
    stop: () => opened?.stop(),
  };
  return { name: 'tasks', extensions: [extension], onClose: () => opened?.close() };
});
