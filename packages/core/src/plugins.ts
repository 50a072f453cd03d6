import { andThen, isPromise, type OptionTypes, requireOptions } from '@decorum/schema/internal';

import { answerOf } from './kernel/admission.js';
import type { Extension } from './kernel/extensions/extension.js';
import { type AnyInterceptor, requireInterceptors } from './kernel/interceptors.js';
import type { RequestOutcome } from './kernel/observed.js';
import type { Observing } from './kernel/observed-kernel.js';
import type { SessionInfo } from './kernel/observed-sessions.js';
import { TOOL_CATALOG, type ToolCatalog } from './kernel/tool-catalog.js';
import { startupError } from './protocol/errors.js';
import type { ObservedQuestion, ObservedRequest } from './protocol/observed.js';
import type { QuestionOutcome } from './kernel/observed-questions.js';
import { reportingOnce } from './kernel/observers.js';
import type { ProviderSource } from './providers.js';
import type { Gate, PluginCaller, PluginMember } from './protocol/plugin-access.js';
import { checkRoutes, type Route } from './transports/route.js';

/**
 * The parts that a plugin adds to a server, and the functions that observe the server. Create plugins with
 * `definePlugin`. All functions are called as methods of this object.
 */
export interface PluginDefinition<Server = never> {
  /** Identifies the plugin in errors, and in the `needs` of other plugins. Must be unique within a server. */
  readonly name: string;
  /** Names of other plugins that the server must have. */
  readonly needs?: readonly string[];
  /** More providers, after the server's own. */
  readonly providers?: readonly ProviderSource[];
  /** More interceptors, outside the server's own. */
  readonly interceptors?: readonly AnyInterceptor[];
  /** More extensions, after the server's own. */
  readonly extensions?: readonly Extension[];
  /**
   * Decides who may see and use a member, besides its own `access`: in lists, calls, completions and subscriptions. Only
   * `true` grants access. Asked at most once per member and request, and in each request again. If it throws,
   * rejects or returns nothing, the member stays hidden, and the error is reported once.
   * @param member the member, as this server declares it
   * @param caller who asks: all but the principal, the transport and the session id is what the client says
   */
  access?(member: PluginMember, caller: PluginCaller): boolean | Promise<boolean>;
  /**
   * Wraps every request and notification that the server handles. Handlers run inside it, so they see values that it
   * sets in an `AsyncLocalStorage`. It can't change the response. If it throws, the error is reported once, and the
   * request is served anyway.
   * @param request the request or notification
   * @param run handles the request, on the first call. Call `run` before you await anything, because the request waits
   *   until then. If `observe` ends without calling `run`, the request is handled at that point
   */
  observe?(request: ObservedRequest, run: () => Promise<RequestOutcome>): unknown;
  /**
   * Called when a request or notification has been handled, before the response is sent. It costs less than `observe`,
   * which gets a promise. If it throws, the error is reported once, and the response is sent anyway.
   * @param request the request or notification. Its arguments may be undefined by now
   * @param outcome how the request ended
   */
  ended?(request: ObservedRequest, outcome: RequestOutcome): unknown;
  /**
   * Wraps every question that a handler asks the client. Set keys of `question.meta` to send them as `_meta`. If `ask`
   * throws, the error is reported once, and the question is asked anyway.
   * @param question the request to the client
   * @param run sends the question, on the first call
   */
  ask?(question: ObservedQuestion, run: () => Promise<QuestionOutcome>): unknown;
  /**
   * Called for every session that starts in this process, or is continued in it.
   * @returns a function to call when the session ends in this process, for whatever reason
   */
  session?(info: SessionInfo): (() => void) | void;
  /**
   * Called when a handler begins to run apart from its request, as that of a task does. If another process goes on with
   * a task, it is called there, too.
   * @param request the call, with the `id` of the run, such as that of the task
   * @returns a function to call with the outcome when the run has ended or was cancelled. If it throws, the error is
   *   reported once
   */
  detached?(request: ObservedRequest): ((outcome: RequestOutcome) => void) | void;
  /** Paths to serve over HTTP, next to the MCP endpoint. */
  readonly routes?: readonly Route[];
  /** Runs once, before the server handles its first message, and before the hooks of its providers. */
  onStart?(server: Server): void | Promise<void>;
  /** Runs once, after the server has handled its last message, and after the hooks of its providers. */
  onClose?(): void | Promise<void>;
}

const KEYS: OptionTypes<PluginDefinition> = {
  name: 'string',
  needs: 'array',
  providers: 'array',
  interceptors: 'array',
  extensions: 'array',
  access: 'function',
  observe: 'function',
  ended: 'function',
  ask: 'function',
  session: 'function',
  detached: 'function',
  routes: 'array',
  onStart: 'function',
  onClose: 'function',
};

const invalid = (problem: string) => startupError('DECORUM_INVALID_PLUGIN', problem);

/**
 * Rejects plugins that are invalid, or that can't be used together.
 * @throws {DecorumError} `DECORUM_INVALID_PLUGIN`, `DECORUM_INVALID_OPTION`, `DECORUM_DUPLICATE_PLUGIN`,
 *   `DECORUM_MISSING_PLUGIN`, `DECORUM_DUPLICATE_ROUTE`
 */
export function checkPlugins(plugins: readonly PluginDefinition[]): readonly PluginDefinition[] {
  const names = new Set<string>();
  for (const plugin of plugins) {
    const name = requirePlugin(plugin);
    if (names.has(name)) throw startupError('DECORUM_DUPLICATE_PLUGIN', name);
    names.add(name);
  }
  checkRoutes(plugins);
  for (const { name, needs = [] } of plugins) {
    const missing = needs.find((each) => !names.has(each));
    if (missing !== undefined) throw startupError('DECORUM_MISSING_PLUGIN', name, missing, names);
  }
  return plugins;
}

function requirePlugin(plugin: unknown): string {
  if (typeof plugin === 'function')
    throw invalid('a function instead of the plugin that it creates. Call it, as in `plugins: [audit()]`');
  if (isPromise(plugin)) throw invalid('a promise. Await it');
  if (typeof plugin !== 'object' || plugin === null)
    throw invalid(`${String(plugin)}, which is not a plugin. Create one with \`definePlugin\``);
  const { name, interceptors = [] } = plugin as Partial<PluginDefinition>;
  if (typeof name !== 'string' || name === '')
    throw invalid("a plugin without a name. Give it one, as in `name: 'audit'`");
  const where = `The plugin "${name}"`;
  requireOptions(where, plugin, KEYS);
  requireInterceptors(interceptors, where);
  return name;
}

/** The hooks of a plugin. Their errors name the plugin. */
export function hooksOf(plugin: PluginDefinition<object>) {
  return {
    // the server names it in errors
    constructor: { name: `the plugin "${plugin.name}"` },
    async onStart(server: object) {
      try {
        await plugin.onStart?.(server);
      } catch (error) {
        throw startupError('DECORUM_PLUGIN_FAILED', plugin.name, error);
      }
    },
    async onClose() {
      try {
        await plugin.onClose?.();
      } catch (cause) {
        throw new Error(`The plugin "${plugin.name}" failed in \`onClose\`.`, { cause });
      }
    },
  };
}

/** The functions of plugins that observe a server at run time; undefined if there are none. */
export function observingOf(plugins: readonly PluginDefinition[]): Observing | undefined {
  const hooks = <Call>(
    name: 'observe' | 'ended' | 'ask' | 'session' | 'detached',
    call: (plugin: PluginDefinition) => Call,
  ) => plugins.flatMap((each) => (each[name] === undefined ? [] : [{ plugin: each.name, name, call: call(each) }]));
  const observing: Observing = {
    requests: {
      around: hooks('observe', (plugin) => (request, run) => plugin.observe?.(request, run)),
      told: hooks('ended', (plugin) => (request, outcome) => plugin.ended?.(request, outcome)),
    },
    questions: { around: hooks('ask', (plugin) => (question, run) => plugin.ask?.(question, run)), told: [] },
    sessions: hooks('session', (plugin) => (info) => plugin.session?.(info)),
    detached: hooks('detached', (plugin) => (request) => plugin.detached?.(request)),
  };
  const { requests, questions, sessions, detached } = observing;
  const all = [requests.around, requests.told, questions.around, sessions, detached];
  return all.some(({ length }) => length > 0) ? observing : undefined;
}

/** What decides which tools a server lists: one of its plugins, or undefined. */
export const catalogOf = (plugins: readonly PluginDefinition[]): ToolCatalog | undefined =>
  plugins.map((plugin) => (plugin as { readonly [TOOL_CATALOG]?: ToolCatalog })[TOOL_CATALOG]).find((each) => each);

/** The answer of a plugin. A function without one hides every member, and would do so without a word. */
function decided(answer: boolean | undefined, { where }: PluginMember): boolean {
  if (answer !== undefined) return answer;
  throw new TypeError(`\`access\` returned undefined for ${where}. Return true or false, or a promise of one.`);
}

/** The condition that plugins set for each member; undefined without such plugins. */
export function gateOf(plugins: readonly PluginDefinition[], report: (error: unknown) => void): Gate | undefined {
  const deciding = plugins.filter((plugin) => plugin.access !== undefined);
  if (deciding.length === 0) return undefined;
  const failed = reportingOnce(report, 'What it does not decide about stays hidden.');
  return (member) => (principal, transport, asked) => {
    const { client, revision, sessionId, meta } = asked;
    const caller: PluginCaller = { principal, transport, client, revision, sessionId, meta };
    const admits = (plugin: PluginDefinition) =>
      answerOf(
        () => andThen(plugin.access?.(member, caller), (answer) => decided(answer, member)),
        { principal, transport, caller: asked },
        (error) => failed({ plugin: plugin.name, name: 'access', call: undefined }, error),
      );
    return deciding.reduce<boolean | Promise<boolean>>(
      (met, plugin) => andThen(met, (is) => is && admits(plugin)),
      true,
    );
  };
}

interface Extensible {
  readonly plugins?: readonly PluginDefinition[];
  readonly providers?: readonly ProviderSource[];
  readonly interceptors?: readonly AnyInterceptor[];
  readonly extensions?: readonly Extension[];
}

/** Adds the providers, interceptors and extensions of plugins to a server's options. */
export function withPlugins<O extends Extensible>(options: O, plugins: readonly PluginDefinition[]): O {
  if (plugins.length === 0) return options;
  const { providers = [], interceptors = [], extensions = [] } = options;
  return {
    ...options,
    providers: [...providers, ...plugins.flatMap((plugin) => plugin.providers ?? [])],
    interceptors: [...plugins.flatMap((plugin) => plugin.interceptors ?? []), ...interceptors],
    extensions: [...extensions, ...plugins.flatMap((plugin) => plugin.extensions ?? [])],
  };
}
