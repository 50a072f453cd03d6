import { definePlugin, type ObservedRequest, reportTo, type RequestOutcome } from '@decorum/core/plugin';

import { type RecorderOptions, type RecorderSettings, settingsOf } from './options.js';
import { type EndedCall, type Origin, type Recording } from './recording.js';
import { decorumVersion } from './version.js';
import { Writer } from './writer.js';

/** The methods that call a member, with its kind. */
const KINDS: ReadonlyMap<string, Recording['member']['kind']> = new Map([
  ['tools/call', 'tool'],
  ['prompts/get', 'prompt'],
  ['resources/read', 'resource'],
  ['completion/complete', 'completion'],
]);

/** Whether a call may be kept, before it is known how it ends. */
const mayKeep = ({ when }: RecorderSettings): boolean => typeof when !== 'number' || Math.random() < when;

function isKept({ when }: RecorderSettings, request: ObservedRequest, outcome: RequestOutcome): boolean {
  // the call goes on with another request
  if (outcome.status === 'input-required') return false;
  if (typeof when === 'function') return isTrue(when(request, outcome));
  return when !== 'failed' || outcome.status !== 'ok';
}

/** The answer of the user's function. A promise that rejects would end the process. */
function isTrue(answer: unknown): boolean {
  if (!(answer instanceof Promise)) return Boolean(answer);
  answer.catch(() => undefined);
  throw new TypeError('`when` of `recorder` must return a boolean, not a promise.');
}

/**
 * Creates a plugin that keeps calls in files, such as those that failed, so that `decorum replay` can make them again.
 * Values that look like secrets are replaced by placeholders. A disk that is full never disturbs a call: the server
 * tells its `onError`.
 * @param options the folder, which calls to keep, and what to replace
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 * @example
 * ```ts
 * import { McpServer } from '@decorum/core';
 * import { recorder } from '@decorum/audit';
 *
 * new McpServer({ name: 'shop', version: '1.0.0', plugins: [recorder({ folder: 'recordings' })] });
 * ```
 */
export const recorder = definePlugin((options: RecorderOptions) => {
  const settings = settingsOf(options);
  /** The params of calls, or undefined if they are too long. */
  const called = new WeakMap<ObservedRequest, string | undefined>();
  const writer = new Writer(settings);
  let origin: Origin | undefined;
  return {
    name: 'recorder',

    onStart(server) {
      const { name, version } = server.info;
      origin = { server: { name, version }, decorum: decorumVersion() };
      writer.open((error) => reportTo(server, error, 'the recorder'));
    },

    async onClose() {
      await writer.flush();
    },

    observe(request) {
      if (!KINDS.has(request.method) || request.id === undefined || !mayKeep(settings)) return;
      const { paramsText } = request;
      called.set(request, paramsText.length > settings.maxBytes ? undefined : paramsText);
    },

    ended(request, outcome) {
      const kind = KINDS.get(request.method);
      if (kind === undefined || origin === undefined || request.revision === undefined || !called.has(request)) return;
      if (!isKept(settings, request, outcome)) return;
      const call: EndedCall = { request, outcome, kind, params: called.get(request), at: new Date().toISOString() };
      writer.add(call, origin);
    },
  };
});
