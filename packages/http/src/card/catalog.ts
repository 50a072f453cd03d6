import { HttpError } from '../endpoint/http-error.js';
import type { Card } from './card.js';
import { publish, type Published, type PublicRequest } from './published.js';

/** Where clients look for a catalog. */
export const CATALOG_PATH = '/.well-known/ai-catalog.json';

const CATALOG_TYPE = 'application/ai-catalog+json';

/**
 * The AI Catalog of an origin: it lists the cards of its endpoints. The specification of Server Cards names its own
 * (version 1.0): https://modelcontextprotocol.io/seps/2127-mcp-server-cards
 */
export class Catalog {
  private readonly cards: Card[] = [];

  /**
   * Adds the card of an endpoint.
   * @returns whether no other card in the catalog has its name
   */
  add(card: Card): boolean {
    const isNew = !this.cards.some(({ shortName }) => shortName === card.shortName);
    this.cards.push(card);
    return isNew;
  }

  /**
   * The catalog for the host of a request.
   * @throws {HttpError} 403 for a host that no endpoint allows
   */
  document(request: PublicRequest): Published {
    const accepting = this.cards.filter((card) => card.accepts(request));
    if (accepting.length === 0) throw new HttpError(403, 'This Host is not allowed.', { connection: 'close' });
    const entries = accepting.flatMap((card) => card.entry(request) ?? []);
    return publish(CATALOG_TYPE, { specVersion: '1.0', entries });
  }
}
