import type { Principal } from '@decorum/core';
import { isPromise } from '@decorum/core/internal';
import type { RequestHead } from '@decorum/http';

import type { Platform } from './fetch-json.js';
import { answerTo, type RefusalReason, type Refused, remedyFor } from './reasons.js';

/** An event for `onEvent`. Never contains tokens or API keys. */
export interface AuthEvent {
  /**
   * `denied` for refused or missing credentials, `step-up` for a principal that lacks scopes, `granted` for valid
   * credentials.
   */
  readonly type: 'denied' | 'step-up' | 'granted';
  /** Why the request was denied. */
  readonly reason?: RefusalReason | 'no-token';
  /** What was found, such as `typ is "JWT"`. Escaped, because it may come from an attacker. */
  readonly found?: string;
  /** What this server expects in its place, such as the `audience` option. */
  readonly expected?: string;
  /** What the operator can do. */
  readonly remedy?: string;
  /** The scopes that the request needs, for `step-up` and `no-token`. */
  readonly scopes?: readonly string[];
  /** The caller, for `step-up` and `granted`. */
  readonly principal?: Principal;
  /** The HTTP method of a request whose credentials were refused or accepted. */
  readonly method?: string;
  /** The address that sent these credentials. */
  readonly remoteAddress?: string;
}

/** Minimum time between two log lines with the same reason. */
const LOG_SPACING_MS = 60_000;

/** Cap on the shown characters of a value from a client. */
const MAX_SHOWN = 200;

/** Cap on what is shown of a problem with an issuer, which names several URLs. */
const MAX_PROBLEM = 600;

/** Escapes a text from elsewhere for the log. */
export const printable = (text: string, max = MAX_SHOWN): string => text.slice(0, max).replaceAll(/[^\x20-\x7e]/g, '?');

/** Options of a `Reporter`. */
export interface ReporterOptions {
  readonly onEvent?: ((event: AuthEvent) => void) | undefined;
  readonly reportGranted?: boolean | undefined;
}

/** Reports to the operator: every event to `onEvent`, and each reason to the log at most once a minute. */
export class Reporter {
  private readonly logged = new Map<string, number>();
  private readonly logs = new Set<(message: string) => void>();
  /** Warnings about the configuration, for servers that open later. */
  private readonly warnings: string[] = [];

  private readonly options: ReporterOptions;

  constructor(
    { onEvent, reportGranted }: ReporterOptions,
    private readonly platform: Pick<Platform, 'now'>,
  ) {
    // not the object of the caller, which holds secrets
    this.options = { onEvent, reportGranted };
  }

  /** Adds the log of a server. */
  logTo(warn: (message: string) => void): void {
    this.logs.add(warn);
    for (const warning of this.warnings) warn(warning);
  }

  /** Warns about the configuration. */
  warn(problem: string): void {
    const warning = printable(problem, MAX_PROBLEM);
    this.warnings.push(warning);
    for (const warn of this.logs) warn(warning);
  }

  /** Reports refused credentials. */
  denied(refused: Refused, head: RequestHead): void {
    const { reason, expected } = refused;
    const max = answerTo(refused) === 'unavailable' ? MAX_PROBLEM : MAX_SHOWN;
    const found = refused.found === undefined ? undefined : printable(refused.found, max);
    const remedy = remedyFor(refused);
    // a mistake that is recognized must not stay unsaid because somebody has sent nonsense before
    const about = refused.remedy === undefined ? reason : `${reason}: ${remedy}`;
    const wanted = expected === undefined ? '' : `; expected ${expected}`;
    this.log(about, `Refused credentials: ${found ?? reason}${wanted}. ${remedy}`);
    const details = { ...(found !== undefined && { found }), ...(expected !== undefined && { expected }) };
    this.emit({ type: 'denied', reason, ...details, remedy, ...origin(head) });
  }

  /** Reports a request without credentials. It isn't logged, because clients normally start without them. */
  missing(scopes: readonly string[]): void {
    this.emit({ type: 'denied', reason: 'no-token', scopes });
  }

  /** Reports a principal that lacks scopes. It isn't logged, because clients then request more. */
  stepUp(principal: Principal | undefined, scopes: readonly string[]): void {
    this.emit({ type: 'step-up', scopes, ...(principal && { principal }) });
  }

  /** Reports accepted credentials. */
  granted(principal: Principal, head: RequestHead): void {
    if (this.options.reportGranted === true) this.emit({ type: 'granted', principal, ...origin(head) });
  }

  private emit(event: AuthEvent): void {
    // the request continues: otherwise, nobody could log in while auditing fails
    const failed = (error: unknown) => this.log('on-event', `\`onEvent\` failed: ${printable(String(error))}`);
    try {
      const result: unknown = this.options.onEvent?.(event);
      // an unhandled rejection of an async function would end the process
      if (isPromise(result)) result.then(undefined, failed);
    } catch (error) {
      failed(error);
    }
  }

  private log(about: string, message: string): void {
    const now = this.platform.now();
    const last = this.logged.get(about);
    if (last !== undefined && now >= last && now - last < LOG_SPACING_MS) return;
    this.logged.set(about, now);
    for (const warn of this.logs) warn(message);
  }
}

const origin = ({ method, remoteAddress }: RequestHead) => ({
  method,
  ...(remoteAddress !== undefined && { remoteAddress }),
});
