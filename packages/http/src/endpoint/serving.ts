import { excerpt } from '@decorum/core/internal';

import { documentAt, serveDocument } from '../auth/documents.js';
import { noEndpoint } from './http-error.js';
import type { LateEndpoint } from './late-endpoint.js';
import type { PipelineContext } from './pipeline.js';

/** A request whose plugin routes are not known yet. */
interface Arrived<HostRequest> extends PipelineContext<HostRequest> {
  routes: PipelineContext<HostRequest>['routes'];
}

/**
 * Serves requests for any path: documents of `auth`, the Server Card, plugin routes and the endpoint. All others get 404.
 * @param where name of the function that created the handler
 */
export function serving<HostRequest>(
  late: LateEndpoint<HostRequest>,
  where: string,
): (context: Arrived<HostRequest>) => void {
  const { report, settings, cards } = late;
  const { auth, servedPath: path } = settings;
  // a wrong `path` shows in the first request
  let mayWarn = path !== undefined;
  return (context) => {
    const document = documentAt(auth, context.url);
    if (document) return serveDocument(document, { head: context.head, responder: context, report });
    const card = cards?.at(context.url);
    if (card) return card(context);
    context.routes = late.routesAt(context.url);
    if (context.routes ?? late.serves(context.url)) {
      mayWarn = false;
      return late.serve(context);
    }
    if (mayWarn) late.warn(unserved(context.url, path, where));
    mayWarn = false;
    context.answer(404, noEndpoint().body());
  };
}

const unserved = (url: string, path: string | undefined, where: string) =>
  `The first request, for "${excerpt(url)}", got 404, because ${where} has the path "${path}". If a router chooses the path, ` +
  'leave out `path`.';
