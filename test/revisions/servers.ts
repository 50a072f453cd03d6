import {
  type Context,
  type JsonObject,
  McpServer,
  type McpServerOptions,
  NoInput,
  type ToolOptions,
  type SchemaSource,
} from '@decorum/core';

/** A logger that records its entries. */
export class Log {
  readonly entries: { readonly details: object; readonly message: string }[] = [];

  warn(details: object, message: string): void {
    this.entries.push({ details, message });
  }

  error(details: object, message: string): void {
    this.entries.push({ details, message });
  }
}

/** A server that logs to memory. */
export function serverOf(options: Partial<McpServerOptions> = {}): McpServer {
  return new McpServer({ name: 'revisions', version: '1.0.0', logger: new Log(), ...options });
}

/** The handler of a tool in `serverWith`. */
export type Handler = (context: Context, input: JsonObject) => unknown;

/** A server with tools by name. They accept any arguments unless `input` is set. */
export function serverWith(
  tools: Readonly<Record<string, Handler>>,
  { input, output, ...options }: Partial<McpServerOptions> & Pick<ToolOptions, 'input' | 'output'> = {},
): McpServer {
  const server = serverOf(options);
  for (const [name, handler] of Object.entries(tools)) {
    const schemas = { input: input ?? (handler.length > 1 ? { type: 'object' } : NoInput), ...(output && { output }) };
    const run = (args: JsonObject, context: Context) => handler(context, args);
    // the static types of the schemas are lost here
    server.addTool({ name, ...schemas } as { name: string; input: SchemaSource }, run as never);
  }
  return server;
}

/** A promise that the test settles. */
export function deferred<T = void>() {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
