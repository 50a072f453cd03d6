import {
  type Context,
  type JsonObject,
  McpServer,
  type McpServerOptions,
  NoInput,
  type ToolOptions,
  type SchemaSource,
} from '@decorum/core';

/** A logger that keeps what it is given. */
export class Log {
  readonly entries: { readonly details: object; readonly message: string }[] = [];

  warn(details: object, message: string): void {
    this.entries.push({ details, message });
  }

  error(details: object, message: string): void {
    this.entries.push({ details, message });
  }
}

/** A server that keeps its log to itself. */
export function serverOf(options: Partial<McpServerOptions> = {}): McpServer {
  return new McpServer({ name: 'revisions', version: '1.0.0', logger: new Log(), ...options });
}

/** A tool of a server made by `serverWith`. */
export type Handler = (context: Context, input: JsonObject) => unknown;

/** A server with tools by name, which take any arguments unless `input` says which. */
export function serverWith(
  tools: Readonly<Record<string, Handler>>,
  { input, output, ...options }: Partial<McpServerOptions> & Pick<ToolOptions, 'input' | 'output'> = {},
): McpServer {
  const server = serverOf(options);
  for (const [name, handler] of Object.entries(tools)) {
    const schemas = { input: input ?? (handler.length > 1 ? { type: 'object' } : NoInput), ...(output && { output }) };
    const run = (args: JsonObject, context: Context) => handler(context, args);
    // what the schemas say of the types is lost on the way here
    server.addTool({ name, ...schemas } as { name: string; input: SchemaSource }, run as never);
  }
  return server;
}

/** A promise that tests settle from outside. */
export function deferred<T = void>() {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
