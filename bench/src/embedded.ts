import { createHash } from 'node:crypto';

import type { AuthorizationServer } from '@decorum/auth-server';

const REDIRECT = 'https://client.example.com/callback';
const VERIFIER = 'x'.repeat(43);

/** Access tokens are for 5 minutes, so a case must not take longer. */
const TOKENS = 64;

/** An authorization server inside the measured server, whose user is always signed in. */
export async function embeddedAuth(): Promise<AuthorizationServer> {
  // loads oidc-provider, which would weigh on the other parts
  const { authorizationServer, memoryStore } = await import('@decorum/auth-server');
  return authorizationServer({
    // the port doesn't matter, because the bench follows redirects by their path
    resource: 'http://127.0.0.1:1/mcp',
    allowLoopbackHttp: true,
    scopes: ['mcp'],
    consent: { mcp: 'Call tools' },
    clients: [{ clientId: 'bench', redirectUris: [REDIRECT] }],
    login: () => ({ subject: 'ada' }),
    store: memoryStore({ inProduction: true }),
  });
}

/** Gets a grant for a client, and different access tokens of it. */
export async function embeddedTokens(origin: string): Promise<readonly string[]> {
  const code = await authorize(origin);
  const ask = async (form: Record<string, string>) => {
    const body = new URLSearchParams({ client_id: 'bench', ...form });
    const response = await fetch(new URL('/token', origin), { method: 'POST', body });
    const answer = (await response.json()) as { access_token?: string; refresh_token?: string };
    if (answer.access_token === undefined) throw new Error(`No token: ${JSON.stringify(answer)}`);
    return answer as { access_token: string; refresh_token: string };
  };
  const redirect = { redirect_uri: REDIRECT, code_verifier: VERIFIER };
  let answer = await ask({ grant_type: 'authorization_code', code, ...redirect });
  const tokens = [answer.access_token];
  while (tokens.length < TOKENS) {
    answer = await ask({ grant_type: 'refresh_token', refresh_token: answer.refresh_token });
    tokens.push(answer.access_token);
  }
  return tokens;
}

/** Allows the client on the consent page, and returns its code. */
async function authorize(origin: string): Promise<string> {
  const cookies = new Map<string, string>();
  const go = async (path: string, init: RequestInit = {}) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(new URL(path, origin), { redirect: 'manual', ...init, headers: { cookie } });
    for (const each of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(each) ?? [];
      cookies.set(name, value);
    }
    return response;
  };
  const challenge = createHash('sha256').update(VERIFIER).digest('base64url');
  const pkce = { code_challenge: challenge, code_challenge_method: 'S256' };
  const query = new URLSearchParams({ client_id: 'bench', redirect_uri: REDIRECT, response_type: 'code', ...pkce });
  let response = await go(`/authorize?${query}`);
  for (let step = 0; step < 10; step++) {
    const location = response.headers.get('location');
    if (location === null) {
      const page = await response.text();
      const body = new URLSearchParams({
        decision: 'allow',
        csrf: /name="csrf" value="([^"]+)"/.exec(page)?.[1] ?? '',
      });
      response = await go(/action="([^"]+)"/.exec(page)?.[1] ?? '/', { method: 'POST', body });
      continue;
    }
    const { searchParams, pathname, search } = new URL(location, origin);
    if (location.startsWith(REDIRECT)) return searchParams.get('code') ?? '';
    response = await go(pathname + search);
  }
  throw new Error(`No code after ten redirects: ${response.status}`);
}
