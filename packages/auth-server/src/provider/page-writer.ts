import type { ServerResponse } from 'node:http';

import type { KoaContextWithOIDC } from 'oidc-provider';

import { pageHeaders } from '../pages/page-headers.js';
import type { Pages } from '../pages/pages.js';
import type { ConsentView, SignInView } from '../pages/views.js';

/** Why a request has failed (RFC 6749, section 4.1.2.1). */
export interface Failure {
  readonly error: string;
  readonly error_description?: string;
}

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
    const message = description === undefined ? error : `${description} (${error})`;
    ctx.body = this.pages.message({ title: 'This request does not work', message });
  }

  private send(response: ServerResponse, status: number, text: string): void {
    for (const [name, value] of Object.entries(pageHeaders())) response.setHeader(name, value);
    response.statusCode = status;
    response.end(text);
  }
}
