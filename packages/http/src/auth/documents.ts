import { isPromise } from '@decorum/core/internal';

import { internalError } from '../endpoint/answer.js';
import type { Auth, AuthDocument, DocumentAnswer, RequestHead } from './auth.js';
import { lowerCased, requireSendable } from './authenticate.js';
import type { AnswerHeaders, Responder } from '../endpoint/http-context.js';
import { HttpError } from '../endpoint/http-error.js';

/** Every page may read the documents, because they are public. */
const CORS: AnswerHeaders = { 'access-control-allow-origin': '*' };

/** Browsers send a preflight request for `MCP-Protocol-Version`, and for a POST with JSON or client credentials. */
const PREFLIGHT: AnswerHeaders = {
  ...CORS,
  'access-control-allow-headers': 'Authorization, Content-Type, MCP-Protocol-Version',
  'access-control-max-age': '7200',
};

/** The document at the path of a URL, if there is one. */
export function documentAt(auth: Auth<never> | undefined, url: string): AuthDocument | undefined {
  if (auth?.documents === undefined) return undefined;
  const query = url.indexOf('?');
  const path = query === -1 ? url : url.slice(0, query);
  return auth.documents.find((document) => document.path === path);
}

/** A request for a document, and the means to answer it. */
export interface DocumentRequest {
  readonly head: RequestHead;
  readonly responder: Pick<Responder, 'answer' | 'drop'>;
  /** Reports errors that must not reach clients. */
  readonly report: (error: unknown) => void;
}

/**
 * Answers a request for a document. The request needs no credentials, and its host and origin aren't checked, because
 * documents are public. Never throws.
 */
export function serveDocument(document: AuthDocument, { head, responder, report }: DocumentRequest): void {
  const send = (answer: DocumentAnswer) => {
    const { status, headers = {}, body } = requireSendable(answer, 'A document');
    responder.answer(status, body, { ...CORS, ...lowerCased(headers) });
  };
  const fail = (error: unknown) => {
    report(error);
    try {
      responder.answer(500, internalError(), CORS);
    } catch {
      // something else has already answered, such as the application's timeout
      responder.drop();
    }
  };
  try {
    const answer = answerTo(document, head);
    if (isPromise(answer)) void Promise.resolve(answer).then(send).catch(fail);
    else send(answer);
  } catch (error) {
    fail(error);
  }
}

function answerTo(document: AuthDocument, head: RequestHead): DocumentAnswer | Promise<DocumentAnswer> {
  const methods = document.answersPost ? ['GET', 'HEAD', 'POST'] : ['GET', 'HEAD'];
  const allow = methods.join(', ');
  if (head.method === 'OPTIONS')
    return { status: 204, headers: { ...PREFLIGHT, 'access-control-allow-methods': allow } };
  if (methods.includes(head.method)) return document.answer(head);
  return { status: 405, headers: { allow }, body: new HttpError(405, `Method not allowed. Use ${allow}.`).body() };
}
