import { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

import type { Principal } from '@decorum/core';

import type { Endpoint } from '../endpoint.js';
import { isServed, Pipeline } from '../pipeline.js';
import { isFlooding } from './node-answers.js';
import { NodeBody } from './node-body.js';
import { NodeContext } from './node-context.js';
import { originForm } from './node-head.js';

/**
 * The request listener of `listen`.
 * @param otherwise gets the requests to other paths
 */
export function requestListener(endpoint: Endpoint<IncomingMessage>, otherwise: RequestListener): RequestListener {
  const { settings } = endpoint;
  // as clients send it: percent-encoded
  const path = new URL(`http://localhost${settings.path}`).pathname;
  return (request, response) => {
    const isOther = request.url !== path && !isServed(settings, path, originForm(request.url));
    if (isOther) otherwise(request, response);
    else if (response.socket !== null || !isFlooding(response)) serveRequest(endpoint, request, response);
  };
}

/**
 * Handles a request to an endpoint. A POST as nearly all clients send it takes a short way, which leaves out what only
 * other requests need; these run through the pipeline.
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
    request.httpVersionMajor === 1 &&
    // neither behind other requests of its connection nor read by something else
    response.socket !== null &&
    !request.readableDidRead &&
    !request.destroyed &&
    settings.principal === undefined &&
    settings.legacySse === undefined;
  if (!isUsual) return new Pipeline(endpoint, context, request).run();
  const fail = (error: unknown) => new Pipeline(endpoint, context, request).fail(error);
  const read = (principal: Principal | undefined) => {
    context.principal = principal;
    // events of the connection don't have the `AsyncLocalStorage` of middleware and instrumentation
    const resource = new AsyncResource('Body');
    const receiver = {
      body(failure: unknown, message?: unknown) {
        context.isRead = failure === null;
        if (failure === null) resource.runInAsyncScope(context.post, context, endpoint, message);
        else fail(failure);
      },
    };
    new NodeBody({ bodies, raw: request, request: context.request }, context, receiver).read();
  };
  try {
    guard.check(context.headers, request.socket.localPort);
    const principal = gate?.enter(context.head, request, context);
    if (principal instanceof Promise) principal.then(read).catch(fail);
    else read(principal);
  } catch (error) {
    fail(error);
  }
}
