import type { ReachedLimit } from '@decorum/core';
import type { ClusterCounts, Kernel, Session } from '@decorum/core/transport';

import type { Letters } from '../cluster/letters.js';
import type { Sender } from '../endpoint/caller.js';
import type { HttpError } from '../endpoint/http-error.js';
import type { EventStore } from '../streams/event-store.js';
import type { StreamParts } from '../streams/stream-parts.js';
import type { SessionLimits, SessionQuotas } from './session-quotas.js';
import type { SessionStore } from './session-store.js';
import type { Report, StoreCalls } from './store-calls.js';

/** Settings shared by all sessions of an endpoint. */
export interface SessionSettings extends SessionLimits {
  readonly kernel: Kernel;
  readonly streams: StreamParts;
  /** Stores events for clients that reconnect. `false` makes streams non-resumable. */
  readonly events: EventStore | false;
  /** Milliseconds until a client reconnects to a paused stream. */
  readonly retryMs: number;
  /** Shares records with other processes; undefined if sessions live only in this one. */
  readonly sessionStore: SessionStore | undefined;
  /** Reaches the parts of sessions in other processes; undefined without a courier. */
  readonly letters: Letters | undefined;
  readonly counts: ClusterCounts;
  /** Counts the sessions. */
  readonly quotas: SessionQuotas;
  /** Milliseconds until a session without a connected client ends. */
  readonly sessionIdleMs: number;
  /** Milliseconds between sweeps for idle sessions. */
  readonly keepAliveMs: number;
  /** Cap on streams of one session, not counting those of its requests in flight. */
  readonly maxStreams: number;
  /** Calls the stores. */
  readonly stores: StoreCalls;
  /** Appends events, which nobody waits for. */
  readonly appends: StoreCalls;
  /** The error for an anonymous caller of a session that belongs to a principal. */
  readonly unauthorized: () => HttpError;
  /** Checks the subscriptions of a session for the principal that has adopted it. */
  readonly recheck: (session: Session, sender: Sender) => Promise<void>;
  /** Reports errors from the stores. */
  readonly report: Report;
  /** Reports a limit that a client has reached. */
  readonly hit: (hit: ReachedLimit) => void;
}

/** Milliseconds between the times that a record in use is touched: a million sessions would keep a store busy. */
export const touchMsOf = ({ sessionIdleMs }: SessionSettings): number => Math.floor(sessionIdleMs / 4);

/** Milliseconds to store a record: longer than `sessionIdleMs`, because a record is touched only now and then. */
export function ttlOf(settings: SessionSettings): number {
  return settings.sessionIdleMs + touchMsOf(settings) + 2 * settings.keepAliveMs;
}
