import type {
  CallToolResult,
  GetPromptResult,
  Implementation,
  JsonObject,
  LogLevel,
  PromptEntry,
  ReadResourceResult,
  ResourceEntry,
  ResourceTemplateEntry,
  ServerCapabilities,
  ToolEntry,
} from '@decorum/core';

import type { Connection, RequestOptions } from './connection.js';
import type { Notification } from './inbox.js';

/** The prompt or resource template that an argument belongs to: `{ prompt: 'pack' }` or `{ resource: 'weather://{city}' }`. */
export type CompletionReference = { readonly prompt: string } | { readonly resource: string };

/** What a server says of itself when a session begins (MCP, `InitializeResult`). */
export interface InitializeResult {
  readonly protocolVersion: string;
  readonly capabilities: ServerCapabilities;
  readonly serverInfo: Implementation;
  readonly instructions?: string;
}

/**
 * An MCP client in the process of the server. `connect` makes one. Every message is written as JSON and read again, as
 * on a real connection, and results are those of the client's revision. Every method rejects with an `McpError` when
 * the server answers with an error, and with an `Error` when the client or the server closes before it answers.
 */
export class TestClient {
  readonly #connection: Connection;

  /**
   * Use `connect`.
   * @param connection an open conversation
   * @param initialized what the server said of itself; undefined in the stateless era, which has no such beginning
   */
  constructor(
    connection: Connection,
    readonly initialized: InitializeResult | undefined,
  ) {
    this.#connection = connection;
  }

  /** The revision that is spoken. */
  get revision(): string {
    return this.initialized?.protocolVersion ?? this.#connection.identity.revision;
  }

  /** All tools, from all pages. */
  async listTools(): Promise<readonly ToolEntry[]> {
    return await this.#list<ToolEntry>('tools/list', 'tools');
  }

  /**
   * Calls a tool. A failure that is for the model is a result with `isError`; only errors of the protocol reject.
   * @param args the arguments, as the client would write them
   */
  async callTool(name: string, args: object = {}, options: RequestOptions = {}): Promise<CallToolResult> {
    return await this.#converse<CallToolResult>('tools/call', { name, arguments: args }, options);
  }

  /** All resources, from all pages. */
  async listResources(): Promise<readonly ResourceEntry[]> {
    return await this.#list<ResourceEntry>('resources/list', 'resources');
  }

  /** All resource templates, from all pages. */
  async listResourceTemplates(): Promise<readonly ResourceTemplateEntry[]> {
    return await this.#list<ResourceTemplateEntry>('resources/templates/list', 'resourceTemplates');
  }

  async readResource(uri: string, options: RequestOptions = {}): Promise<ReadResourceResult> {
    return await this.#converse<ReadResourceResult>('resources/read', { uri }, options);
  }

  /** Wants to hear of updates of a resource: they come as `notifications/resources/updated`. */
  async subscribe(uri: string): Promise<void> {
    await this.request('resources/subscribe', { uri });
  }

  async unsubscribe(uri: string): Promise<void> {
    await this.request('resources/unsubscribe', { uri });
  }

  /** All prompts, from all pages. */
  async listPrompts(): Promise<readonly PromptEntry[]> {
    return await this.#list<PromptEntry>('prompts/list', 'prompts');
  }

  async getPrompt(name: string, args: object = {}, options: RequestOptions = {}): Promise<GetPromptResult> {
    return await this.#converse<GetPromptResult>('prompts/get', { name, arguments: args }, options);
  }

  /**
   * What an argument may be completed to.
   * @param argument its name, and what is typed so far
   * @param context arguments that are filled in already
   */
  async complete(
    reference: CompletionReference,
    argument: { readonly name: string; readonly value: string },
    context?: Readonly<Record<string, string>>,
  ): Promise<{ readonly values: readonly string[]; readonly total?: number; readonly hasMore?: boolean }> {
    const ref =
      'prompt' in reference
        ? { type: 'ref/prompt', name: reference.prompt }
        : { type: 'ref/resource', uri: reference.resource };
    const params = { ref, argument, ...(context && { context: { arguments: context } }) };
    const { completion } = await this.request<{ completion: { values: string[] } }>('completion/complete', params);
    return completion;
  }

  /**
   * Wants log messages of this level and above. In the stateless era each later request says so. The specification has
   * deprecated logging to the client in 2026-07-28.
   */
  async setLogLevel(level: LogLevel): Promise<void> {
    if (this.#connection.identity.era === 'stateless') this.#connection.logLevel = level;
    else await this.request('logging/setLevel', { level });
  }

  /**
   * Sends any request.
   * @returns the `result`, as it came; `T` is what you know of it
   */
  async request<T extends object = JsonObject>(
    method: string,
    params: JsonObject = {},
    options: RequestOptions = {},
  ): Promise<T> {
    return (await this.#connection.request(method, params, options)) as T;
  }

  /** Sends any notification. Resolves when the server has taken it. */
  async notify(method: string, params?: JsonObject): Promise<void> {
    await this.#connection.notify(method, params);
  }

  /** Every notification that came, in order. */
  get notifications(): readonly Notification[] {
    return this.#connection.inbox.all;
  }

  /**
   * The oldest notification of a method that this has not returned before; where there is none yet, the next to come.
   * @throws {Error} when the client closes before one comes
   */
  async nextNotification(method: string): Promise<Notification> {
    return await this.#connection.inbox.next(method);
  }

  /** Ends the conversation. The server goes on. */
  async close(): Promise<void> {
    this.#connection.close();
  }

  /** For `await using`, where your compiler or Node has it. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #converse<T extends object>(method: string, params: JsonObject, options: RequestOptions): Promise<T> {
    return (await this.#connection.converse(method, params, options)) as T;
  }

  async #list<T>(method: string, member: string): Promise<readonly T[]> {
    const entries: T[] = [];
    let cursor: unknown;
    do {
      const page = await this.request(method, cursor === undefined ? {} : { cursor });
      entries.push(...(page[member] as T[]));
      cursor = page['nextCursor'];
    } while (cursor !== undefined);
    return entries;
  }
}
