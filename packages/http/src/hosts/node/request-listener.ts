import type { IncomingMessage, RequestListener } from 'node:http';

import { isAt } from '../../endpoint/paths.js';
import type { Pipeline } from '../../endpoint/pipeline.js';
import { isFlooding } from './answers.js';
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
      pipeline.run(new NodeContext<NodeRequest>(request, response, request));
    }
  };
}
