import type { HostPort } from '@decorum/core/transport';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import type { Card } from '../../card/card.js';
import { cardPathOf, invalidCard } from '../../card/card-option.js';
import { Catalog, CATALOG_PATH } from '../../card/catalog.js';
import { type Published, type PublicRequest, servePublished } from '../../card/published.js';
import { startupError } from '../../errors.js';
import { isFlooding } from '../node/answers.js';
import { NodeContext } from '../node/context.js';
import type { NodeRequest } from '../node/head.js';
import { METHODS, UNDOCUMENTED } from './route-options.js';

/** The catalog of each application. */
const catalogs = new WeakMap<object, Catalog>();

/** What the routes of an endpoint belong to. */
export interface CardRoutes {
  readonly card: Card;
  /** The path of the endpoint, as a Fastify route. */
  readonly path: string;
  readonly host: Pick<HostPort, 'report' | 'warn'>;
}

/**
 * Adds the routes of a Server Card, and of the catalog that all endpoints of an application share.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION` or `DECORUM_DUPLICATE_ROUTE`
 */
export async function addCardRoutes(app: FastifyInstance, { card, path, host }: CardRoutes): Promise<void> {
  const report = (error: unknown) => host.report(error);
  const add = (scope: FastifyInstance, url: string, find: (context: PublicRequest) => Published) => {
    // before the body is read, because none is expected
    const onRequest = (request: FastifyRequest, reply: FastifyReply, _done: () => void): void => {
      if (reply.raw.socket === null && isFlooding(reply.raw)) return;
      // Fastify would add a charset to the media type
      reply.hijack();
      const { raw } = request;
      const context = new NodeContext<NodeRequest>(raw, reply.raw, raw);
      servePublished(context, () => find(context), report);
    };
    scope.route({ ...UNDOCUMENTED, method: METHODS, url, exposeHeadRoute: false, onRequest, handler: () => {} });
  };
  const url = cardPathOf(path);
  if (url.includes('*')) throw invalidCard('card', `can't be served below the path "${path}", which has a wildcard`);
  if (app.hasRoute({ method: 'GET', url: app.prefix + url }))
    throw startupError('DECORUM_DUPLICATE_ROUTE', `GET ${app.prefix}${url}`, ['the application', '`card`']);
  // in a scope of their own, so that the hooks of the endpoint don't run
  await app.register(async (scope) => {
    add(scope, url, (context) => {
      const [sent = ''] = context.url.split('?', 1);
      // the router also accepts escapes in the name, and a slash behind it if the application says so
      return card.document(context, sent.replace(/\/[^/]*\/?$/, ''));
    });
    if (card.options.catalog === false) return;
    const catalog = catalogOf(app);
    if (!catalog.add(card)) {
      const remedy = 'Pass another `name`, or `catalog: false`';
      throw invalidCard('card.name', `ends with "${card.shortName}" for two endpoints of this application. ${remedy}`);
    }
    if (scope.prefix !== '') return warnWithout(app, host);
    // an application may have its own, and several endpoints share one
    if (scope.hasRoute({ method: 'GET', url: CATALOG_PATH })) return;
    add(scope, CATALOG_PATH, (context) => catalog.document(context));
  });
}

function catalogOf({ server }: FastifyInstance): Catalog {
  const catalog = catalogs.get(server) ?? new Catalog();
  catalogs.set(server, catalog);
  return catalog;
}

/** Warns if nothing serves the catalog: an endpoint below a prefix can't. */
function warnWithout(app: FastifyInstance, { warn }: CardRoutes['host']): void {
  app.addHook('onReady', async () => {
    if (app.hasRoute({ method: 'GET', url: CATALOG_PATH })) return;
    warn(
      `Nothing serves ${CATALOG_PATH}, because \`mcp\` is registered with the prefix "${app.prefix}". Register it ` +
        `without a prefix and with \`path\`, or serve your own catalog and pass \`card: { catalog: false }\`.`,
    );
  });
}
