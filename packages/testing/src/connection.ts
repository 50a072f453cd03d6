import {
  Connection as ClientConnection,
  type Identity as ClientIdentity,
  listAll,
  respond,
} from '@decorum/client/internal';
import { ConnectionError } from '@decorum/client';
import type { OpenCarrier } from '@decorum/client/internal';
import { type JsonObject, McpError, type Principal } from '@decorum/core';
import type { Host } from '@decorum/core/transport';

import { callSite, thrownAt } from './call-site.js';
import { answer, type ServerRequestHandlers } from './questions.js';
import { Recorder } from './recorder.js';
import type { RequestOptions } from './request-options.js';

/** The client's description of itself, and its handlers. */
export interface Identity extends ClientIdentity {
  readonly handlers: ServerRequestHandlers;
  /** The server, if it is in this process. */
  readonly server?: Host | undefined;
  readonly principal?: Principal | undefined;
}

/** A connection that records its messages, questions and notifications. What a server does wrong ends it. */
export class Connection extends ClientConnection {
  declare readonly identity: Identity;

  private constructor(
    identity: Identity,
    private readonly recorder: Recorder,
  ) {
    super(identity, recorder);
  }

  static async open(identity: Identity, open: OpenCarrier): Promise<Connection> {
    const recorder = new Recorder(async (question) => await answer(identity.handlers, question));
    const connection = new Connection(identity, recorder);
    recorder.changed = () => connection.hold();
    return await connection.start(open);
  }

  get inbox() {
    return this.recorder.inbox;
  }

  get frames() {
    return this.recorder.frames;
  }

  /** The server's questions, in order. */
  get questions() {
    return this.recorder.questions;
  }

  /** Sends a request and waits for its result. Errors have the stack of the caller. */
  override async request(method: string, params: JsonObject, options: RequestOptions = {}): Promise<JsonObject> {
    const site = callSite(this.request);
    try {
      return await super.request(method, params, options);
    } catch (error) {
      throw error === options.signal?.reason ? error : thrownAt(plain(error), site);
    }
  }

  /** Answers the questions in a result. Returns the parameters to add to the request in the next round. */
  async respond(result: JsonObject): Promise<JsonObject> {
    return await respond(this, result, { method: '', params: {}, options: {} });
  }

  /** Lists the entries on all pages. */
  async list(method: string, member: string, options?: RequestOptions): Promise<readonly JsonObject[]> {
    return await listAll(this, { method, member, options });
  }
}

/** Tests see what MCP says of errors: an error that the server answered, or else a plain one. */
function plain(error: unknown): unknown {
  if (!(error instanceof ConnectionError)) return error;
  return error.cause instanceof McpError ? error.cause : new Error(error.message, { cause: error.cause });
}
