import type { Exchange } from '../../protocol/exchange.js';
import type { Implementation, JsonObject, LogLevel } from '../../protocol/model.js';
import type { Registry } from '../../registry/registry.js';
import type { Flows } from '../../protocol/eras/stateless.js';
import type { CacheHint } from '../../protocol/revisions/revision.js';
import type { Events } from '../events.js';
import type { Extension } from '../extension.js';
import type { ErrorReporter } from '../error-reporter.js';
import type { SealedTickets } from '../tickets.js';
import type { Intercept } from '../interceptors.js';
import type { Members } from '../members.js';
import type { Results } from '../results.js';

/** Handles the requests of one MCP method: gives the JSON of the result, at once where nothing has to be waited for. */
export type Method = (exchange: Exchange) => string | Promise<string>;

/** What a kernel is made of. */
export interface KernelParts {
  readonly server: Implementation;
  readonly instructions: string | undefined;
  readonly registry: Registry;
  readonly reporter: ErrorReporter;
  readonly events: Events;
  readonly flows: Flows;
  readonly tickets: SealedTickets;
  readonly extensions: readonly Extension[];
  /** Capabilities that no specification knows. */
  readonly experimental: Readonly<Record<string, JsonObject>> | undefined;
  /** Stands around what members run; undefined where nothing does. */
  readonly intercept: Intercept | undefined;
  /** How long clients may keep lists and the description of the server. */
  readonly cache: CacheHint;
  /** Entries on one page of a list. */
  readonly pageSize: number;
  /** Seal cursors: the first seals, all open. */
  readonly cursorKeys: readonly Uint8Array[];
  /** What the client of a session sees before it sets a level. */
  readonly logLevel: LogLevel;
  /** Milliseconds to wait for an answer of the client. */
  readonly questionTimeoutMs: number;
}

/** What methods work with. */
export interface MethodParts extends KernelParts {
  readonly members: Members;
  readonly results: Results;
}
