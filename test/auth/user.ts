/** Everything that an OAuth client keeps, such as client information and tokens. SDKs differ in the details. */
type Kept = Record<string, unknown>;

const CALLBACK = 'http://127.0.0.1:33418/callback';

/** What the user enters where an issuer asks for it. */
interface Credentials {
  readonly name: string;
  readonly password: string;
}

/** What the user sends from a page: of oidc-provider's own pages, or of `@decorum/auth-server`. */
function formOf(page: string, { name, password }: Credentials): Record<string, string> | undefined {
  const [prompt, csrf] = [/name="prompt" value="(\w+)"/, /name="csrf" value="([^"]+)"/].map(
    (each) => each.exec(page)?.[1],
  );
  if (prompt !== undefined) return { prompt, login: name, password };
  if (csrf === undefined) return undefined;
  return page.includes('type="password"') ? { csrf, username: name, password } : { csrf, decision: 'allow' };
}

/** Follows an issuer's redirects like a browser, with cookies and its forms, up to the client's callback. */
export async function consent(url: URL, credentials: Credentials = { name: 'alice', password: 'any' }): Promise<URL> {
  const cookies = new Map<string, string>();
  const callback = url.searchParams.get('redirect_uri') ?? CALLBACK;
  let next = url;
  let form: URLSearchParams | undefined;
  for (let hop = 0; hop < 20; hop++) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(next, {
      redirect: 'manual',
      headers: { cookie },
      ...(form && { method: 'POST', body: form }),
    });
    form = undefined;
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get('location');
    if (location === null) {
      const page = await response.text();
      const action = /<form[^>]* action="([^"]+)"/.exec(page)?.[1];
      const fields = formOf(page, credentials);
      if (action === undefined || fields === undefined) {
        throw new Error(`The issuer answered ${response.status}: ${page}`);
      }
      next = new URL(action, next);
      form = new URLSearchParams(fields);
      continue;
    }
    next = new URL(location, next);
    if (next.href.startsWith(callback)) return next;
  }
  throw new Error('The issuer redirects endlessly.');
}

/** The user of an SDK client: implements the interface that SDKs call, and agrees to everything. */
export class User {
  readonly redirectUrl = CALLBACK;
  /** The scopes that the client has asked for, in order. */
  readonly asked: (string | null)[] = [];
  /** The parameters that the issuer sent back after the last visit. */
  callback = new URLSearchParams();
  private readonly kept: Kept = {};

  /**
   * @param scope the scope that clients request if they don't read it from challenges
   * @param declined a scope that the user doesn't grant at the first visit
   */
  constructor(
    private readonly scope?: string,
    private readonly declined?: string,
    private readonly credentials?: Credentials,
  ) {}

  /** The code, and the issuer that sent it (RFC 9207). */
  get returned(): [code: string, issuer: string] {
    const code = this.callback.get('code');
    if (code === null) throw new Error(`The issuer sent no code, but ${this.callback}`);
    return [code, this.callback.get('iss') ?? ''];
  }

  get clientMetadata() {
    return {
      client_name: 'test',
      redirect_uris: [CALLBACK],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      application_type: 'native' as const,
      ...(this.scope !== undefined && { scope: this.scope }),
    };
  }

  clientInformation() {
    return this.kept['client'] as { client_id: string; redirect_uris: string[] } | undefined;
  }

  saveClientInformation(client: unknown): void {
    this.kept['client'] = client;
  }

  tokens() {
    return this.kept['tokens'] as { access_token: string; token_type: string; scope?: string } | undefined;
  }

  saveTokens(tokens: unknown): void {
    this.kept['tokens'] = tokens;
  }

  async redirectToAuthorization(url: URL): Promise<void> {
    const scope = url.searchParams.get('scope');
    this.asked.push(scope);
    // SDK 2 adds offline_access, because the issuer knows it
    const granted = scope?.split(' ').filter((each) => this.asked.length > 1 || each !== this.declined);
    if (granted !== undefined) url.searchParams.set('scope', granted.join(' '));
    this.callback = (await consent(url, this.credentials)).searchParams;
  }

  saveDiscoveryState(state: unknown): void {
    this.kept['discovery'] = state;
  }

  discoveryState() {
    return this.kept['discovery'] as never;
  }

  saveCodeVerifier(verifier: string): void {
    this.kept['verifier'] = verifier;
  }

  codeVerifier(): string {
    return this.kept['verifier'] as string;
  }
}

export { CALLBACK };
