import { fetchJson, type JsonText, type Platform } from './fetch-json.js';
import { Kept } from './kept.js';
import { issuerUrlMistake } from './urls.js';

/** Age at which the metadata of an issuer is fetched again. */
const FRESH_MS = 60 * 60 * 1000;

/** The metadata at an issuer's URL is that of another issuer. */
export class OtherIssuerError extends Error {
  constructor(
    url: string,
    readonly named: unknown,
  ) {
    super(`${url} names the issuer ${JSON.stringify(named)}`);
  }
}

/** The metadata of an issuer (RFC 8414, section 2). */
export interface IssuerMetadata extends JsonText {
  readonly issuer: string;
}

/**
 * The possible URLs of an issuer's metadata: first of RFC 8414 (section 3.1), then of OpenID Connect Discovery 1.0
 * (section 4.1).
 */
function metadataUrls(issuer: string): readonly string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  return [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ];
}

/** Finds the endpoints of an issuer. */
export class Discovery {
  /** The last fetched metadata. */
  readonly metadata: Kept<IssuerMetadata>;

  constructor(
    readonly issuer: string,
    private readonly allowLoopbackHttp: boolean,
    private readonly platform: Platform,
  ) {
    this.metadata = new Kept({ load: () => this.load(), now: () => platform.now(), freshMs: FRESH_MS });
  }

  /**
   * The URL of an endpoint of the issuer.
   * @throws {Error} if the metadata can't be fetched, or has no safe URL under that name
   */
  async endpoint(name: string): Promise<string> {
    const metadata = await this.metadata.get();
    if (metadata === undefined) throw new Error(`no metadata of ${this.issuer}`, { cause: this.metadata.failure });
    const url = metadata.json[name];
    if (url === undefined) throw new Error(`${this.issuer} has no ${name}`);
    const mistake = issuerUrlMistake(url, this.allowLoopbackHttp);
    if (mistake !== undefined) throw new Error(`${name} of ${this.issuer} ${mistake}`);
    return url as string;
  }

  private async load(): Promise<IssuerMetadata> {
    const failures: unknown[] = [];
    for (const url of metadataUrls(this.issuer)) {
      try {
        const found = await fetchJson(url, this.platform);
        // byte for byte: otherwise, an issuer could impersonate another (RFC 8414, section 3.3)
        if (found.json['issuer'] === this.issuer) return { ...found, issuer: this.issuer };
        throw new OtherIssuerError(url, found.json['issuer']);
      } catch (error) {
        failures.push(error);
      }
    }
    throw new AggregateError(failures, `no metadata of ${this.issuer}`);
  }
}
