import { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

import type { Endpoint } from '../endpoint.js';
import { isServed, Pipeline } from '../pipeline.js';
import { isFlooding } from './node-answers.js';
import { NodeBody } from './node-body.js';
import { NodeContext } from './node-context.js';
import { originForm } from './node-head.js';

/**
 * Handles the requests to an endpoint. A POST as nearly all clients send it takes a short way, which leaves out what only
 * other requests need; these run through the pipeline.
 * @param otherwise gets the requests to other paths
 */
export function requestListener(endpoint: Endpoint<IncomingMessage>, otherwise: RequestListener): RequestListener {
  const { settings, guard, gate, bodies } = endpoint;
  const { principal } = settings;
  // as clients send it: percent-encoded
  const path = new URL(`http://localhost${settings.path}`).pathname;
  const isOpen = gate === undefined && principal === undefined;
  const isUsual = ({ url, method, headers }: IncomingMessage, { socket }: ServerResponse): boolean =>
    url === path &&
    method === 'POST' &&
    headers['content-type'] === 'application/json' &&
    headers.origin === undefined &&
    // not behind other requests of its connection
    socket !== null;
  return (request, response) => {
    if (isOpen && isUsual(request, response)) {
      const context = new NodeContext(request, response);
      const fail = (error: unknown) => new Pipeline(endpoint, context, request).fail(error);
      try {
        guard.check(context.headers, request.socket.localPort);
        // events of the connection don't have the `AsyncLocalStorage` that instrumentation has set
        const resource = new AsyncResource('Body');
        const receiver = {
          body(failure: unknown, message?: unknown) {
            context.isRead = failure === null;
            if (failure === null) resource.runInAsyncScope(context.post, context, endpoint, message);
            else fail(failure);
          },
        };
        new NodeBody({ bodies, raw: request }, context, receiver).read();
      } catch (error) {
        fail(error);
      }
    } else if (!isServed(settings, path, originForm(request.url))) otherwise(request, response);
    else if (response.socket !== null || !isFlooding(response)) {
      new Pipeline(endpoint, new NodeContext(request, response), request).run();
    }
  };
}
