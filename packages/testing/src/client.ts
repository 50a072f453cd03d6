import type {
  CallToolResult,
  GetPromptResult,
  JsonObject,
  LogLevel,
  PromptEntry,
  ReadResourceResult,
  ResourceEntry,
  ResourceTemplateEntry,
  ToolEntry,
} from '@decorum/core';

import type { InitializeResult } from '@decorum/client/internal';
import type { Connection } from './connection.js';
import type { RequestOptions } from './request-options.js';
import { converse } from './conversation.js';
import { scriptOf } from './elicits.js';
import type { Frame } from './frames.js';
import type { Notification } from './inbox.js';
import type { Question } from '@decorum/client';
import { callTool } from './task-calls.js';
import type { CallOptions } from './task-types.js';
import { TestTasks } from './tasks.js';

/** The prompt or resource template to complete: `{ prompt: 'pack' }` or `{ resource: 'weather://{city}' }`. */
export type CompletionReference = { readonly prompt: string } | { readonly resource: string };

/**
 * An MCP client for tests. Create one with `connect`. Every message goes through JSON, and results have the format of
 * the client's revision. Requests reject with an `McpError` if the server responds with an error, and with an `Error` if
 * the connection ends before the response.
 */
export class TestClient {
  /** Starts tasks, and does with them what clients do. */
  readonly tasks: TestTasks;
  readonly #connection: Connection;
  #closed: Promise<void> | undefined;

  /**
   * Use `connect` instead.
   * @param connection an open connection
   */
  constructor(connection: Connection) {
    this.#connection = connection;
    this.tasks = new TestTasks(connection);
  }

  /** The server's response to `initialize`; undefined in the stateless era, which doesn't have `initialize`. */
  get initialized(): InitializeResult | undefined {
    return this.#connection.initialized;
  }

  /** The negotiated revision. */
  get revision(): string {
    return this.#connection.revision;
  }

  /** Lists the tools on all pages. */
  async listTools(): Promise<readonly ToolEntry[]> {
    return await this.#list<ToolEntry>('tools/list', 'tools');
  }

  /**
   * Calls a tool. Errors for the model are results with `isError`; only protocol errors reject.
   * @param args the arguments, as a client sends them
   */
  async callTool(name: string, args: object = {}, options: CallOptions = {}): Promise<CallToolResult> {
    const result = await callTool(this.#connection, { name, arguments: args }, options);
    return result as unknown as CallToolResult;
  }

  /** Lists the resources on all pages. */
  async listResources(): Promise<readonly ResourceEntry[]> {
    return await this.#list<ResourceEntry>('resources/list', 'resources');
  }

  /** Lists the resource templates on all pages. */
  async listResourceTemplates(): Promise<readonly ResourceTemplateEntry[]> {
    return await this.#list<ResourceTemplateEntry>('resources/templates/list', 'resourceTemplates');
  }

  async readResource(uri: string, options: RequestOptions = {}): Promise<ReadResourceResult> {
    return await this.#converse<ReadResourceResult>('resources/read', { uri }, options);
  }

  /** Subscribes to a resource. Updates arrive as `notifications/resources/updated`. */
  async subscribe(uri: string): Promise<void> {
    await this.request('resources/subscribe', { uri });
  }

  async unsubscribe(uri: string): Promise<void> {
    await this.request('resources/unsubscribe', { uri });
  }

  /** Lists the prompts on all pages. */
  async listPrompts(): Promise<readonly PromptEntry[]> {
    return await this.#list<PromptEntry>('prompts/list', 'prompts');
  }

  async getPrompt(name: string, args: object = {}, options: RequestOptions = {}): Promise<GetPromptResult> {
    return await this.#converse<GetPromptResult>('prompts/get', { name, arguments: args }, options);
  }

  /**
   * Requests completions for an argument.
   * @param argument name of the argument, and the text typed so far
   * @param context arguments that are already filled in
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
   * Asks for log messages of this level and above. In the stateless era, each later request carries the level. The
   * specification deprecates logging to the client as of 2026-07-28.
   */
  async setLogLevel(level: LogLevel): Promise<void> {
    if (this.#connection.identity.era === 'stateless') this.#connection.logLevel = level;
    else await this.request('logging/setLevel', { level });
  }

  /**
   * Sends any request.
   * @returns the unchecked `result`; `T` is the type you expect
   */
  async request<T extends object = JsonObject>(
    method: string,
    params: JsonObject = {},
    options: RequestOptions = {},
  ): Promise<T> {
    return (await this.#connection.request(method, params, options)) as T;
  }

  /** Sends any notification. Resolves when the server has handled it or, over stdio, once it is sent. */
  async notify(method: string, params?: JsonObject): Promise<void> {
    await this.#connection.notify(method, params);
  }

  /** All notifications received so far, in order. */
  get notifications(): readonly Notification[] {
    return this.#connection.inbox.all;
  }

  /** The server's questions so far, in order. */
  get questions(): readonly Question[] {
    return this.#connection.questions;
  }

  /** All messages so far, in the order in which they were sent and received. */
  get frames(): readonly Frame[] {
    return this.#connection.frames;
  }

  /**
   * Returns the oldest notification of a method that hasn't been returned yet, or waits for the next one.
   * @throws {Error} if the client closes first
   */
  async nextNotification(method: string): Promise<Notification> {
    return await this.#connection.inbox.next(method);
  }

  /**
   * Closes the connection. If the client started a program, ends it. A server in this process stays open.
   * @throws {Error} if `elicits` has unused answers
   */
  async close(): Promise<void> {
    await (this.#closed ??= this.#close());
  }

  /** For `await using`, if your compiler or Node version supports it. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #converse<T extends object>(method: string, params: JsonObject, options: RequestOptions): Promise<T> {
    return (await converse(this.#connection, { method, params, options })) as T;
  }

  async #list<T>(method: string, member: string): Promise<readonly T[]> {
    return (await this.#connection.list(method, member)) as readonly T[];
  }

  async #close(): Promise<void> {
    await this.#connection.close();
    scriptOf(this.#connection.identity.handlers.onElicit)?.requireUsed(this.revision);
  }
}
