import type { HostPort } from '@decorum/core/transport';

import { HttpError } from '../endpoint/http-error.js';
import { type Card, cardOf, type CardSettings } from './card.js';
import { CARD, cardPathOf } from './card-option.js';
import { Catalog, CATALOG_PATH } from './catalog.js';
import { type PublicRequest, servePublished } from './published.js';

const UNKNOWN_PATH =
  `${CATALOG_PATH} can't list the Server Card, because the handler serves every path. Pass the URL of the endpoint: ` +
  "`card: { url: 'https://mcp.example.com/mcp' }`.";

const pathOf = (url: string): string => url.split('?', 1)[0] as string;

/** The Server Card and the catalog of a handler, which gets every request. */
export class HandlerCards {
  private readonly catalog = new Catalog();
  private hasWarned = false;

  private constructor(
    private readonly card: Card,
    private readonly settings: CardSettings,
    private readonly host: HostPort,
  ) {
    this.catalog.add(card);
  }

  /**
   * @returns undefined if there is no card
   * @throws {DecorumError} `DECORUM_INVALID_OPTION`
   */
  static of(settings: CardSettings, host: HostPort): HandlerCards | undefined {
    const card = cardOf(settings, host);
    return card && new HandlerCards(card, settings, host);
  }

  /**
   * What answers a request for the card or the catalog. Undefined for other requests.
   * @param url path and query, without the path that the handler is mounted at
   * @param sentUrl path and query as sent
   */
  at(url: string, sentUrl = url): ((context: PublicRequest) => void) | undefined {
    const report = (error: unknown) => this.host.report(error);
    const path = pathOf(sentUrl);
    if (this.isCard(pathOf(url)) || this.isCard(path)) {
      const find = (context: PublicRequest) => this.card.document(context, path.slice(0, -CARD.length));
      return (context) => servePublished(context, () => find(context), report);
    }
    if (path !== CATALOG_PATH || this.card.options.catalog === false) return undefined;
    return (context) => servePublished(context, () => this.catalogFor(context), report);
  }

  private isCard(path: string): boolean {
    const { servedPath } = this.settings;
    return servedPath === undefined ? path.endsWith(CARD) : path === cardPathOf(servedPath);
  }

  private catalogFor(context: PublicRequest) {
    const { settings, card } = this;
    if (settings.servedPath !== undefined || card.options.url !== undefined) return this.catalog.document(context);
    if (!this.hasWarned) this.host.warn(UNKNOWN_PATH);
    this.hasWarned = true;
    throw new HttpError(404, 'There is no catalog here.');
  }
}
