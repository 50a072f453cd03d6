import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

import { Provider } from 'oidc-provider';

import { listenOn } from './site.js';

/** The secret of the server in front. */
export const SECRET = 'a secret of the upstream';

/** A provider of OpenID Connect that registers no clients, as companies have one. */
export class UpstreamSite {
  /** Who signs in next. */
  user = 'u-1';
  /** How the next sign-in ends. */
  refuses: string | undefined;
  /** How many requests the token endpoint has got. */
  tokenRequests = 0;
  /** Whether it has forgotten all that it has granted. */
  isForgetful = false;
  /** What happens while the token endpoint is asked. */
  beforeToken: () => Promise<void> = async () => {};
  private provider: Provider | undefined;

  private constructor(readonly issuer: string) {}

  static async serve(): Promise<UpstreamSite> {
    let site: UpstreamSite | undefined;
    const issuer = await listenOn(createServer((request, response) => void site?.handle(request, response)));
    return (site = new UpstreamSite(issuer));
  }

  /** Answers nothing but 503. */
  forgetServer(): void {
    this.provider = undefined;
  }

  /** Knows the server in front by its redirect URI. */
  know(callback: string): void {
    this.provider = new Provider(this.issuer, {
      clients: [
        {
          client_id: 'decorum',
          client_secret: SECRET,
          redirect_uris: [callback],
          grant_types: ['authorization_code', 'refresh_token'],
        },
      ],
      cookies: { keys: ['key'] },
      pkce: { required: () => true },
      features: { devInteractions: { enabled: false } },
      scopes: ['openid', 'profile', 'offline_access', 'calendar'],
      claims: { openid: ['sub'] },
      ttl: { AccessToken: 300, RefreshToken: 86_400, IdToken: 300, Interaction: 600, Session: 600, Grant: 86_400 },
      issueRefreshToken: async () => true,
      rotateRefreshToken: true,
      findAccount: async (_ctx, id) => ({ accountId: id, claims: async () => ({ sub: id }) }),
      interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    });
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { url = '' } = request;
    const { provider } = this;
    if (provider === undefined) return void response.writeHead(503).end();
    if (url === '/token') {
      this.tokenRequests += 1;
      await this.beforeToken();
      if (this.isForgetful) {
        response.writeHead(400, { 'content-type': 'application/json' });
        return void response.end(JSON.stringify({ error: 'invalid_grant' }));
      }
    }
    if (!url.startsWith('/interaction/')) return void (await provider.callback()(request, response));
    const { prompt, params } = await provider.interactionDetails(request, response);
    if (this.refuses !== undefined) {
      const error = { error: this.refuses };
      return await provider.interactionFinished(request, response, error, { mergeWithLastSubmission: false });
    }
    if (prompt.name === 'login') {
      return await provider.interactionFinished(request, response, {
        login: { accountId: this.user, remember: false },
      });
    }
    const grant = new provider.Grant({ accountId: this.user, clientId: String(params['client_id']) });
    grant.addOIDCScope(String(params['scope']));
    const consent = { grantId: await grant.save() };
    await provider.interactionFinished(request, response, { consent });
  }
}
