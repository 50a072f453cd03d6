import type { LimitHit } from '@decorum/core';
import type { Kernel } from '@decorum/core/transport';

import type { ListenStreams } from './listen-streams.js';
import type { Sessions } from './sessions.js';
import type { StreamSettings } from './stream-settings.js';

/** State shared by all exchanges of an endpoint. It also identifies the endpoint as the owner of its wires. */
export interface ExchangeParts {
  readonly kernel: Kernel;
  readonly sessions: Sessions;
  readonly streams: StreamSettings;
  readonly listenStreams: ListenStreams;
  /** Milliseconds until a client reconnects to a paused stream. */
  readonly retryMs: number;
  /** Whether sessions are enabled. */
  readonly keepsSessions: boolean;
  /** Lower-case names of the headers that are hidden from handlers. */
  readonly credentials: ReadonlySet<string>;
  /** Reports errors that must not reach clients. */
  readonly report: (error: unknown) => void;
  /** Reports a limit that a client has reached. */
  readonly hit: (hit: LimitHit) => void;
  /** Requests are rejected; responses and notifications still pass. */
  stopped: boolean;
  /** Everything is rejected. */
  closed: boolean;
}
