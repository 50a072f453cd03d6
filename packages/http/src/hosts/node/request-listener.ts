import { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage, RequestListener } from 'node:http';

import type { BodyReceiver } from '../../endpoint/body.js';
import { isAt } from '../../endpoint/paths.js';
import type { Pipeline } from '../../endpoint/pipeline.js';
import { isFlooding } from './answers.js';
import { NodeBody } from './body.js';
import { NodeContext } from './context.js';
import { type NodeRequest, originForm } from './head.js';

/**
 * The request listener of `listen`.
 * @param otherwise gets the requests to other paths
 */
export function requestListener(pipeline: Pipeline<IncomingMessage>, otherwise: RequestListener): RequestListener {
  const { path, legacySse } = pipeline.endpoint.settings;
  const paths = [path, ...(legacySse ? [legacySse.path, legacySse.messagesPath] : [])];
  // no middleware runs before, so any spelling is served, as Fastify's routes do
  const isServed = (url: string) => paths.some((each) => isAt(each, url));
  return (request, response) => {
    if (request.url !== path && !isServed(originForm(request.url))) otherwise(request, response);
    else if (response.socket !== null || !isFlooding(response)) {
      serve(pipeline, new NodeContext<NodeRequest>(request, response, request));
    }
  };
}

/**
 * Serves a request. For the POST that nearly all clients send, this is a fast path: it needs no look at its headers or
 * at what middleware has done, so its body is read immediately. All others take `Pipeline.run`.
 */
export function serve(pipeline: Pipeline<IncomingMessage>, context: NodeContext): void {
  const { raw } = context;
  const isUsual =
    context.method === 'POST' &&
    context.headers['content-type'] === 'application/json' &&
    context.routes === undefined &&
    // not read by something else
    !raw.readableDidRead &&
    !raw.readableEnded &&
    !raw.destroyed;
  if (!isUsual) return pipeline.run(context);
  try {
    const waiting = pipeline.admit(context);
    if (waiting !== undefined) return pipeline.readAfter(waiting, context);
    // events of the connection don't have the `AsyncLocalStorage` of middleware and instrumentation
    const resource = new AsyncResource('Body');
    const body: BodyReceiver['body'] = resource.runInAsyncScope.bind(resource, pipeline.proceed, undefined, context);
    new NodeBody({ bodies: pipeline.endpoint.parts.bodies, raw, request: raw }, context, { body }).read();
  } catch (error) {
    pipeline.fail(context, error);
  }
}
