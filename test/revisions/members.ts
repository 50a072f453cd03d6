// Members of each kind that all do the same, and requests that run them.
import {
  Completion,
  type CompletionContext,
  type Context,
  type InputRequest,
  type JsonObject,
  needInput,
  NoInput,
  Prompt,
  Resource,
  Tool,
} from '@decorum/core';

/** What all members do. */
export type Work = (context: Context, input: JsonObject) => unknown;

const AT: JsonObject = { type: 'object', properties: { at: {} } };

/** Creates a class with one member of each kind, with these options of each, and URIs of a scheme. */
export function membersOf(work: Work, options: object = {}, scheme = 'docs') {
  class Members {
    @Tool({ input: AT, ...options })
    tool(input: JsonObject, context: Context) {
      return work(context, input);
    }

    @Prompt({ input: AT, ...options })
    prompt(input: JsonObject, context: Context) {
      return work(context, input);
    }

    @Resource(`${scheme}://fixed`, options)
    fixed(_input: NoInput, context: Context) {
      return work(context, {});
    }

    @Resource(`${scheme}://{at}`, { input: AT, list: 'listed', ...options })
    page(input: JsonObject, context: Context) {
      return work(context, input);
    }

    @Completion({ for: ['prompt', 'page'], argument: 'at' })
    async ats(_value: string, context: CompletionContext) {
      return [(await work(context, {})) as string];
    }

    async listed(context: Context) {
      return [`${scheme}://${String(await work(context, {}))}`];
    }
  }
  return Members;
}

/** Requests for each kind of member that may ask the client. */
export const ASKING: readonly (readonly [method: string, params: JsonObject])[] = [
  ['tools/call', { name: 'tool' }],
  ['prompts/get', { name: 'prompt' }],
  ['resources/read', { uri: 'docs://fixed' }],
  ['resources/read', { uri: 'docs://a' }],
];

/** Requests for each kind of member. */
export const RUNNING: typeof ASKING = [
  ...ASKING,
  ['resources/list', {}],
  ['completion/complete', { ref: { type: 'ref/resource', uri: 'docs://{at}' }, argument: { name: 'at', value: '' } }],
];

/** Work that returns a question, and then a text. */
export const returned =
  (method: InputRequest['method'], params?: JsonObject): Work =>
  (context) =>
    context.answers ? 'done' : needInput({ own: { method, ...(params && { params }) } });
