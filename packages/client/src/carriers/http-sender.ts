import type { IncomingMessage } from 'node:http';

import { ConnectionError } from '../connection-error.js';
import { challengeIn, type HeaderSource } from './credentials.js';
import { type Agents, call, createAgents, type HttpCall } from './http-request.js';

/** An endpoint, and how to reach it. */
export interface HttpTarget {
  readonly url: URL;
  readonly credentials: HeaderSource;
  /** Cap on the characters of a message. */
  readonly maxMessageBytes: number;
  /** Whether to use connections again. */
  readonly keepsConnections?: boolean;
  readonly afterClose?: () => Promise<void>;
}

/** Cap on the redirects of a request. */
const MAX_REDIRECTS = 3;

/** Cap on the times that a request is sent with other credentials. */
const MAX_REFUSALS = 2;

/** Redirects that keep the method and the body (RFC 9110, 15.4). */
const REDIRECTS: readonly (number | undefined)[] = [307, 308];

/** Sends requests with credentials. Follows redirects, but never to another origin, which must not get them. */
export class HttpSender {
  private readonly agents: Agents | undefined;
  private readonly credentials: HeaderSource;

  constructor({ credentials, keepsConnections = false }: HttpTarget) {
    this.credentials = credentials;
    this.agents = keepsConnections ? createAgents() : undefined;
  }

  /** Closes idle connections. */
  close(): void {
    this.agents?.['http:'].destroy();
    this.agents?.['https:'].destroy();
  }

  /**
   * Sends a request, and once more with other credentials if it is refused.
   * @throws {ConnectionError} `unreachable`, or `protocol` for a redirect that the client doesn't follow
   */
  async send(request: HttpCall): Promise<IncomingMessage> {
    const { credentials } = this;
    const { signIn = settled } = request;
    if (credentials.prepare) await signIn(credentials.prepare());
    for (let refusals = 0; ; refusals += 1) {
      const given = Object.entries(await credentials.headers()).map(([name, value]) => [name.toLowerCase(), value]);
      const own = Object.fromEntries(given) as Record<string, string>;
      const response = await this.redirected({ ...request, headers: { ...request.headers, ...own } });
      const { statusCode = 0, headers } = response;
      if ((statusCode !== 401 && statusCode !== 403) || refusals >= MAX_REFUSALS) return response;
      const challenge = challengeIn(statusCode, headers['www-authenticate']);
      // a refusal without a challenge is final, unless it says that credentials are missing
      if (statusCode === 403 && challenge.params['error'] !== 'insufficient_scope') return response;
      const refused = credentials.refused(challenge, own['authorization']);
      await signIn(refused);
      if (!(await refused)) return response;
      response.resume();
    }
  }

  private async redirected(request: HttpCall): Promise<IncomingMessage> {
    let { url } = request;
    for (let redirects = 0; ; redirects += 1) {
      const response = await call({ ...request, url, agents: this.agents });
      const { location } = response.headers;
      if (!REDIRECTS.includes(response.statusCode) || location === undefined || redirects >= MAX_REDIRECTS)
        return response;
      const next = URL.canParse(location, url.href) ? new URL(location, url.href) : undefined;
      if (next?.origin !== url.origin) {
        response.resume();
        throw new ConnectionError('protocol', elsewhere(url, location), { status: response.statusCode });
      }
      response.resume();
      url = next;
    }
  }
}

const settled = async (credentials: Promise<unknown>): Promise<void> => void (await credentials);

const elsewhere = (url: URL, location: string) =>
  `${url.href} redirects to ${location}, which is another origin. Credentials are not sent there. Connect to that URL if you trust it.`;
