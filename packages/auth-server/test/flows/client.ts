import { createHash, randomBytes } from 'node:crypto';

import { Browser, type Page } from './browser.js';
import type { Site } from './site.js';

/** The JSON of an answer, with its status. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

/** What a client gets at the token endpoint. */
export interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly scope: string;
  readonly expires_in: number;
}

type Fields = Readonly<Record<string, string | undefined>>;

/** Where clients of the tests are redirected to. Nobody listens there. */
export const REDIRECT = 'https://app.example/callback';

export const PASSWORD = 'correct horse';

/** Query or form without the fields that are undefined. */
const formOf = (fields: Fields): URLSearchParams => {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return new URLSearchParams(given as [string, string][]);
};

/** Sends a form, and reads the JSON of the answer. */
export async function sendForm(
  url: string,
  fields: Fields | string,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const body = typeof fields === 'string' ? fields : formOf(fields).toString();
  const type = { 'content-type': 'application/x-www-form-urlencoded' };
  const response = await fetch(url, { method: 'POST', body, headers: { ...type, ...headers } });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? {} : (JSON.parse(text) as never) };
}

/** Registers a client by its metadata. */
export async function register(site: Site, metadata: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  const body = typeof metadata === 'string' ? metadata : JSON.stringify(metadata);
  const type = { 'content-type': 'application/json' };
  const response = await fetch(`${site.issuer}/register`, { method: 'POST', body, headers: { ...type, ...headers } });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? {} : (JSON.parse(text) as never) };
}

/** The claims of a JWT, which isn't verified. */
export const partsOf = (token: string): Record<string, unknown>[] =>
  token
    .split('.')
    .slice(0, 2)
    .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>);

/** A public client with PKCE. */
export class Client {
  verifier = '';

  constructor(
    readonly site: Site,
    readonly id: string,
    readonly redirect: string = REDIRECT,
  ) {}

  /** Registers a public client. */
  static async register(site: Site, metadata: Readonly<Record<string, unknown>> = {}): Promise<Client> {
    const sent = {
      redirect_uris: [REDIRECT],
      client_name: 'Notebook',
      token_endpoint_auth_method: 'none',
      ...metadata,
    };
    const { status, body } = await register(site, sent);
    if (status !== 201) throw new Error(`Registration failed: ${JSON.stringify(body)}`);
    return new Client(site, body['client_id'] as string, sent.redirect_uris[0]);
  }

  /** The URL of a new authorization request, in which parameters are replaced, or left out if undefined. */
  url(replaced: Fields = {}): string {
    this.verifier = randomBytes(32).toString('base64url');
    const query = {
      client_id: this.id,
      redirect_uri: this.redirect,
      response_type: 'code',
      state: 'a state',
      code_challenge: createHash('sha256').update(this.verifier).digest('base64url'),
      code_challenge_method: 'S256',
      resource: this.site.resource,
      scope: 'mcp',
      ...replaced,
    };
    return `${this.site.issuer}/authorize?${formOf(query)}`;
  }

  /** Opens the sign-in page, signs in, and returns the consent page. */
  async signIn(browser: Browser, replaced: Fields = {}, name = 'alice'): Promise<Page> {
    const page = await browser.open(this.url(replaced));
    return await browser.submit(page, { 'User name': name, Password: PASSWORD }, 'Sign in');
  }

  /** Signs in and allows. */
  async authorize(replaced: Fields = {}, name = 'alice'): Promise<Page> {
    const browser = new Browser();
    return await browser.submit(await this.signIn(browser, replaced, name), {}, 'Allow');
  }

  /** Signs in, allows, and gets the first tokens. */
  async connect(replaced: Fields = {}, name = 'alice'): Promise<Tokens> {
    const { code = '' } = (await this.authorize(replaced, name)).answer;
    const { status, body } = await this.exchange(code);
    if (status !== 200) throw new Error(`The exchange failed: ${JSON.stringify(body)}`);
    return body as unknown as Tokens;
  }

  /** Exchanges a code. */
  async exchange(code: string, replaced: Fields = {}): Promise<Answer> {
    return await this.token({
      grant_type: 'authorization_code',
      code,
      code_verifier: this.verifier,
      redirect_uri: this.redirect,
      resource: this.site.resource,
      ...replaced,
    });
  }

  async refresh(token: string, replaced: Fields = {}): Promise<Answer> {
    return await this.token({ grant_type: 'refresh_token', refresh_token: token, ...replaced });
  }

  async revoke(token: string, replaced: Fields = {}): Promise<Answer> {
    return await sendForm(`${this.site.issuer}/revoke`, { client_id: this.id, token, ...replaced });
  }

  /** The status of a call with an access token. */
  async call(token: string): Promise<number> {
    return (await this.site.call(token)).status;
  }

  private async token(fields: Fields): Promise<Answer> {
    return await sendForm(`${this.site.issuer}/token`, { client_id: this.id, ...fields });
  }
}
