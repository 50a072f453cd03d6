import { Buffer } from 'node:buffer';

/** Ways to authenticate a client at its issuer (RFC 6749, section 2.3.1). */
const METHODS = ['client_secret_basic', 'client_secret_post'] as const;

/** Form encoding of credentials (RFC 6749, section 2.3.1). */
const encoded = (text: string) => new URLSearchParams([['', text]]).toString().slice(1);

/** The id and secret of this server at an issuer. The secret is private at run time too, so no log can show it. */
export class ClientCredentials {
  readonly #secret: string;

  constructor(
    readonly clientId: string,
    secret: string,
  ) {
    this.#secret = secret;
  }

  /** The value of `Authorization` with these credentials. */
  get basic(): string {
    return `Basic ${Buffer.from(`${encoded(this.clientId)}:${encoded(this.#secret)}`).toString('base64')}`;
  }

  /**
   * Adds the credentials to a request.
   * @param supported the methods that the issuer supports: by default only the first (RFC 8414, section 2)
   * @returns undefined if the issuer supports neither method
   */
  authenticate(body: URLSearchParams, supported: unknown = METHODS.slice(0, 1)): RequestInit | undefined {
    const method = METHODS.find((each) => Array.isArray(supported) && supported.includes(each));
    if (method === undefined) return undefined;
    if (method === 'client_secret_basic') return { method: 'POST', headers: { authorization: this.basic }, body };
    body.set('client_id', this.clientId);
    body.set('client_secret', this.#secret);
    return { method: 'POST', body };
  }

  /** Removes the secret from a text. */
  redact(text: string): string {
    return text.replaceAll(this.#secret, '[secret]');
  }
}
