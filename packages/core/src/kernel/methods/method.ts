import type { Session } from '../../protocol/eras/stateful.js';
import type { Exchange } from '../../protocol/exchange.js';
import type { Implementation, LogLevel } from '../../protocol/model.js';
import type { Registry } from '../../registry/registry.js';
import type { Flows } from '../../protocol/eras/stateless.js';
import type { CacheHint } from '../../protocol/revisions/revision.js';
import type { Events } from '../events.js';
import type { Extension } from '../extension.js';
import type { Faults } from '../faults.js';

/** Handles the requests of one MCP method: returns the result as the revision words it. */
export type Method = (exchange: Exchange, session: Session | undefined) => object | Promise<object>;

/** What methods work with. */
export interface KernelParts {
  readonly server: Implementation;
  readonly instructions: string | undefined;
  readonly registry: Registry;
  readonly faults: Faults;
  readonly events: Events;
  readonly flows: Flows;
  readonly extensions: readonly Extension[];
  /** How long clients may keep lists and the description of the server. */
  readonly cache: CacheHint;
  /** Entries on one page of a list. */
  readonly pageSize: number;
  /** Seals cursors. */
  readonly secret: Uint8Array;
  /** What the client of a session sees before it sets a level. */
  readonly logLevel: LogLevel;
  /** Milliseconds to wait for an answer of the client. */
  readonly questionTimeoutMs: number;
}

/** Whom a cursor is for. */
export function cursorScope({ peer, wire }: Exchange): string {
  return peer.sessionId ?? wire.principal?.subject ?? '';
}
