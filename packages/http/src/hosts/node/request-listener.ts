import { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

import type { Endpoint } from '../../endpoint/endpoint.js';
import { answerError, isAt, Pipeline } from '../../endpoint/pipeline.js';
import { isFlooding } from './answers.js';
import { NodeBody } from './body.js';
import { NodeContext } from './context.js';
import { originForm } from './head.js';

/**
 * The request listener of `listen`.
 * @param otherwise gets the requests to other paths
 */
export function requestListener(endpoint: Endpoint<IncomingMessage>, otherwise: RequestListener): RequestListener {
  const { path, legacySse } = endpoint.settings;
  const paths = [path, ...(legacySse ? [legacySse.path, legacySse.messagesPath] : [])];
  // no middleware runs before, so any spelling is served, as Fastify's routes do
  const isServed = (url: string) => paths.some((each) => isAt(each, url));
  return (request, response) => {
    if (request.url !== path && !isServed(originForm(request.url))) otherwise(request, response);
    else if (response.socket !== null || !isFlooding(response)) serveRequest(endpoint, request, response);
  };
}

/**
 * Handles a request to an endpoint. The usual POST, which nearly all clients send, takes a fast path that skips the steps
 * only other requests need. Other requests go through the pipeline.
 */
export function serveRequest(
  endpoint: Endpoint<IncomingMessage>,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const { settings, guard, gate, bodies } = endpoint;
  const { headers } = request;
  const context = new NodeContext(request, response);
  const isUsual =
    request.method === 'POST' &&
    headers['content-type'] === 'application/json' &&
    headers.origin === undefined &&
    // not read by something else
    !request.readableDidRead &&
    !request.readableEnded &&
    !request.destroyed &&
    settings.principal === undefined &&
    settings.legacySse === undefined;
  if (!isUsual) return new Pipeline(endpoint, context, request).run();
  const fail = (error: unknown) => answerError(endpoint, context, error);
  try {
    guard.check(context.headers, request.socket.localPort);
    const principal = gate?.enter(context.head, request, context);
    if (principal instanceof Promise) return new Pipeline(endpoint, context, request).readAfter(principal);
    context.principal = principal;
    const dispatch = (failure: unknown, message: unknown) => {
      if (failure !== null) return fail(failure);
      context.isRead = true;
      try {
        context.post(endpoint, message);
      } catch (error) {
        fail(error);
      }
    };
    // events of the connection don't have the `AsyncLocalStorage` of middleware and instrumentation
    const resource = new AsyncResource('Body');
    const body = (failure: unknown, message?: unknown) =>
      resource.runInAsyncScope(dispatch, undefined, failure, message);
    new NodeBody({ bodies, raw: request, request: context.request }, context, { body }).read();
  } catch (error) {
    fail(error);
  }
}
