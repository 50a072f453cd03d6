import type { JsonObject } from '@decorum/schema/internal';

import type { Client } from '../protocol/client.js';
import type { Exchange } from '../protocol/exchange.js';
import type { RequestId } from '../protocol/model.js';
import type { Principal, TransportInfo } from '../protocol/wire.js';
import { EXCHANGE } from './context-keys.js';

/** What a handler may know of its request. */
export abstract class RequestFacts {
  abstract [EXCHANGE](): Exchange;

  /**
   * The client's description of itself: the protocol's fields, up to 4096 characters each of info and capabilities.
   * Don't rely on it for security.
   */
  get client(): Client {
    return this[EXCHANGE]().peer.client;
  }

  /** The request's protocol revision, such as `2025-11-25`. */
  get revision(): string {
    return this[EXCHANGE]().revision.id;
  }

  get requestId(): RequestId {
    return this[EXCHANGE]().id;
  }

  /** The session id, if the transport has sessions. */
  get sessionId(): string | undefined {
    return this[EXCHANGE]().peer.sessionId;
  }

  /** The authenticated caller. */
  get principal(): Principal | undefined {
    return this[EXCHANGE]().wire.principal;
  }

  /** The request's `_meta`. */
  get meta(): JsonObject | undefined {
    return this[EXCHANGE]().meta;
  }

  /** The transport that the request came over. Over HTTP, it includes the headers. */
  get transport(): TransportInfo {
    return this[EXCHANGE]().wire.transport;
  }
}
