import type {
  CallToolResult,
  Class,
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

import type { Connection } from './connection.js';
import { type ListenFilter, type Listening, Subscriptions } from './listening.js';
import type { Introduction } from './negotiate.js';
import { listAll, pagesOf } from './pages.js';
import { type Remote, remoteOf, type RemoteOptions } from './remote.js';
import type { RequestOptions } from './request.js';
import { inRounds } from './rounds.js';

/** The prompt or resource template to complete: `{ prompt: 'pack' }` or `{ resource: 'weather://{city}' }`. */
export type CompletionReference = { readonly prompt: string } | { readonly resource: string };

/** Options of `complete`. */
export interface CompleteOptions extends RequestOptions {
  /** Arguments that are already filled in. */
  readonly context?: Readonly<Record<string, string>> | undefined;
}

/** Suggestions for an argument (MCP, `CompleteResult`). */
export interface Completions {
  readonly values: readonly string[];
  readonly total?: number;
  readonly hasMore?: boolean;
}

/** What a client is made of. */
export interface ClientParts {
  readonly connection: Connection;
  readonly introduction: Introduction;
  readonly subscriptions: Subscriptions;
  readonly closed: Promise<Error | undefined>;
}

/**
 * A client of one MCP server. Create one with `connectClient`. Requests reject with an `McpError` if the server answers
 * with an error, and with a `ConnectionError` if there is no answer.
 */
export class Client {
  /** What the server can do. */
  readonly capabilities: ServerCapabilities;
  /** The server's name and version, if it tells them. */
  readonly serverInfo: Implementation | undefined;
  /** What the server tells models about itself. */
  readonly instructions: string | undefined;
  /** Resolves once the connection has ended: with the reason, or with undefined after `close`. */
  readonly closed: Promise<Error | undefined>;
  readonly #connection: Connection;
  readonly #subscriptions: Subscriptions;

  /**
   * Use `connectClient` instead.
   * @param parts an open connection, and what belongs to it
   */
  constructor({ connection, introduction, subscriptions, closed }: ClientParts) {
    this.#connection = connection;
    this.#subscriptions = subscriptions;
    this.capabilities = introduction.capabilities;
    this.serverInfo = introduction.serverInfo;
    this.instructions = introduction.instructions;
    this.closed = closed;
  }

  /** The negotiated revision. */
  get revision(): string {
    return this.#connection.revision;
  }

  /** Whether the revision has no sessions. */
  get isStateless(): boolean {
    return this.#connection.identity.era === 'stateless';
  }

  /**
   * Calls a tool, and answers what it asks by the client's handlers. Errors for the model are results with `isError`;
   * only errors of the protocol reject.
   * @param args the arguments, as the tool's input schema has them
   * @throws {McpError | ConnectionError}
   */
  async callTool(name: string, args: object = {}, options: RequestOptions = {}): Promise<CallToolResult> {
    return (await this.#converse('tools/call', { name, arguments: args }, options)) as unknown as CallToolResult;
  }

  /** Reads a resource. */
  async readResource(uri: string, options: RequestOptions = {}): Promise<ReadResourceResult> {
    return (await this.#converse('resources/read', { uri }, options)) as unknown as ReadResourceResult;
  }

  /** Gets a prompt. */
  async getPrompt(name: string, args: object = {}, options: RequestOptions = {}): Promise<GetPromptResult> {
    return (await this.#converse('prompts/get', { name, arguments: args }, options)) as unknown as GetPromptResult;
  }

  /**
   * Asks for completions of an argument.
   * @param argument its name, and the text typed so far
   */
  async complete(
    reference: CompletionReference,
    argument: { readonly name: string; readonly value: string },
    { context, ...options }: CompleteOptions = {},
  ): Promise<Completions> {
    const ref =
      'prompt' in reference
        ? { type: 'ref/prompt', name: reference.prompt }
        : { type: 'ref/resource', uri: reference.resource };
    const params = { ref, argument, ...(context && { context: { arguments: context } }) };
    const { completion } = await this.#connection.request('completion/complete', params, options);
    return completion as unknown as Completions;
  }

  /**
   * All tools.
   * @throws {ConnectionError} `too-large` for an endless list, `protocol` for a malformed one
   */
  async listTools(options?: RequestOptions): Promise<readonly ToolEntry[]> {
    return (await this.#list('tools/list', 'tools', options)) as unknown as readonly ToolEntry[];
  }

  /** All resources. */
  async listResources(options?: RequestOptions): Promise<readonly ResourceEntry[]> {
    return (await this.#list('resources/list', 'resources', options)) as unknown as readonly ResourceEntry[];
  }

  /** All resource templates. */
  async listResourceTemplates(options?: RequestOptions): Promise<readonly ResourceTemplateEntry[]> {
    const found = await this.#list('resources/templates/list', 'resourceTemplates', options);
    return found as unknown as readonly ResourceTemplateEntry[];
  }

  /** All prompts. */
  async listPrompts(options?: RequestOptions): Promise<readonly PromptEntry[]> {
    return (await this.#list('prompts/list', 'prompts', options)) as unknown as readonly PromptEntry[];
  }

  /** The tools, page by page: a page is asked for when it is needed. */
  tools(options?: RequestOptions): AsyncIterable<ToolEntry> {
    return this.#each<ToolEntry>('tools/list', 'tools', options);
  }

  /** The resources, page by page. */
  resources(options?: RequestOptions): AsyncIterable<ResourceEntry> {
    return this.#each<ResourceEntry>('resources/list', 'resources', options);
  }

  /** The resource templates, page by page. */
  resourceTemplates(options?: RequestOptions): AsyncIterable<ResourceTemplateEntry> {
    return this.#each<ResourceTemplateEntry>('resources/templates/list', 'resourceTemplates', options);
  }

  /** The prompts, page by page. */
  prompts(options?: RequestOptions): AsyncIterable<PromptEntry> {
    return this.#each<PromptEntry>('prompts/list', 'prompts', options);
  }

  /** Subscribes to a resource in a session. Updates arrive at `onNotification`. `listen` works in all revisions. */
  async subscribe(uri: string, options?: RequestOptions): Promise<void> {
    await this.#subscriptions.subscribe(uri, options);
  }

  /** Ends a subscription. */
  async unsubscribe(uri: string, options?: RequestOptions): Promise<void> {
    await this.#subscriptions.unsubscribe(uri, options);
  }

  /**
   * Listens for changes, in all revisions. If the connection breaks, it is opened again; then each kind of change that
   * was asked for is reported once, because one may have been missed.
   * @param filter what to hear of. Defaults to changes of all lists
   */
  async listen(filter?: ListenFilter): Promise<Listening> {
    return await this.#subscriptions.listen(filter);
  }

  /** Asks for log messages of this level and above. In revisions without sessions, each later request carries it. */
  async setLogLevel(level: LogLevel): Promise<void> {
    await this.#subscriptions.setLogLevel(level);
  }

  /** Asks the server whether it is there. In revisions without sessions, which have no `ping`, by `server/discover`. */
  async ping(options?: RequestOptions): Promise<void> {
    await this.#connection.request(this.isStateless ? 'server/discover' : 'ping', {}, options);
  }

  /**
   * Sends any request, once: questions in its result are not answered.
   * @returns the unchecked `result`; `T` is the type you expect
   */
  async request<T extends object = JsonObject>(
    method: string,
    params: JsonObject = {},
    options: RequestOptions = {},
  ): Promise<T> {
    return (await this.#connection.request(method, params, options)) as T;
  }

  /**
   * The tools of a provider class as methods, with the types of its DTOs. Results with `isError` reject with a
   * `ToolError`.
   * @param cls the class that the server provides; its code does not run here
   * @throws {DecorumError} `DECORUM_INVALID_OPTION` if it has no tools
   * @example
   * ```ts
   * import { connectClient } from '@decorum/client';
   *
   * class Clock {
   *   @Tool({ description: 'Tells the time' })
   *   now() {
   *     return { now: new Date() };
   *   }
   * }
   *
   * const client = await connectClient('https://mcp.example.com/mcp');
   * const { now } = await client.as(Clock, { prefix: 'office' }).now();
   * ```
   */
  as<T>(cls: Class<T>, options: RemoteOptions = {}): Remote<T> {
    return remoteOf(async (name, args, request) => await this.callTool(name, args, request), cls, options);
  }

  /** Sends any notification. */
  async notify(method: string, params?: JsonObject): Promise<void> {
    await this.#connection.notify(method, params);
  }

  /** Closes the connection, and ends its program. Calls under way reject. A server in this process stays open. */
  async close(): Promise<void> {
    await this.#connection.close();
  }

  /** For `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #converse(method: string, params: JsonObject, options: RequestOptions): Promise<JsonObject> {
    return await inRounds(this.#connection, { method, params, options });
  }

  async #list(method: string, member: string, options?: RequestOptions): Promise<readonly JsonObject[]> {
    return await listAll(this.#connection, { method, member, options });
  }

  async *#each<T>(method: string, member: string, options?: RequestOptions): AsyncGenerator<T, void, void> {
    for await (const page of pagesOf(this.#connection, { method, member, options })) {
      yield* page as unknown as readonly T[];
    }
  }
}
