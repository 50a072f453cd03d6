// One member of each kind that may ask its client.
import {
  type Context,
  type InputRequest,
  type JsonObject,
  needInput,
  NoInput,
  Prompt,
  Resource,
  Tool,
} from '@decorum/core';

/** What the members do: asks, and returns a text when the client has answered. */
export type Way = (context: Context) => unknown;

/** The members. All do the same. */
export class Desk {
  /** How often a member has run. */
  ran = 0;

  constructor(private readonly way: Way = () => 'done') {}

  protected async work(context: Context): Promise<string> {
    this.ran += 1;
    return (await this.way(context)) as string;
  }

  @Tool({ name: 'desk' })
  tool(_input: NoInput, context: Context) {
    return this.work(context);
  }

  @Prompt({ name: 'desk' })
  prompt(_input: NoInput, context: Context) {
    return this.work(context);
  }

  @Resource('desk://fixed')
  fixed(_input: NoInput, context: Context) {
    return this.work(context);
  }

  @Resource('desk://rooms/{id}', { input: { type: 'object', properties: { id: { type: 'string' } } } })
  room(_input: { id?: string }, context: Context) {
    return this.work(context);
  }
}

/** The requests that run them. */
export const REQUESTS: readonly (readonly [method: string, params: JsonObject])[] = [
  ['tools/call', { name: 'desk' }],
  ['prompts/get', { name: 'desk' }],
  ['resources/read', { uri: 'desk://fixed' }],
  ['resources/read', { uri: 'desk://rooms/1' }],
];

/** A way that returns its question. */
export const returned =
  (method: InputRequest['method'], params?: JsonObject): Way =>
  (context) =>
    context.answers ? 'done' : needInput({ own: { method, ...(params && { params }) } });
