import type { Principal } from '@decorum/core';
import { isPromise } from '@decorum/core/internal';
import type { RequestHead } from '@decorum/http';

import type { Platform } from './fetch-json.js';
import { answerTo, type RefusalReason, type Refused, type Remedies, remedyFor } from './reasons.js';

/** An event for `onEvent`. Never contains tokens, codes, passwords or API keys. */
export interface AuthEvent {
  /**
   * Of requests: `denied` for refused or missing credentials, `step-up` for a principal that lacks scopes, `granted` for
   * valid credentials.
   *
   * Of an embedded authorization server: `login` when a user signs in or fails to, `lockout` after too many failures,
   * `consent` when a user allows or denies access, `registered` for a new client, `code-replay` and `refresh-replay` if
   * a code or a refresh token is used again, and `revoked` when a grant ends early.
   */
  readonly type:
    | 'denied'
    | 'step-up'
    | 'granted'
    | 'login'
    | 'lockout'
    | 'consent'
    | 'registered'
    | 'code-replay'
    | 'refresh-replay'
    | 'revoked';
  /** Why the request was denied. */
  readonly reason?: RefusalReason | 'no-token';
  /** What was found, such as `typ is "JWT"`. Escaped, because it may come from an attacker. */
  readonly found?: string;
  /** What this server expects in its place, such as the `audience` option. */
  readonly expected?: string;
  /** What the operator can do. */
  readonly remedy?: string;
  /** The scopes that the request needs, for `step-up` and `no-token`; what the user was asked for, for `consent`. */
  readonly scopes?: readonly string[];
  /** The caller, for `step-up` and `granted`. */
  readonly principal?: Principal;
  /** The HTTP method of a request whose credentials were refused or accepted. */
  readonly method?: string;
  /** The address that sent the request. */
  readonly remoteAddress?: string;
  /** Whether a `login` succeeded, or whether the user allowed access, for `consent`. */
  readonly allowed?: boolean;
  /** Who signs in, or whose grant it is. Escaped: for `login` and `lockout`, anybody can send any name. */
  readonly subject?: string;
  /** The client of the authorization server. Escaped. */
  readonly clientId?: string;
  /** The host that the client has its users sent back to, for `consent` and `registered`. Escaped. */
  readonly redirectHost?: string;
  /** The grant that a user has given to a client. Its tokens have it in the claim `grant_id`. */
  readonly grantId?: string;
}

/** The types of events about sign-in. */
type SignInEventType = Exclude<AuthEvent['type'], 'denied' | 'step-up' | 'granted'>;

/** The members of each event about sign-in. Texts from clients and users need no escaping. */
export type SignInEvent =
  | Sign<'login', 'subject' | 'allowed', 'clientId'>
  | Sign<'lockout', never, 'subject'>
  | Sign<'consent', 'subject' | 'allowed' | 'clientId' | 'redirectHost' | 'scopes', 'grantId'>
  | Sign<'registered', 'clientId', 'redirectHost'>
  | Sign<'code-replay' | 'refresh-replay', 'clientId' | 'grantId', 'subject'>
  | Sign<'revoked', 'grantId', 'subject' | 'clientId'>;

/** An event with some members, and others that it may have. */
type Sign<Type extends SignInEventType, Has extends keyof AuthEvent, May extends keyof AuthEvent> = {
  readonly type: Type;
} & Required<Pick<AuthEvent, Has>> & { readonly [K in May | 'remoteAddress']?: AuthEvent[K] | undefined };

/** Minimum time between two log lines with the same reason. */
const LOG_SPACING_MS = 60_000;

/** Cap on the shown characters of a value from a client. */
const MAX_SHOWN = 200;

/** Cap on what is shown of a problem with an issuer, which names several URLs. */
const MAX_PROBLEM = 600;

/** Escapes a text from elsewhere for the log. */
export const printable = (text: string, max = MAX_SHOWN): string => text.slice(0, max).replaceAll(/[^\x20-\x7e]/g, '?');

/** What the log says of events that an operator should look at. */
const ALARMS: Readonly<Partial<Record<SignInEventType, string>>> = {
  lockout: 'Too many sign-ins failed, so the server refuses more for a while',
  'code-replay': 'An authorization code was used twice, so its grant has ended. It may have been stolen',
  'refresh-replay': 'A refresh token was used again, so its grant has ended. It may have been stolen',
};

/** Options of a `Reporter`. */
export interface ReporterOptions {
  readonly onEvent?: ((event: AuthEvent) => void) | undefined;
  readonly reportGranted?: boolean | undefined;
  readonly remedies?: Remedies | undefined;
}

/** Reports to the operator: every event to `onEvent`, and each reason to the log at most once a minute. */
export class Reporter {
  private readonly logged = new Map<string, number>();
  private readonly logs = new Set<(message: string) => void>();
  /** Warnings about the configuration, for servers that open later. */
  private readonly warnings: string[] = [];

  private readonly options: ReporterOptions;

  constructor(
    { onEvent, reportGranted, remedies }: ReporterOptions,
    private readonly platform: Pick<Platform, 'now'>,
  ) {
    // not the object of the caller, which holds secrets
    this.options = { onEvent, reportGranted, remedies };
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
    const remedy = remedyFor(refused, this.options.remedies);
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

  /** Reports what happens at an embedded authorization server. Lockouts and replays are logged too. */
  signIn(event: SignInEvent): void {
    const members = Object.entries(event).filter(([, value]) => value !== undefined);
    const safe = Object.fromEntries(members.map(([name, value]) => [name, escaped(value)])) as unknown as AuthEvent;
    const alarm = ALARMS[event.type];
    if (alarm !== undefined) this.log(event.type, `${alarm}${detailsOf(safe)}.`);
    this.emit(safe);
  }

  /** Reports an error of an embedded authorization server. */
  failed(problem: string): void {
    this.log('server-error', `The authorization server failed: ${printable(problem, MAX_PROBLEM)}`);
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

const escaped = (value: unknown): unknown =>
  typeof value === 'string' ? printable(value) : Array.isArray(value) ? value.map(escaped) : value;

/** Who an event is about, for the log. */
function detailsOf({ subject, clientId, remoteAddress }: AuthEvent): string {
  const told = Object.entries({ user: subject, client: clientId, address: remoteAddress });
  const texts = told.flatMap(([what, value]) => (value === undefined ? [] : [`${what} ${JSON.stringify(value)}`]));
  return texts.length === 0 ? '' : ` (${texts.join(', ')})`;
}

const origin = ({ method, remoteAddress }: RequestHead) => ({
  method,
  ...(remoteAddress !== undefined && { remoteAddress }),
});
