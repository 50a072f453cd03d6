import type { JsonObject } from '@decorum/schema/internal';

import type { Exchange } from '../../protocol/exchange.js';
import type { Implementation, LogLevel } from '../../protocol/model.js';
import type { Asking } from '../../protocol/observed.js';
import type { Registry } from '../../registry/registry.js';
import type { RequestStates } from '../../protocol/eras/stateless.js';
import type { ReachedLimit, ServerLimits } from '../../protocol/limits.js';
import type { Records } from '../../protocol/records.js';
import type { CacheHint } from '../../protocol/revisions/revision.js';
import type { Events } from '../events.js';
import type { ObserveRun, RunParts } from '../extensions/detached-run.js';
import type { ExtendedTools } from '../extensions/extended-tools.js';
import type { Extension, ExtensionHandler } from '../extensions/extension.js';
import type { ErrorReporter } from '../error-reporter.js';
import type { SealedTickets } from '../tickets.js';
import type { ToolCatalog } from '../tool-catalog.js';
import type { Intercept } from '../interceptors.js';
import type { MemberRunner } from '../members.js';
import type { Results } from '../results.js';

/** Handles requests of one MCP method. Returns the JSON of the result, synchronously if possible. */
export type Method = (exchange: Exchange) => string | Promise<string>;

/** The parts of a kernel. */
export interface KernelParts {
  readonly server: Implementation;
  readonly instructions: string | undefined;
  readonly registry: Registry;
  readonly reporter: ErrorReporter;
  readonly events: Events;
  readonly requestStates: RequestStates;
  readonly tickets: SealedTickets;
  readonly records: Records;
  readonly extensions: readonly Extension[];
  /** What extensions make of tools. */
  readonly extended: ExtendedTools;
  /** Tells plugins of runs apart from their request; undefined if none listens. */
  readonly observeRun?: ObserveRun | undefined;
  /** Decides which tools are listed; undefined if all are. */
  readonly catalog?: ToolCatalog | undefined;
  /** Lets the server's framework run a method of an extension; undefined without a framework. */
  readonly hostMethod: ((name: string, handle: ExtensionHandler) => ExtensionHandler) | undefined;
  /** Capabilities that no specification defines. */
  readonly experimental: Readonly<Record<string, JsonObject>> | undefined;
  /** Runs interceptors around members; undefined without interceptors. */
  readonly intercept: Intercept | undefined;
  /** How long clients may cache lists and the server description. */
  readonly cache: CacheHint;
  /** Entries per page of a list. */
  readonly pageSize: number;
  /** Keys for cursors: the first key seals, and every key opens. */
  readonly cursorKeys: readonly Uint8Array[];
  /** Lowest level of log messages for a session before the client sets a level. */
  readonly logLevel: LogLevel;
  /** Milliseconds to wait for the client's answer to a question. */
  readonly questionTimeoutMs: number;
  /** Characters of a result, unless a member has its own maximum; undefined if there is no maximum. */
  readonly maxResultChars: number | undefined;
  readonly limits: Required<ServerLimits>;
  /** Reports a limit that a client has reached. */
  readonly hit: (hit: ReachedLimit) => void;
  /** Runs plugins around questions to clients; undefined without such plugins. */
  readonly asking?: Asking | undefined;
  /** Runs members, if plugins observe them. */
  readonly members?: MemberRunner;
}

/** The parts that methods use. */
export interface MethodParts extends KernelParts {
  readonly members: MemberRunner;
  readonly results: Results;
  /** What handlers need that run apart from their request. */
  readonly runs: RunParts;
}
