import { type CallToolResult, type Class, type Jsonified, ToolError, type ToolResult } from '@decorum/core';
import { scanMembers } from '@decorum/core/internal';
import { startupError } from '@decorum/core/plugin';

import type { RequestOptions } from './request.js';

/** Where the tools of a provider are at a server that mounts it. */
export interface RemoteOptions {
  /** Before the name of each tool. */
  readonly prefix?: string;
  /** Between prefix and name. Defaults to `_`. */
  readonly separator?: string;
}

/** What the client gets of what a tool returns. */
type Returned<R> =
  R extends AsyncGenerator<unknown, infer Last>
    ? Jsonified<Last>
    : Awaited<R> extends ToolResult
      ? unknown
      : Jsonified<Awaited<R>>;

/** The tools of a provider as methods: they take the input in the form of JSON, and options of the request. */
export type Remote<T> = {
  readonly [K in keyof T as T[K] extends (...args: never[]) => unknown ? K : never]: T[K] extends (
    ...args: infer A
  ) => infer R
    ? (
        input?: A extends readonly [infer I, ...unknown[]] ? Jsonified<I> : object,
        options?: RequestOptions,
      ) => Promise<Returned<R>>
    : never;
};

/** Calls a tool. */
type CallTool = (name: string, args?: object, options?: RequestOptions) => Promise<CallToolResult>;

/**
 * Creates a method for each tool of a provider.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION` if it has none
 */
export function remoteOf<T>(call: CallTool, cls: Class<T>, { prefix, separator = '_' }: RemoteOptions): Remote<T> {
  const tools = scanMembers(cls as Class).filter((record) => record.kind === 'tool');
  if (tools.length === 0) throw startupError('DECORUM_INVALID_OPTION', 'client.as', 'cls', 'has no method with @Tool');
  const methods = tools.map(({ key, options: { name = key } }) => {
    const there = prefix === undefined ? name : `${prefix}${separator}${name}`;
    const method = async (input?: object, options?: RequestOptions) => valueOf(await call(there, input, options));
    return [key, method] as const;
  });
  const others = methodsOf(cls as Class).map(
    (key) =>
      [
        key,
        refusing(
          cls.name,
          key,
          tools.map((tool) => tool.key),
        ),
      ] as const,
  );
  return Object.fromEntries([...others, ...methods]) as unknown as Remote<T>;
}

/** The names of all methods of a class. */
function methodsOf({ prototype }: Class): string[] {
  const found: string[] = [];
  for (let at: object = prototype as object; at !== Object.prototype; at = Object.getPrototypeOf(at) as object) {
    const own = Object.entries(Object.getOwnPropertyDescriptors(at));
    found.push(
      ...own.filter(([key, { value }]) => key !== 'constructor' && typeof value === 'function').map(([key]) => key),
    );
  }
  return found;
}

/** Stands for a method that clients can't call. The types of decorators don't tell which those are. */
const refusing = (owner: string, key: string, tools: readonly string[]) => async () => {
  throw new TypeError(`${owner}.${key} is not a tool, so clients can't call it. The tools are ${tools.join(', ')}.`);
};

/** What a tool has returned: its structured content, else its text, else its content. */
function valueOf({ content, structuredContent, isError }: CallToolResult): unknown {
  const [first] = content;
  const text = content.length === 1 && first?.type === 'text' ? first.text : undefined;
  if (isError === true) throw new ToolError(text ?? 'The tool has failed.');
  return structuredContent ?? text ?? content;
}
