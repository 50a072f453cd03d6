import type { ServerResponse } from 'node:http';

import type { KoaContextWithOIDC } from 'oidc-provider';

import { pageHeaders } from '../pages/page-headers.js';
import type { Pages } from '../pages/pages.js';
import type { ConsentView, SignInView } from '../pages/views.js';
import { CLIENT_ENDPOINTS, CORS } from './metadata.js';

/** Why a request has failed (RFC 6749, section 4.1.2.1). */
export interface Failure {
  readonly error: string;
  readonly error_description?: string;
}

/** Apps keep their registration when a server has lost it, such as one with a `memoryStore()`. */
const UNKNOWN_CLIENT = 'This server does not know the app. Remove this server from the app, and add it again.';

/** Sends pages. */
export class PageWriter {
  constructor(private readonly pages: Pages) {}

  /** Sends the sign-in page, also after a wrong password. */
  signIn(response: ServerResponse, view: SignInView): void {
    // 401 would need a challenge (RFC 9110, section 15.5.2), which makes browsers ask for a password of their own
    this.send(response, 200, this.pages.signIn(view));
  }

  /** Sends the consent page. */
  consent(response: ServerResponse, view: ConsentView): void {
    this.send(response, 200, this.pages.consent(view));
  }

  /**
   * Sends the page for somebody who has failed too often.
   * @param retryAfter seconds
   */
  locked(response: ServerResponse, retryAfter: number): void {
    response.setHeader('retry-after', String(retryAfter));
    this.send(response, 429, this.pages.locked({ retryAfter }));
  }

  /**
   * Sends the page for an address that begins too often.
   * @param retryAfter seconds
   */
  busy(response: ServerResponse, retryAfter: number): void {
    response.setHeader('retry-after', String(retryAfter));
    this.message(response, 429, { title: 'Too many requests', message: 'Wait a minute, and try again.' });
  }

  /**
   * Sends the page for somebody who signs in while too many others do.
   * @param retryAfter seconds
   */
  overloaded(response: ServerResponse, retryAfter: number): void {
    response.setHeader('retry-after', String(retryAfter));
    const message = 'Too many people are signing in. Go back, and try again in a moment.';
    this.message(response, 503, { title: 'Busy', message });
  }

  /** Answers a request in which the server itself has failed, whatever it was about to answer. */
  broken(response: ServerResponse, path: string): void {
    for (const name of response.getHeaderNames()) response.removeHeader(name);
    if (CLIENT_ENDPOINTS.includes(path)) {
      response.writeHead(500, { ...CORS, 'content-type': 'application/json', 'cache-control': 'no-store' });
      return void response.end(JSON.stringify({ error: 'server_error' }));
    }
    const message = 'This server has a problem. Go back to the app, and try again later.';
    this.message(response, 500, { title: 'Something went wrong', message });
  }

  /** Sends the page for a form that is too old, was sent twice, or belongs to another browser. */
  expired(response: ServerResponse): void {
    const message = 'This page is no longer valid. Go back to the app, and connect again.';
    this.message(response, 400, { title: 'Start again', message });
  }

  /** Sends a page that only tells something. */
  message(response: ServerResponse, status: number, view: { readonly title: string; readonly message: string }): void {
    this.send(response, status, this.pages.message(view));
  }

  /** Answers a request of oidc-provider that has failed, and can't be sent back to a client. */
  failure(ctx: KoaContextWithOIDC, { error, error_description: description }: Failure): void {
    for (const [name, value] of Object.entries(pageHeaders())) ctx.set(name, value);
    const said = description === 'client is invalid' ? UNKNOWN_CLIENT : description;
    const message = said === undefined ? error : `${said} (${error})`;
    ctx.body = this.pages.message({ title: 'This request does not work', message });
  }

  private send(response: ServerResponse, status: number, text: string): void {
    for (const [name, value] of Object.entries(pageHeaders())) response.setHeader(name, value);
    response.statusCode = status;
    response.end(text);
  }
}
