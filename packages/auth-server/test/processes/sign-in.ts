import { createHash, randomBytes } from 'node:crypto';

/** An answer of the server, with its body. */
export interface Answer {
  readonly status: number;
  readonly location: string | null;
  readonly retryAfter: string | null;
  readonly text: string;
}

/** What a client gets for a code or a refresh token. */
export interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

/** A code, and what it can be exchanged with. */
export type CodeForm = Readonly<Record<string, string>>;

/** Sends requests, which are never retried, and reads answers to their end. Rejects if the server has died. */
export async function send(url: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(url, { redirect: 'manual', ...init });
  const { status, headers } = response;
  const text = await response.text();
  return { status, location: headers.get('location'), retryAfter: headers.get('retry-after'), text };
}

/** A user with a browser, whose clients are native programs and web applications. */
export class Browser {
  private readonly cookies = new Map<string, string>();

  /** @param origins where each request goes, in turn: processes that share a store serve the same issuer */
  constructor(
    private readonly issuer: string,
    private readonly user: string,
    private readonly origins: () => string = () => issuer,
  ) {}

  /** Goes to a page, as if the user had typed its address. */
  async go(url: string, init: RequestInit = {}): Promise<Answer> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const to = url.replace(this.issuer, this.origins());
    const headers = { cookie, 'sec-fetch-site': 'none', 'x-forwarded-for': '192.0.2.1', ...init.headers };
    const response = await fetch(to, { redirect: 'manual', ...init, headers });
    for (const each of response.headers.getSetCookie()) {
      const [name = '', value = ''] = (each.split(';', 1)[0] as string).split(/=(.*)/s);
      this.cookies.set(name, value);
    }
    const text = await response.text();
    return { status: response.status, location: response.headers.get('location'), retryAfter: null, text };
  }

  /** Sends the form of a page. */
  async submit({ text }: Answer, fields: Readonly<Record<string, string>>): Promise<Answer> {
    const [, action = ''] = /action="([^"]+)"/.exec(text) ?? [];
    const [, csrf = ''] = /name="csrf" value="([^"]+)"/.exec(text) ?? [];
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const body = new URLSearchParams({ csrf, ...fields }).toString();
    return await this.go(new URL(action, this.issuer).href, { method: 'POST', headers, body });
  }

  /**
   * Signs in, and allows a client to act for the user.
   * @returns what the client exchanges, and whether the user was asked for consent
   */
  async allow(clientId: string, redirect: string): Promise<{ readonly form: CodeForm; readonly asked: boolean }> {
    const verifier = randomBytes(32).toString('base64url');
    const query = new URLSearchParams({
      client_id: clientId,
      redirect_uri: redirect,
      response_type: 'code',
      state: 'state',
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    });
    let answer = await this.go(`${this.issuer}/authorize?${query}`);
    let asked = false;
    for (let step = 0; step < 12; step++) {
      const { status, location, text } = answer;
      if (location?.startsWith(redirect)) {
        const code = new URL(location).searchParams.get('code');
        if (code === null) throw new Error(`no code in ${location}`);
        const form = { client_id: clientId, grant_type: 'authorization_code', code, code_verifier: verifier };
        return { form: { ...form, redirect_uri: redirect }, asked };
      }
      if (location !== null) answer = await this.go(new URL(location, this.issuer).href);
      else if (status !== 200) throw new UnexpectedAnswer(answer);
      else if (text.includes('name="password"'))
        answer = await this.submit(answer, { username: this.user, password: 'secret' });
      else {
        asked = true;
        answer = await this.submit(answer, { decision: 'allow', remember: 'yes' });
      }
    }
    throw new UnexpectedAnswer(answer);
  }
}

/** Neither a page nor a redirect. */
export class UnexpectedAnswer extends Error {
  constructor(readonly answer: Answer) {
    super(`${answer.status} ${answer.text.slice(0, 200)}`);
  }
}

/** Registers a client. */
export async function register(origin: string, redirect: string): Promise<string> {
  const body = JSON.stringify({ redirect_uris: [redirect], token_endpoint_auth_method: 'none' });
  const answer = await send(`${origin}/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  if (answer.status !== 201) throw new UnexpectedAnswer(answer);
  return (JSON.parse(answer.text) as { client_id: string }).client_id;
}

/** Sends a request to the token endpoint. */
export const exchange = async (origin: string, form: CodeForm): Promise<Answer> =>
  await send(`${origin}/token`, { method: 'POST', body: new URLSearchParams(form) });

/** Asks for new tokens. */
export const refresh = async (origin: string, clientId: string, token: string): Promise<Answer> =>
  await exchange(origin, { client_id: clientId, grant_type: 'refresh_token', refresh_token: token });

/** The tokens in an answer. Any other answer is an error. */
export function tokensIn(answer: Answer): Tokens {
  if (answer.status !== 200) throw new UnexpectedAnswer(answer);
  return JSON.parse(answer.text) as Tokens;
}

const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'client', version: '1' } },
});

const headersOf = (token: string) => ({
  authorization: `Bearer ${token}`,
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
});

/** Calls the MCP endpoint with an access token. Returns the status. */
export async function call(origin: string, token: string): Promise<number> {
  return (await send(`${origin}/mcp`, { method: 'POST', headers: headersOf(token), body: INITIALIZE })).status;
}

/** Opens the stream of a new session. */
export async function openStream(origin: string, token: string): Promise<{ readonly ended: Promise<unknown> }> {
  const headers = { ...headersOf(token), 'mcp-protocol-version': '2025-11-25' };
  const opened = await fetch(`${origin}/mcp`, { method: 'POST', headers, body: INITIALIZE });
  const session = opened.headers.get('mcp-session-id') ?? '';
  await opened.text();
  const stream = await fetch(`${origin}/mcp`, {
    headers: { ...headers, accept: 'text/event-stream', 'mcp-session-id': session },
  });
  if (stream.status !== 200) throw new Error(`The stream has the status ${stream.status}.`);
  return { ended: stream.text() };
}
