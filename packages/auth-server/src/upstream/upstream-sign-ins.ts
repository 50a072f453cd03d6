import { createHmac } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

import { problemOf } from '@decorum/auth/internal';

import type { Clock } from '../platform.js';
import { SealedRecords } from '../provider/sealed-records.js';
import { isSameText } from '../provider/same-text.js';
import { denied } from '../provider/turn.js';
import type { UpstreamClient, UpstreamProof, UpstreamSignedIn } from './upstream-client.js';

/** How long a user may take to sign in upstream. */
const PATIENCE_MS = 10 * 60_000;

/** What the user has allowed before being sent to the upstream. */
export interface Approval {
  /** The interaction that waits for the user. */
  readonly uid: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  /** Who had asked to be remembered: nobody else may come back. */
  readonly subject?: string;
  /** Whether the user asks to be remembered. */
  readonly isRemembered?: boolean;
}

/** A user who is at the upstream. */
interface Pending {
  readonly approval: Approval;
  readonly proof: UpstreamProof;
}

/** How a sign-in at the upstream has ended, for the interaction that waits for it. */
export type UpstreamResult = { readonly approval: Approval } & (
  | { readonly signedIn: UpstreamSignedIn }
  | UpstreamFailure
);

/** Why a user could not sign in upstream, for the client. */
export type UpstreamFailure = {
  readonly error: 'access_denied' | 'server_error';
  readonly error_description: string;
};

/** Dependencies of `UpstreamSignIns`. */
export interface UpstreamSignInsParts {
  readonly client: UpstreamClient;
  readonly records: SealedRecords;
  readonly clock: Clock;
  readonly issuer: URL;
  /** The keys of cookies: the first one signs, and each verifies. */
  readonly cookieKeys: readonly [string, ...string[]];
  /** Tells the operator why a sign-in has failed. */
  warn(problem: string): void;
}

/**
 * Sends users to the upstream once they have approved, and takes what they bring back. Only the browser that has
 * approved has the cookie that the way back needs. Otherwise, an attacker could approve, and have somebody else sign in.
 */
export class UpstreamSignIns {
  constructor(private readonly parts: UpstreamSignInsParts) {}

  /** Sends the browser of a user who has approved to the upstream. */
  async begin(response: ServerResponse, approval: Approval): Promise<void> {
    const { client, records, clock } = this.parts;
    const proof = await client.createProof();
    const location = await client.urlFor(proof);
    const pending: Pending = { approval, proof };
    await records.put(pendingKey(proof.state), pending, clock.now() + PATIENCE_MS);
    response.appendHeader('set-cookie', this.cookie(pending, PATIENCE_MS / 1000));
    response.writeHead(303, { location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' }).end();
  }

  /**
   * Takes the upstream's answer.
   * @param query as the browser has brought it
   * @returns the interaction to go on with; undefined for an answer that nobody here waits for
   */
  async end(request: IncomingMessage, response: ServerResponse, query: string): Promise<string | undefined> {
    const { records, clock } = this.parts;
    const states = new URLSearchParams(query).getAll('state');
    const [state = ''] = states;
    const key = pendingKey(state);
    const pending = (await records.get(key)) as Pending | undefined;
    if (states.length !== 1 || pending === undefined || !this.hasCookie(request, pending)) return undefined;
    // each state is good for one answer, also if two arrive at once
    if (!(await records.take(key))) return undefined;
    response.appendHeader('set-cookie', this.cookie(pending, 0));
    const { approval } = pending;
    const result: UpstreamResult = { approval, ...(await this.ask(query, pending.proof)) };
    await records.put(resultKey(approval.uid), result, clock.now() + PATIENCE_MS);
    return approval.uid;
  }

  /** The result that an interaction waits for, once. */
  async take(uid: string): Promise<UpstreamResult | undefined> {
    const { records } = this.parts;
    const result = (await records.get(resultKey(uid))) as UpstreamResult | undefined;
    return result !== undefined && (await records.take(resultKey(uid))) ? result : undefined;
  }

  /** Tells the operator why a user could not sign in, and the client that it is nobody's fault there. */
  failed(error: unknown): UpstreamFailure {
    this.parts.warn(`A user could not sign in upstream: ${problemOf(error)}`);
    return { error: 'server_error', error_description: 'The upstream failed.' };
  }

  private async ask(query: string, proof: UpstreamProof) {
    try {
      return { signedIn: await this.parts.client.take(query, proof) };
    } catch (error) {
      const isDenied = new URLSearchParams(query).get('error') === 'access_denied';
      return isDenied ? denied('The user has denied access.') : this.failed(error);
    }
  }

  private cookie(pending: Pending, seconds: number): string {
    const { issuer } = this.parts;
    const isSecure = issuer.protocol === 'https:';
    const value = seconds === 0 ? '' : signatureOf(pending, this.parts.cookieKeys[0]);
    const attributes = `Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
    return `${this.cookieName(pending)}=${value}; ${attributes}`;
  }

  /** One for each request, because a user may have several pages open. */
  private cookieName({ proof }: Pending): string {
    const id = SealedRecords.key('', proof.state).slice(1, 13);
    return `${this.parts.issuer.protocol === 'https:' ? '__Host-' : ''}upstream-${id}`;
  }

  private hasCookie({ headers }: IncomingMessage, pending: Pending): boolean {
    const name = `${this.cookieName(pending)}=`;
    const sent = (headers.cookie ?? '').split(/; */).find((cookie) => cookie.startsWith(name));
    const given = sent?.slice(name.length) ?? '';
    return this.parts.cookieKeys.some((key) => isSameText(given, signatureOf(pending, key)));
  }
}

function signatureOf({ approval, proof }: Pending, key: string): string {
  const { uid, clientId, redirectUri, scopes } = approval;
  const bound = JSON.stringify([proof.state, uid, clientId, redirectUri, scopes]);
  return createHmac('sha256', key).update(bound).digest('base64url');
}

const pendingKey = (state: string): string => SealedRecords.key('upstream-pending', state);

const resultKey = (uid: string): string => SealedRecords.key('upstream-result', uid);
