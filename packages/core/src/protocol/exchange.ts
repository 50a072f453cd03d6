import { isObject, isRequestId } from './checks.js';
import { McpError } from './errors.js';
import type { JsonRpcRequest } from './jsonrpc.js';
import { type ClientCapabilities, type Implementation, type JsonObject, LOG_LEVELS, type LogLevel } from './model.js';
import type { RequestId } from './model.js';
import type { Question, Revision } from './revisions/revision.js';
import type { Wire } from './wire.js';

/** What is known of the client that sent a request. */
export interface Client {
  readonly info: Implementation | undefined;
  readonly capabilities: ClientCapabilities;
}

const NO_PARAMS: JsonObject = Object.freeze({});

/** One request under way: where it came from, in which revision, and how to reach its sender. */
export abstract class Exchange {
  readonly id: RequestId;
  readonly method: string;
  readonly params: JsonObject;
  /** The client's token for progress notifications; 0 and the empty string are tokens too. */
  readonly progressToken: RequestId | undefined;
  private controller: AbortController | undefined;
  private state: 'open' | 'cancelled' | 'closed' = 'open';

  protected constructor(
    request: JsonRpcRequest,
    readonly revision: Revision,
    readonly wire: Wire,
  ) {
    this.id = request.id;
    this.method = request.method;
    this.params = request.params ?? NO_PARAMS;
    const token = this.meta?.['progressToken'];
    if (token !== undefined && !isRequestId(token)) {
      throw new McpError('invalid-params', 'The progressToken is neither a string nor an integer.');
    }
    this.progressToken = token;
  }

  abstract readonly client: Client;
  abstract readonly sessionId: string | undefined;

  /** The least severe level the client wants to see; undefined when it wants none. */
  abstract readonly logLevel: LogLevel | undefined;

  /**
   * Asks the client and waits for its answer.
   * @throws {McpError} when the client answers with an error, does not answer in time, or the request is cancelled
   */
  abstract ask(question: Question): Promise<JsonObject>;

  /** The request's `_meta`. */
  get meta(): JsonObject | undefined {
    const meta = this.params['_meta'];
    return isObject(meta) ? meta : undefined;
  }

  /** Aborts when the client cancels, and when the server stops waiting. Made on first use: most handlers never look. */
  get signal(): AbortSignal {
    this.controller ??= new AbortController();
    if (this.state === 'cancelled' && !this.controller.signal.aborted) this.controller.abort();
    return this.controller.signal;
  }

  get cancelled(): boolean {
    return this.state === 'cancelled';
  }

  /** Gives the request up: nothing more is sent for it. */
  cancel(reason?: string): void {
    if (this.state !== 'open') return;
    this.state = 'cancelled';
    this.controller?.abort(new DOMException(reason ?? 'The request was cancelled.', 'AbortError'));
  }

  /** The handler is done: later notifications of it are dropped. */
  close(): void {
    if (this.state === 'open') this.state = 'closed';
  }

  /** Sends a notification that belongs to this request, as long as it is under way. */
  notify(method: string, params: JsonObject): void {
    if (this.state === 'open') this.wire.send(this.revision.notification(method, params));
  }

  /** Whether the client wants to see log messages of this level. */
  logs(level: LogLevel): boolean {
    const threshold = this.logLevel;
    return threshold !== undefined && LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(threshold);
  }
}
