import type { JsonObject, OptionTypes } from '@decorum/schema/internal';

import type { Effect, EffectLog } from '../../protocol/effects.js';
import type { CallToolResult, Resource, Tool } from '../../protocol/model.js';
import type { TagVisibility } from '../../protocol/access-caller.js';
import type { Client } from '../../protocol/client.js';
import type { Cancellation } from '../../protocol/reply.js';
import type { Question } from '../../protocol/revisions/revision.js';
import type { Principal, TransportInfo } from '../../protocol/wire.js';
import type { ExtendedResource } from '../../registry/resource-plan.js';
import type { Context } from '../context.js';

/** Who may use an extension: clients that declare it, or all. */
export type ExtensionCallers = 'declared' | 'all';

/** Handles a method of an extension. Returns the result, or throws an `McpError`. */
export type ExtensionHandler = (params: JsonObject, ctx: Context) => JsonObject | Promise<JsonObject>;

/** A method of an extension. */
export interface ExtensionMethod {
  /** Handles the method. */
  readonly handle: ExtensionHandler;
  /** The param that names the subject of the request. Over HTTP, clients repeat it in `Mcp-Name`. */
  readonly subject?: string;
  /** Ids of the revisions that have the method. Defaults to all with extensions: 2025-11-25 and 2026-07-28. */
  readonly revisions?: readonly string[];
  /** Who may call the method. Defaults to `callers` of the extension. */
  readonly callers?: ExtensionCallers;
  /**
   * The scopes that callers need: for `list` those of a list of members, which is open to everybody if the server has
   * public members; for `read` those of the resource that the param `uri` names. Defaults to what the transport requires
   * of every request.
   */
  readonly needs?: 'list' | 'read';
}

/** For whom the entry of a tool is written. */
export interface ToolVariant {
  /** The id of the protocol revision. */
  readonly revision: string;
  /** Whether the client declares the extension. */
  readonly declared: boolean;
}

/** A call of a tool: everything that is needed to run it apart from its request. It can be written as JSON. */
export interface ToolCall {
  /** The tool's name. */
  readonly tool: string;
  readonly args: JsonObject;
  /** The request's `_meta`. */
  readonly meta?: JsonObject | undefined;
  /** The id of the protocol revision. */
  readonly revision: string;
  readonly client: Client;
  readonly principal?: Principal | undefined;
  readonly sessionId?: string | undefined;
  /** The tags that the session showed and hid. */
  readonly visibility?: TagVisibility | undefined;
  readonly transport: TransportInfo;
}

/** Where the handler of a tool runs when it runs apart from its request. */
export interface RunHost {
  /** What `ctx.requestId` is. Effects get keys that are derived from it. */
  readonly id: string;
  /** The results of effects that ran earlier. */
  readonly effects?: Iterable<Effect>;
  /** What is told of effects. If it throws, so does `ctx.once`. */
  readonly log?: EffectLog;
  /** Whether the handler repeats work of an earlier run. */
  readonly replaying?: boolean;
  /** Asks the client. */
  ask(question: Question): Promise<JsonObject>;
  /**
   * Waits while the handler sleeps. Without it, the handler waits for a timer.
   * @param end milliseconds since 1970
   * @param signal aborts when the run is cancelled: reject then
   */
  sleep?(end: number, signal: AbortSignal): Promise<void>;
  /** Receives the progress of the handler. */
  progress?(progress: number, total: number | undefined, message: string | undefined): void;
  /** Receives a notification that the handler sends, such as a log message. */
  notify?(method: string, params: JsonObject): void;
}

/** A handler that runs apart from its request. */
export interface Run {
  /**
   * Rejects with an `McpError` for what would be a JSON-RPC error or if the credentials of the caller are revoked, with
   * an `AbortError` once the run is cancelled, and with the `InputSignal` that `ask` of the host has thrown.
   */
  readonly result: Promise<CallToolResult>;
  /** Resolves once the handler has ended. That may be long after the run was cancelled. */
  readonly ended: Promise<void>;
  /** Aborts `ctx.signal`, and rejects pending questions. The handler can ask nothing more, and runs no further effects. */
  cancel(why: Cancellation, reason?: string): void;
}

/** A call that an extension may take over. */
export interface StartingCall {
  readonly call: ToolCall;
  /** The context of the request. */
  readonly ctx: Context;
  /** The params as sent. */
  readonly params: JsonObject;
  /** Whether the client declares the extension. */
  readonly declared: boolean;
  /** The results of effects that ran so far, in earlier rounds and in this one. */
  effects(): readonly Effect[];
  /** Asks the client within the request: in its session, or by ending its round. */
  ask(question: Question): Promise<JsonObject>;
  /** The `input_required` result that ends the round; undefined if `ask` hasn't ended it. */
  interim(): Promise<JsonObject> | undefined;
  /** Runs the handler apart from the request. Its access has been checked. */
  detach(host: RunHost): Run;
}

/** A notification to a client. */
export interface ExtensionNotification {
  readonly method: string;
  readonly params: JsonObject;
}

/** What a client follows with a field of `subscriptions/listen`. */
export interface Followed {
  /** The value of the field in the acknowledgement. */
  readonly ack: unknown;
  /** The notification for what an extension published; undefined if the client doesn't follow it. */
  notification(published: JsonObject): ExtensionNotification | undefined | Promise<ExtensionNotification | undefined>;
}

/** A client with a session, as extensions see it. */
export interface SessionClient {
  readonly id: string | undefined;
  /** The id of the protocol revision. */
  readonly revision: string;
  readonly client: Client;
  readonly principal: Principal | undefined;
}

/** What a server does for an extension. */
export interface ExtensionHost {
  /** The server's name. */
  readonly server: string;
  /** Whether other processes serve the same clients: the server has a `cluster`. */
  readonly isClustered: boolean;
  /** Whether another server mounts this one, so that it may have no clients of its own. */
  readonly isMounted: boolean;
  /** The options of a tool; undefined if the server has no such tool. */
  optionsOf(tool: string): JsonObject | undefined;
  /**
   * Whether the caller of a request may call a tool: by its `access`, tags and scopes. True for a tool that the server
   * doesn't have.
   * @param ctx the context of the request
   */
  admits(tool: string, ctx: Context): boolean | Promise<boolean>;
  /** The entry of the resource with a fixed URI; undefined if the server has no such resource. */
  resource(uri: string): Resource | undefined;
  /**
   * Runs a tool apart from any request. Arguments, access and scopes are checked again.
   * @throws {McpError} `unknown-tool`, or the denial of a caller that lacks scopes
   */
  run(call: ToolCall, host: RunHost): Run;
  /** Writes the result of a tool in the format of a revision. */
  writeResult(revision: string, tool: string, result: CallToolResult): JsonObject;
  /** Writes the params of a question in the format of a revision; undefined if it doesn't have the question. */
  writeQuestion(revision: string, question: Pick<Question, 'method' | 'params'>): JsonObject | undefined;
  /** The code of an error in a revision. */
  codeOf(revision: string, error: Error): number;
  /** Publishes something to this extension in every process of the server, and to clients that follow it. */
  publish(data: JsonObject): void;
  /** Calls a function with everything that is published. Returns a function that ends that. */
  subscribe(listener: (published: JsonObject) => void): () => void;
  /** Seals text with the server's secret. Undefined if none is configured. */
  readonly seal: ((text: string, binding: string) => string) | undefined;
  /** Opens sealed text; undefined if it was altered, has another binding, or was sealed with an unknown secret. */
  open(sealed: string, binding: string): string | undefined;
  /** Reports an error, which no client sees, to the server's logger and `onError`. */
  report(error: unknown, message?: string): void;
}

/**
 * A protocol extension: methods of its own, and what it changes about tools. All functions are called as methods of this
 * object.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/index
 */
export interface Extension {
  /** A reverse domain name, a slash and a name, such as `com.example/feature`. */
  readonly id: string;
  /** Settings that the server declares for the extension. */
  readonly settings?: JsonObject;
  /** Who may call its methods. Defaults to `declared`. */
  readonly callers?: ExtensionCallers;
  /** Whether a client with these settings counts as one that declares the extension. Defaults to any. */
  accepts?(settings: JsonObject): boolean;
  /** Handlers by method name. They return JSON, and throw `McpError`s. */
  readonly methods?: Readonly<Record<string, ExtensionHandler | ExtensionMethod>>;
  /** The capabilities that the server declares, which may depend on the caller. Defaults to `settings` among `extensions`. */
  capabilities?(revision: string, caller: { readonly principal: Principal | undefined }): JsonObject | undefined;
  /** Types of the options that it adds to tools. Declare them in the interface `ExtensionToolOptions`. */
  readonly toolOptions?: OptionTypes;
  /**
   * Changes the entry of a tool with such options in `tools/list`, for each revision, and for clients that have declared
   * the extension and others. Undefined hides the tool, also from calls.
   */
  tool?(entry: JsonObject, options: JsonObject, variant: ToolVariant): JsonObject | undefined;
  /**
   * Called for the options of a tool whose server is mounted with other URIs. Return the options with
   * `move(uri)` for each URI in them.
   * @param move the URI that clients know
   */
  moved?(options: JsonObject, move: (uri: string) => string): JsonObject;
  /**
   * Called for each tool when it is added. Throw for options that are wrong. The function that it returns may answer calls
   * in place of the handler. Calls are started only in revisions with extensions.
   * @returns a function that may start calls in place of the handler, and returns the result; undefined leaves a call
   *   to the handler
   */
  start?(tool: Tool, options: JsonObject): ((starting: StartingCall) => Promise<JsonObject> | undefined) | undefined;
  /** Types of the options that it adds to resources. */
  readonly resourceOptions?: OptionTypes;
  /**
   * Called for each resource with such options when it is added. Throw for options that are wrong.
   * @param uri the URI with the prefix of its provider, or a template
   */
  resource?(uri: string, options: JsonObject): ExtendedResource;
  /**
   * What clients can follow with `subscriptions/listen`, by field: what is acknowledged, and the notification for each
   * thing that is published. Undefined ignores the field.
   */
  readonly listen?: Readonly<
    Record<string, (asked: unknown, ctx: Context) => Followed | undefined | Promise<Followed | undefined>>
  >;
  /** The notification that a session gets for what the extension published; undefined if it gets none. */
  session?(
    published: JsonObject,
    client: SessionClient,
  ): ExtensionNotification | undefined | Promise<ExtensionNotification | undefined>;
  /** Called once, before the server handles its first message. */
  open?(host: ExtensionHost): void | Promise<void>;
  /** Called once, when the server begins to close, even if it was never opened. It waits for handlers afterwards. */
  stop?(): void;
}
