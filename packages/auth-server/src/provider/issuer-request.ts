import { IncomingMessage } from 'node:http';
import type { Buffer } from 'node:buffer';

/** Headers that oidc-provider reads. All others stay with the application. */
const PASSED = ['accept-language', 'authorization', 'content-type', 'cookie', 'sec-fetch-site', 'user-agent'];

/** What an `IssuerRequest` is made of. */
export interface IssuerRequestParts {
  readonly raw: IncomingMessage;
  readonly issuer: URL;
  /** Path below the issuer, and query. */
  readonly url: string;
  readonly body: Buffer;
}

/**
 * A request as oidc-provider gets it. oidc-provider builds URLs from the `Host` and the protocol of a request, so it is
 * told those of the issuer, whatever the client or a proxy has sent. The body was read already.
 */
export class IssuerRequest extends IncomingMessage {
  /** The path with that of the issuer. oidc-provider takes the difference for the path it is mounted at. */
  readonly originalUrl: string;

  constructor(private readonly parts: IssuerRequestParts) {
    const { raw, issuer, url, body } = parts;
    super(raw.socket);
    this.method = raw.method ?? 'GET';
    this.url = url;
    this.originalUrl = issuer.pathname.replace(/\/$/, '') + url;
    this.httpVersion = raw.httpVersion;
    // tells whether the answer may have a status message
    this.httpVersionMajor = raw.httpVersionMajor;
    // otherwise, Node would close the connection once the body was read
    this.complete = true;
    for (const name of PASSED) {
      const value = raw.headers[name];
      if (value !== undefined) this.headers[name] = value;
    }
    this.headers.host = issuer.host;
    this.headers['x-forwarded-proto'] = issuer.protocol.slice(0, -1);
    if (body.length > 0) this.headers['content-length'] = String(body.length);
    this.push(body.length > 0 ? body : null);
    if (body.length > 0) this.push(null);
  }

  /** The same request, as if it had just arrived. */
  again(): IssuerRequest {
    return new IssuerRequest(this.parts);
  }
}
