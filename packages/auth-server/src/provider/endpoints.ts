import { Buffer } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';

import type Provider from 'oidc-provider';

import { networkOf } from '../clients/public-address.js';
import { Quota } from '../clients/quota.js';
import type { Registrations } from '../clients/registrations.js';
import type { Clock } from '../platform.js';
import type { UpstreamSignIns } from '../upstream/upstream-sign-ins.js';
import type { Callers } from './callers.js';
import { BodyError, type BodyLimits, readBody } from './form-body.js';
import type { Interactions } from './interactions.js';
import { IssuerRequest } from './issuer-request.js';
import { CLIENT_ENDPOINTS, CORS, ENDPOINTS, urlBelow } from './metadata.js';
import type { PageWriter } from './page-writer.js';
import type { TokenEndpoint } from './token-endpoint.js';
import { DIRECT } from './turn.js';

/** Dependencies of `Endpoints`. */
export interface EndpointsParts {
  readonly issuer: URL;
  /** The scopes of an authorization request that names none. */
  readonly scopes: readonly string[];
  /** All scopes that there are. */
  readonly allScopes: readonly string[];
  readonly interactions: Interactions;
  readonly pages: PageWriter;
  readonly tokens: TokenEndpoint;
  readonly callers: Callers;
  readonly clock: Clock;
  /** In front of an upstream. */
  readonly upstream: UpstreamSignIns | undefined;
  /** Undefined if clients can't register. */
  readonly registrations: Registrations | undefined;
  /** The provider with the current keys. */
  provider(): Promise<Provider>;
}

const LIMITS: BodyLimits = { maxBytes: 16 * 1024, timeoutMs: 10_000 };

/** Longer than a password takes to check after failures, with others before it. */
const ANSWER_MS = 30_000;

/** Each authorization request is kept for minutes, before anybody has signed in. */
const PER_ADDRESS = { limit: 120, windowMs: 60_000 };
/** Each has two forms. Strangers could send a form again and again: each time, a user who goes upstream is kept. */
const FORMS_PER_ADDRESS = { limit: 240, windowMs: 60_000 };
const MAX_URL = 8 * 1024;
const TOO_LONG = { title: 'This request does not work', message: 'Its URL is longer than 8 KiB.' };

/** A request to an endpoint. */
interface Call {
  /** Path below the issuer, without the query. */
  readonly path: string;
  readonly request: IssuerRequest;
  readonly response: ServerResponse;
  readonly body: Buffer;
  readonly address: string | undefined;
  readonly provider: Provider;
}

/** The methods of each endpoint. */
const METHODS: Readonly<Record<string, string>> = {
  [ENDPOINTS.token]: 'POST',
  [ENDPOINTS.revoke]: 'POST',
  [ENDPOINTS.register]: 'POST',
  [ENDPOINTS.keys]: 'GET',
  [ENDPOINTS.authorize]: 'GET',
};

/** Where oidc-provider goes on after a page, and the pages. */
const OF_A_REQUEST = new RegExp(`^(?:${ENDPOINTS.authorize}/|${ENDPOINTS.interaction})[\\w-]+$`);

/** Serves the endpoints of an authorization server with Node requests. */
export class Endpoints {
  /** The paths from the root of the origin; what ends with a slash serves everything below. */
  readonly paths: readonly string[];
  private readonly base: string;
  private readonly authorizations: Quota;
  private readonly forms: Quota;

  constructor(private readonly parts: EndpointsParts) {
    this.authorizations = new Quota(PER_ADDRESS, parts.clock);
    this.forms = new Quota(FORMS_PER_ADDRESS, parts.clock);
    this.base = parts.issuer.pathname.replace(/\/$/, '');
    const { authorize, token, register, revoke, keys, interaction, upstream } = ENDPOINTS;
    const more = parts.upstream === undefined ? [] : [upstream];
    this.paths = [authorize, `${authorize}/`, token, register, revoke, keys, interaction, ...more].map(
      (path) => this.base + path,
    );
  }

  /** Answers a request to one of the paths. */
  async handle(raw: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = sentUrl(raw).slice(this.base.length);
    const path = url.split('?', 1)[0] as string;
    // oidc-provider also takes other spellings for an endpoint, such as `/authorize/`
    const isKnown = Object.hasOwn(METHODS, path) || path === ENDPOINTS.upstream || OF_A_REQUEST.test(path);
    if (!isKnown) return void response.writeHead(404).end();
    const forClients = CLIENT_ENDPOINTS.includes(path);
    if (forClients) for (const [name, value] of Object.entries(CORS)) response.setHeader(name, value);
    if (forClients && raw.method === 'OPTIONS') return preflight(response, METHODS[path] as string);
    const isForm = path.startsWith(ENDPOINTS.interaction) && raw.method === 'POST';
    const allowed = isForm ? 'POST' : (METHODS[path] ?? 'GET');
    const method = raw.method === 'HEAD' ? 'GET' : raw.method;
    if (method !== allowed) return wrongMethod(response, allowed);
    let body: Buffer = Buffer.alloc(0);
    try {
      if (method === 'POST') body = await readBody(raw, LIMITS);
      if (path === ENDPOINTS.token) body = this.withScope(body);
    } catch (error) {
      return refuseBody(raw, response, error as BodyError);
    }
    const request = new IssuerRequest({ raw, issuer: this.parts.issuer, url: this.completed(url, path, raw), body });
    const address = this.parts.callers.addressOf(raw);
    const fail = () => {
      if (!response.headersSent) this.parts.pages.broken(response, path);
    };
    const timer = setTimeout(fail, ANSWER_MS).unref();
    try {
      const provider = await this.parts.provider();
      await this.parts.callers.run(address, () => this.serve({ path, request, response, body, address, provider }));
    } catch (error) {
      fail();
      // the endpoint of the server reports it
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  private async serve(call: Call): Promise<void> {
    const { path, request, response, body, address, provider } = call;
    const { interactions, tokens, registrations, pages } = this.parts;
    if (path.startsWith(ENDPOINTS.interaction)) {
      const form = request.method === 'POST' ? new URLSearchParams(body.toString()) : undefined;
      if (form !== undefined && this.isBusy(this.forms, call)) return;
      return await interactions.handle({ request, response, form, address, provider });
    }
    if (path === ENDPOINTS.upstream) return await this.takeUpstream(call);
    if (path === ENDPOINTS.register) {
      if (registrations === undefined) return void response.writeHead(404).end();
      return await registrations.handle({ body, response, address, provider });
    }
    if (path === ENDPOINTS.token) return await tokens.handle({ request, response, body, provider });
    if (path === ENDPOINTS.authorize) {
      if ((request.url ?? '').length > MAX_URL) return pages.message(response, 414, TOO_LONG);
      if (this.isBusy(this.authorizations, call)) return;
    }
    await provider.callback()(request, response);
  }

  /** Answers a request of an address that sends too many. */
  private isBusy(quota: Quota, { address = '', response }: Call): boolean {
    const wait = quota.take(networkOf(address));
    if (wait > 0) this.parts.pages.busy(response, Math.ceil(wait / 1000));
    return wait > 0;
  }

  /** A client that asks for a token for itself, but for no scopes, gets all that it may get. */
  private withScope(body: Buffer): Buffer {
    const form = new URLSearchParams(body.toString());
    if (form.get('grant_type') !== 'client_credentials' || (form.get('scope') ?? '') !== '') return body;
    form.set('scope', this.parts.allScopes.join(' '));
    return Buffer.from(form.toString());
  }

  /** Takes a user back who comes from the upstream. */
  private async takeUpstream({ request, response }: Call): Promise<void> {
    const { upstream, pages, issuer } = this.parts;
    const query = (request.url ?? '').split('?', 2)[1] ?? '';
    const uid = await upstream?.end(request, response, query);
    if (uid === undefined) return pages.expired(response);
    const location = urlBelow(issuer.href, ENDPOINTS.interaction + uid);
    response.writeHead(303, { location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' }).end();
  }

  /**
   * The URL of an authorization request. It asks for the usual scopes if it names none. oidc-provider could also answer in
   * ways that the metadata doesn't offer, such as a page with a script, so it doesn't get to know them.
   */
  private completed(url: string, path: string, { headers }: IncomingMessage): string {
    // after a page, everything is known; what comes again might ask for such an answer
    if (path.startsWith(`${ENDPOINTS.authorize}/`)) return path;
    if (path !== ENDPOINTS.authorize) return url;
    const query = new URLSearchParams(url.slice(path.length + 1));
    const { scopes } = this.parts;
    if (scopes.length > 0 && !query.get('scope')) query.set('scope', scopes.join(' '));
    if ((query.get('response_mode') ?? 'query') !== 'query') query.set('response_mode', 'unsupported');
    // RFC 8707 lets a client name several resources, also the same one twice
    const [resource, ...others] = new Set(query.getAll('resource'));
    if (resource !== undefined && others.length === 0) query.set('resource', resource);
    query.delete(DIRECT);
    if (['none', 'same-origin'].includes(String(headers['sec-fetch-site']))) query.set(DIRECT, 'yes');
    return `${path}?${query}`;
  }
}

const sentUrl = (request: IncomingMessage): string =>
  (request as { originalUrl?: string }).originalUrl ?? request.url ?? '/';

function preflight(response: ServerResponse, method: string): void {
  const headers = {
    'access-control-allow-methods': method,
    'access-control-allow-headers': 'Authorization, Content-Type, MCP-Protocol-Version',
    'access-control-max-age': '7200',
  };
  response.writeHead(204, headers).end();
}

function wrongMethod(response: ServerResponse, allow: string): void {
  response.writeHead(405, { allow }).end();
}

function refuseBody(
  { httpVersionMajor }: IncomingMessage,
  response: ServerResponse,
  { status = 400 }: Partial<BodyError>,
): void {
  const text = JSON.stringify({ error: 'invalid_request', error_description: 'The body is too long, or was cut off.' });
  // HTTP/2 has no such header
  if (httpVersionMajor < 2) response.setHeader('connection', 'close');
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' }).end(text);
}
