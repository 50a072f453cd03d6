import { refusedClaims } from './claims.js';
import { fetchJson, type Platform, problemOf } from './fetch-json.js';
import { type Claims, principalOf } from './principal.js';
import { type Refused, shown } from './reasons.js';
import type { IntrospectionSettings, IssuerSettings } from './settings.js';
import type { Verified } from './verified.js';

/** How long the response for a valid token is cached by default. */
export const DEFAULT_KEPT_MS = 30_000;

/** Cap on the pending requests to an issuer: anyone can send tokens that cause one. */
const MAX_PENDING = 100;

/** Cap on those that one address causes. The tokens of others must still get through. */
const MAX_PENDING_PER_ADDRESS = MAX_PENDING / 4;

/** Asks an issuer about tokens that only the issuer can read (RFC 7662). */
export class Introspection {
  private pending = 0;
  private readonly pendingOf = new Map<string | undefined, number>();

  constructor(
    private readonly issuer: IssuerSettings,
    private readonly settings: IntrospectionSettings,
    private readonly platform: Platform,
  ) {}

  /**
   * Verifies a token.
   * @param address see `addressOf`; all unknown addresses count as one
   */
  async verify(token: string, address: string | undefined): Promise<Verified | Refused> {
    const own = this.pendingOf.get(address) ?? 0;
    if (this.pending >= MAX_PENDING || own >= MAX_PENDING_PER_ADDRESS) return { reason: 'busy' };
    this.pending += 1;
    this.pendingOf.set(address, own + 1);
    try {
      return this.judge(await this.ask(token));
    } catch (error) {
      return { reason: 'introspection-failed', found: problemOf(error) };
    } finally {
      this.pending -= 1;
      const left = (this.pendingOf.get(address) as number) - 1;
      if (left === 0) this.pendingOf.delete(address);
      else this.pendingOf.set(address, left);
    }
  }

  private async ask(token: string): Promise<Claims> {
    const { platform, settings } = this;
    const authorization = settings.credentials.basic;
    const url = await settings.discovery.endpoint('introspection_endpoint');
    const body = new URLSearchParams({ token, token_type_hint: 'access_token' });
    return (await fetchJson(url, platform, { method: 'POST', headers: { authorization }, body })).json;
  }

  private judge(claims: Claims): Verified | Refused {
    const { issuer, platform } = this;
    const { keptMs } = this.settings;
    const { active, iss = issuer.issuer, token_type: type = 'Bearer' } = claims;
    if (active !== true) return { reason: 'inactive', found: 'the token is not active' };
    if (iss !== issuer.issuer) return { reason: 'inactive', found: `iss is ${shown(iss)}` };
    if (typeof type !== 'string' || type.toLowerCase() !== 'bearer') {
      return { reason: 'inactive', found: `token_type is ${shown(type)}` };
    }
    const refused = refusedClaims(claims, issuer, platform.now());
    if (refused) return refused;
    const principal = principalOf(claims, issuer);
    const { subject, expiresAt } = principal;
    if (typeof subject !== 'string' || subject === '') return { reason: 'subject', found: 'sub is missing' };
    return { principal, until: expiresAt, keptMs };
  }
}
