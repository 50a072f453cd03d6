import {
  type CallToolResult,
  type CompletionContext,
  type CompletionValues,
  type Context,
  type GetPromptResult,
  type JsonObject,
  McpError,
  type ReadResourceResult,
  ToolError,
} from '@decorum/core';
import { FAILURES, isObject } from '@decorum/core/internal';

import type { Uris } from './uris.js';
import type { Upstreams } from './upstream/upstreams.js';

/** The prompt or template whose argument is to be completed, as the upstream knows it. */
export type CompletionTarget =
  | { readonly type: 'ref/prompt'; readonly name: string }
  | { readonly type: 'ref/resource'; readonly uri: string };

/** Passes calls on to an upstream. Names and URIs are the upstream's own. */
export class Relay {
  /** @param name how callers know the upstream */
  constructor(
    private readonly upstreams: Pick<Upstreams, 'request'>,
    readonly uris: Uris,
    private readonly name: string,
  ) {}

  /** Calls a tool. Its arguments and its structured content are not checked here: the upstream does. */
  async callTool(name: string, args: unknown, ctx: Context): Promise<CallToolResult> {
    const params = { name, ...(args !== undefined && { arguments: args }) };
    const result = await this.request(ctx, { method: 'tools/call', params });
    const { content = [] } = result;
    if (!isList(content)) throw new ToolError(this.invalid);
    return this.uris.inResult({ ...result, content }) as unknown as CallToolResult;
  }

  /** Gets a prompt. */
  async getPrompt(name: string, args: unknown, ctx: Context): Promise<GetPromptResult> {
    const params = { name, ...(args !== undefined && { arguments: args }) };
    const result = await this.request(ctx, { method: 'prompts/get', params });
    if (!isList(result['messages'])) throw new McpError('internal-error', this.invalid);
    return this.uris.inMessages(result) as unknown as GetPromptResult;
  }

  /** Reads a resource. */
  async read(uri: string, ctx: Context): Promise<ReadResourceResult> {
    try {
      const result = await this.request(ctx, { method: 'resources/read', params: { uri } });
      if (!isList(result['contents'])) throw new McpError('internal-error', this.invalid);
      return this.uris.inContents(result, uri) as unknown as ReadResourceResult;
    } catch (error) {
      throw error instanceof McpError ? this.placedError(error, uri) : error;
    }
  }

  /** Completes an argument of a prompt or template. */
  async complete(
    target: CompletionTarget,
    argument: { readonly name: string; readonly value: string },
    ctx: CompletionContext,
  ): Promise<CompletionValues> {
    const filledIn = Object.keys(ctx.args).length > 0 && { context: { arguments: ctx.args } };
    const params: JsonObject = { ref: target, argument, ...filledIn };
    const { completion } = await this.request(ctx, { method: 'completion/complete', params });
    if (!isObject(completion) || !Array.isArray(completion['values'])) {
      throw new McpError('internal-error', this.invalid);
    }
    return completion as unknown as CompletionValues;
  }

  private async request(ctx: Context, request: { readonly method: string; readonly params: JsonObject }) {
    try {
      return await this.upstreams.request(ctx, request);
    } catch (error) {
      throw error instanceof McpError ? this.passable(error, request.method, ctx) : error;
    }
  }

  /** The error for the client. Extensions don't pass, so a client that has declared one must not be told to. */
  private passable(error: McpError, method: string, ctx: Context): Error {
    const { code, data } = error;
    const isMissing = code === FAILURES['missing-capability'].code && isObject(data);
    if (!isMissing || !isObject(data['requiredCapabilities'])) return error;
    const { extensions } = data['requiredCapabilities'];
    const declared: JsonObject = { ...ctx.client.capabilities.extensions };
    const isDeclared = isObject(extensions) && Object.keys(extensions).every((id) => declared[id] !== undefined);
    // by name: the client's revision may have another code for it, or none
    if (!isDeclared) return new McpError('missing-capability', error.message, data);
    const problem = `The server "${this.name}" wants an extension for this, such as tasks, and extensions do not pass a proxy.`;
    return method === 'tools/call' ? new ToolError(problem) : new McpError('internal-error', problem);
  }

  private get invalid(): string {
    return `The server "${this.name}" sent an answer that is not valid.`;
  }

  /** The same error with the URI that the client knows. Revisions differ in the code for unknown resources. */
  private placedError(error: McpError, uri: string): McpError {
    const { message, data } = error;
    if (!isObject(data) || data['uri'] !== uri) return error;
    const placed = { ...data, uri: this.uris.placed(uri) };
    const isUnknown = error.code === FAILURES['unknown-resource'].code;
    return new McpError(isUnknown ? 'unknown-resource' : error.code, message, placed);
  }
}

/** Whether a field of a result is a list of objects. */
const isList = (value: unknown): value is readonly JsonObject[] => Array.isArray(value) && value.every(isObject);
