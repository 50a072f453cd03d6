import { createHash } from 'node:crypto';

import { errorAnswer } from '../endpoint/answer.js';
import type { AnswerHeaders, HttpRequest, Responder } from '../endpoint/http-context.js';
import { HttpError } from '../endpoint/http-error.js';

/** A document that everybody may read, with its validator. */
export interface Published {
  readonly type: string;
  readonly text: string;
  readonly etag: string;
}

/** A request for a document, and the means to answer it. */
export type PublicRequest = Pick<HttpRequest, 'method' | 'headers' | 'localPort' | 'isFromGateway'> &
  Pick<Responder, 'answer' | 'drop'> & {
    /** Path and query. */
    readonly url: string;
  };

/** Pages of any origin may read the documents. */
const CORS: AnswerHeaders = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET',
  'access-control-allow-headers': 'Content-Type, If-None-Match',
  'access-control-expose-headers': 'ETag',
};

const ALLOWED = 'GET, HEAD';

/** Creates a document. */
export function publish(type: string, value: object): Published {
  const text = JSON.stringify(value);
  return { type, text, etag: `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"` };
}

/**
 * Answers a request for a document. The request needs no credentials, and pages of any origin may send it. Never throws.
 * @param find checks the host of the request and returns the document
 * @param report called with errors that must not reach clients
 */
export function servePublished(context: PublicRequest, find: () => Published, report: (error: unknown) => void): void {
  try {
    const found = find();
    const { method, headers } = context;
    if (method === 'OPTIONS') return context.answer(204, undefined, { ...CORS, 'access-control-max-age': '7200' });
    if (method !== 'GET' && method !== 'HEAD') {
      throw new HttpError(405, `Method not allowed. Use ${ALLOWED}.`, { allow: ALLOWED });
    }
    const described = { ...CORS, 'cache-control': 'public, max-age=3600', etag: found.etag };
    if (knows(headers['if-none-match'], found.etag)) return context.answer(304, undefined, described);
    context.answer(200, found.text, { ...described, 'content-type': found.type });
  } catch (error) {
    const { status, body, headers } = errorAnswer(error, report);
    try {
      context.answer(status, body, { ...CORS, ...headers });
    } catch (unsent) {
      // something else has already answered, such as the application's timeout
      report(unsent);
      context.drop();
    }
  }
}

/** Whether the client has the current version (RFC 9110, section 13.1.2). */
function knows(condition: string | undefined, etag: string): boolean {
  const tags = condition?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? [];
  return tags.includes(etag) || tags.includes('*');
}
