import { inspect } from 'node:util';

import { isObject } from '@decorum/core/internal';
import { requireOptions } from '@decorum/core/plugin';

import { startupError } from '../errors.js';

/** Where the source code of a server is. */
export interface CardRepository {
  /** URL for browsing the code, such as `https://git.example.com/weather`. */
  readonly url: string;
  /** The hosting service, such as `github`. */
  readonly source: string;
  /** Path of the server in the repository. */
  readonly subfolder?: string;
  /** The repository's id at the hosting service. */
  readonly id?: string;
}

/** A header that clients send to the endpoint. */
export interface CardHeader {
  /** Name of the header, such as `X-Api-Key`. */
  readonly name: string;
  /** Tells people what to enter. */
  readonly description?: string;
  /** Whether requests without the header fail. By default `false`. */
  readonly isRequired?: boolean;
  /** Whether clients must keep the value secret. By default `false`. */
  readonly isSecret?: boolean;
}

/**
 * What a Server Card says in addition to what the server knows. Cards are public: never write a secret into one.
 * @see https://modelcontextprotocol.io/seps/2127-mcp-server-cards
 */
export interface CardOptions {
  /**
   * The URL that clients connect to, such as `https://mcp.example.com/mcp`. By default it is taken from the `Host` header
   * of the request: `https`, or `http` on loopback. Pass it if a proxy changes the host or the path.
   */
  readonly url?: string;
  /**
   * The server's unique name: a reversed domain, a slash and a name, such as `com.example/weather`. By default the
   * server's own name if it has this form, or else the reversed host of the URL and the server's name.
   */
  readonly name?: string;
  /** What the server does, in 1 to 100 characters. By default the server's `description`. */
  readonly description?: string;
  /** Where the source code is. */
  readonly repository?: CardRepository;
  /** The headers that clients send. By default the credentials that `auth` needs, unless clients get them with OAuth. */
  readonly headers?: readonly CardHeader[];
  /** Whether to serve the AI Catalog at `/.well-known/ai-catalog.json`, too. By default `true`. */
  readonly catalog?: boolean;
}

/** The end of the path of a card. */
export const CARD = '/server-card';

/** The path of the card of an endpoint. */
export const cardPathOf = (path: string): string => path.replace(/\/$/, '') + CARD;

/** The longest description and title that a card may have, in characters. */
export const MAX_TEXT = 100;

/** A reversed domain, a slash and a name. */
const NAME = /^[a-z\d.-]+\/[\w.-]+$/i;

/** The longest name that a card may have, in characters. */
export const MAX_NAME = 200;

/** Whether a card may have this name. */
export const isCardName = (name: unknown): name is string =>
  typeof name === 'string' && name.length >= 3 && name.length <= MAX_NAME && NAME.test(name);

/** A mistake in `card`. */
export const invalidCard = (option: string, problem: string) =>
  startupError('DECORUM_INVALID_OPTION', '@decorum/http', option, problem);

/**
 * Checks the option `card`.
 * @returns undefined if there is no card
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function requireCard(card: boolean | CardOptions | undefined): CardOptions | undefined {
  if (card === undefined || card === false) return undefined;
  if (card === true) return {};
  if (!isObject(card as unknown)) throw invalidCard('card', 'must be true, false or an object');
  requireOptions('card', card, {
    url: 'string',
    name: 'string',
    description: 'string',
    repository: { url: 'string', source: 'string', subfolder: 'string', id: 'string' },
    headers: 'array',
    catalog: 'boolean',
  });
  const { url, name, description, repository, headers = [] } = card;
  if (url !== undefined) requireUrl(url);
  if (name !== undefined && !isCardName(name)) {
    const form = 'must be a reversed domain, a slash and a name. Write "com.example/weather"';
    throw invalidCard('card.name', `is ${inspect(name)}, but ${form}`);
  }
  if (description !== undefined) requireText('card.description', description);
  if (repository !== undefined) requireRepository(repository);
  requireHeaders(headers);
  return card;
}

/**
 * Checks a text of a card.
 * @param option where it comes from
 * @param remedy what to write instead
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function requireText(option: string, text: string, remedy = 'Shorten it'): void {
  if (text.trim() === '') throw invalidCard(option, 'is empty. Write what the server does');
  // as JSON Schema counts
  const length = [...text].length;
  if (length <= MAX_TEXT) return;
  throw invalidCard(option, `has ${length} characters, but a Server Card allows ${MAX_TEXT}. ${remedy}`);
}

function requireUrl(url: string): void {
  if (!/^https?:\/\/[^\s{}]+$/i.test(url) || !URL.canParse(url)) {
    const rule = 'must be the URL that clients connect to. Write "https://mcp.example.com/mcp"';
    throw invalidCard('card.url', `is ${inspect(url)}, but ${rule}`);
  }
  // an empty query or fragment counts: the path of the card would become a part of it
  if (/[?#]/.test(url) || !isPublic(url)) {
    throw invalidCard('card.url', 'must have no credentials, query or fragment, because every client can read it');
  }
}

/** Whether a URL is one that everybody may read and follow. */
export function isPublic(url: unknown): boolean {
  if (typeof url !== 'string' || !URL.canParse(url)) return false;
  const { protocol, username, password } = new URL(url);
  return /^https?:$/.test(protocol) && username + password === '';
}

function requireRepository({ url, source }: CardRepository): void {
  if (!isPublic(url)) throw invalidCard('card.repository.url', 'must be a URL for browsing, without credentials');
  if (typeof source !== 'string' || source === '') {
    throw invalidCard('card.repository.source', 'must name the hosting service. Write "github"');
  }
}

function requireHeaders(headers: readonly CardHeader[]): void {
  for (const [index, header] of headers.entries()) {
    const option = `card.headers[${index}]`;
    requireOptions(option, header, {
      name: 'string',
      description: 'string',
      isRequired: 'boolean',
      isSecret: 'boolean',
    });
    if (typeof header.name === 'string' && /^[!#$%&'*+.^_`|~\w-]+$/.test(header.name)) continue;
    throw invalidCard(`${option}.name`, `is ${inspect(header.name)}, but must be the name of a header`);
  }
}
