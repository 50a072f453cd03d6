import type { ReachedLimit } from '@decorum/core';
import { REVISIONS } from '@decorum/core/internal';
import type { Kernel } from '@decorum/core/transport';

import type { Bodies } from '../endpoint/body.js';
import type { Gate } from '../auth/gate.js';
import type { ListenStreams } from '../streams/listen-streams.js';
import type { Sessions } from '../sessions/sessions.js';
import type { StoreCalls } from '../sessions/store-calls.js';
import type { StreamParts } from '../streams/stream-parts.js';

/** The values of `MCP-Protocol-Version` for which session ids are ignored, even the ids of existing sessions. */
export const SESSIONLESS: ReadonlySet<unknown> = new Set(
  REVISIONS.filter(({ sessions }) => !sessions).map(({ id }) => id),
);

/** State shared by all exchanges of an endpoint. The object also serves as the `owner` of their wires. */
export interface ExchangeParts {
  readonly kernel: Kernel;
  readonly sessions: Sessions;
  readonly bodies: Bodies;
  readonly streams: StreamParts;
  readonly stores: StoreCalls;
  /** Identifies this process among those that serve the same clients; undefined without a courier. */
  readonly node: string | undefined;
  readonly listenStreams: ListenStreams;
  /** The `authenticate` step; undefined without the option `auth`. */
  readonly gate: Gate<never> | undefined;
  /** Milliseconds until a client reconnects to a paused stream. */
  readonly retryMs: number;
  /** Whether sessions are enabled. */
  readonly keepsSessions: boolean;
  /** Whether every response must end soon: clients can neither open streams nor subscribe. */
  readonly isBrief: boolean;
  /** Lower-case names of the headers that are hidden from handlers. */
  readonly credentials: ReadonlySet<string>;
  /** Reports errors that must not reach clients. */
  readonly report: (error: unknown) => void;
  /** Reports a limit that a client has reached. */
  readonly hit: (hit: ReachedLimit) => void;
  /** Requests are rejected; responses and notifications still pass. */
  stopped: boolean;
  /** Everything is rejected. */
  closed: boolean;
}

/** Whether the kernel judges the callers of messages. Members with scopes may be added while the server runs. */
export function judges({ gate, kernel }: ExchangeParts): boolean {
  return gate !== undefined || kernel.scopedMember !== undefined;
}

/** Whether a body is a request. */
export const isRequest = (body: unknown): body is { readonly id: unknown } =>
  typeof body === 'object' && body !== null && 'method' in body && 'id' in body;

/** Whether a body is a request or a batch. Everything else gets only an HTTP status. */
export const isAnswered = (body: unknown): boolean => Array.isArray(body) || isRequest(body);
