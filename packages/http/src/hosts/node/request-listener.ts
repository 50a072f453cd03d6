import type { IncomingMessage, RequestListener } from 'node:http';

import { mountAt, MountHosts } from '../../auth/mount.js';
import { isAt } from '../../endpoint/paths.js';
import type { Pipeline } from '../../endpoint/pipeline.js';
import { isFlooding } from './answers.js';
import { NodeContext } from './context.js';
import { type NodeRequest, originForm } from './head.js';
import { serveMount } from './mount.js';

/**
 * The request listener of `listen`.
 * @param otherwise gets the requests to other paths
 */
export function requestListener(pipeline: Pipeline<IncomingMessage>, otherwise: RequestListener): RequestListener {
  const { settings, parts } = pipeline.endpoint;
  const { path, legacySse, auth } = settings;
  const { report } = parts;
  const hosts = new MountHosts(settings);
  const paths = [path, ...(legacySse ? [legacySse.path, legacySse.messagesPath] : [])];
  // no middleware runs before, so any spelling is served, as Fastify's routes do
  const isServed = (url: string) => paths.some((each) => isAt(each, url));
  return (request, response) => {
    if (request.url !== path && !isServed(originForm(request.url))) {
      const url = originForm(request.url);
      const mount = mountAt(auth, url);
      if (mount === undefined) return otherwise(request, response);
      // a connection that stays open would delay the end
      if (parts.stopped) response.shouldKeepAlive = false;
      serveMount(mount, { request, response, url, hosts, report });
    } else if (response.socket !== null || !isFlooding(response)) {
      pipeline.run(new NodeContext<NodeRequest>(request, response, request));
    }
  };
}
