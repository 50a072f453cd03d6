import { inspect } from 'node:util';

import type { Implementation } from '@decorum/core';
import { REVISIONS } from '@decorum/core/internal';
import type { HostPort } from '@decorum/core/transport';

import { LOOPBACK } from '../endpoint/allowed.js';
import { HttpError } from '../endpoint/http-error.js';
import type { ResolvedOptions } from '../endpoint/options.js';
import {
  type CardHeader,
  type CardOptions,
  cardPathOf,
  invalidCard,
  isCardName,
  isPublic,
  MAX_NAME,
  MAX_TEXT,
  requireText,
} from './card-option.js';
import { publish, type Published, type PublicRequest } from './published.js';

/** The media type of a card. */
export const CARD_TYPE = 'application/mcp-server-card+json';

const SCHEMA = 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json';

const REVISION_IDS = REVISIONS.map(({ id }) => id).toReversed();

/** How many documents a card keeps: one for each host that clients use. */
const MAX_KEPT = 16;

/** The settings of an endpoint that its card uses. */
export type CardSettings = Pick<
  ResolvedOptions<never>,
  'card' | 'path' | 'servedPath' | 'guard' | 'legacySse' | 'auth' | 'allowedHosts'
>;

/**
 * The Server Card of an endpoint: how clients find out what the server is and how to connect, before they do. It has
 * only what everybody may know: no tools, resources or prompts.
 * https://modelcontextprotocol.io/seps/2127-mcp-server-cards
 */
export class Card {
  /** The part of the name after the slash. */
  readonly shortName: string;
  private readonly fixedName: string | undefined;
  private readonly kept = new Map<string, Published>();

  /** @throws {DecorumError} `DECORUM_INVALID_OPTION` */
  constructor(
    readonly options: CardOptions,
    private readonly info: Implementation,
    private readonly settings: CardSettings,
  ) {
    this.fixedName = options.name ?? (isCardName(info.name) ? info.name : undefined);
    this.shortName = this.fixedName?.split('/')[1] ?? shortNameOf(info.name);
    requireInfo(options, info);
  }

  /** Whether the endpoint accepts the host of a request. */
  accepts({ headers, localPort, isFromGateway }: PublicRequest): boolean {
    return isFromGateway === true || this.settings.guard.allowsHostOf(headers, localPort);
  }

  /**
   * The card.
   * @param path the path of the endpoint, as the client sent it
   * @throws {HttpError} 403 for a host that isn't allowed
   */
  document(request: PublicRequest, path: string): Published {
    const url = this.urlFor(request, path);
    let found = this.kept.get(url);
    if (found === undefined) {
      found = publish(CARD_TYPE, this.contentAt(url));
      // `allowedHosts` without a port allow any
      if (this.kept.size >= MAX_KEPT) this.kept.clear();
      this.kept.set(url, found);
    }
    return found;
  }

  /** The entry of the card in a catalog. Undefined if the endpoint's path isn't known. */
  entry(request: PublicRequest): object | undefined {
    const { servedPath } = this.settings;
    if (this.options.url === undefined && (servedPath === undefined || /[:*]/.test(servedPath))) return undefined;
    const url = this.urlFor(request, servedPath ?? '');
    const [namespace = '', name] = this.nameAt(url).split('/');
    const publisher = isAddress(namespace) ? namespace : namespace.split('.').toReversed().join('.');
    return { identifier: `urn:air:${publisher}:mcp:${name}`, type: CARD_TYPE, url: cardPathOf(url) };
  }

  private urlFor({ headers, localPort, isFromGateway }: PublicRequest, path: string): string {
    if (isFromGateway !== true) this.settings.guard.checkHost(headers, localPort);
    return this.options.url ?? originOf(headers.host) + (path === '' ? '/' : path);
  }

  private nameAt(url: string): string {
    if (this.fixedName !== undefined) return this.fixedName;
    return `${namespaceOf(new URL(url).hostname)}/${this.shortName}`;
  }

  private contentAt(url: string): object {
    const { info, options } = this;
    const { version, title, websiteUrl, icons } = info;
    const { description = info.description, repository } = options;
    return {
      $schema: SCHEMA,
      name: this.nameAt(url),
      version,
      description,
      ...(title !== undefined && { title }),
      ...(websiteUrl !== undefined && { websiteUrl }),
      ...(repository !== undefined && { repository }),
      ...(icons !== undefined && { icons }),
      remotes: this.remotesAt(url),
    };
  }

  private remotesAt(url: string): readonly object[] {
    const { legacySse, path } = this.settings;
    const headers = this.options.headers ?? credentialsOf(this.settings);
    const described = headers.length > 0 ? { headers } : {};
    const remote = { type: 'streamable-http', url, ...described, supportedProtocolVersions: REVISION_IDS };
    if (legacySse === undefined || !url.endsWith(path)) return [remote];
    return [remote, { type: 'sse', url: url.slice(0, url.length - path.length) + legacySse.path, ...described }];
  }
}

/**
 * Creates the card of an endpoint.
 * @returns undefined if the endpoint has none
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function cardOf(settings: CardSettings, { info }: Pick<HostPort, 'info'>): Card | undefined {
  return settings.card && new Card(settings.card, info, settings);
}

/** The origin of a host that the guard has accepted: its port may still be anything. */
function originOf(host = ''): string {
  const url = `https://${host}`;
  if (!URL.canParse(url)) throw new HttpError(400, 'The Host header is invalid.');
  const { hostname, origin } = new URL(url);
  return LOOPBACK.has(hostname) ? new URL(`http://${host}`).origin : origin;
}

/** The part of a name before the slash, for a host. It has only the characters and the length that a card allows. */
function namespaceOf(hostname: string): string {
  if (LOOPBACK.has(hostname)) return 'localhost';
  const ordered = isAddress(hostname) ? hostname : hostname.split('.').toReversed().join('.');
  const plain = ordered.replaceAll(/[^a-z\d.-]+/gi, '-').replaceAll(/^-+|-+$/g, '');
  return plain.slice(0, MAX_NAME - MAX_TEXT - 1);
}

const isAddress = (name: string): boolean => /^[\d.]+$|[[:]/.test(name);

function shortNameOf(name: string): string {
  const short = name.replaceAll(/[^\w.-]+/g, '-').replaceAll(/^-+|-+$/g, '');
  if (short !== '' && short.length <= MAX_TEXT) return short;
  const remedy = 'Pass `card: { name: "com.example/weather" }`';
  const rule = `needs a name of up to ${MAX_TEXT} letters and digits`;
  throw invalidCard('card', `${rule}, and the server's is ${inspect(name.slice(0, MAX_TEXT))}. ${remedy}`);
}

/** Checks what the card takes from the server. */
function requireInfo({ description }: CardOptions, info: Implementation): void {
  const { version, title, websiteUrl } = info;
  const remedy = 'Pass a shorter one: `card: { description: "…" }`';
  if (description === undefined && info.description === undefined) {
    throw invalidCard('card', 'needs a description. Set `description` of the server, or pass `card: { description }`');
  }
  if (description === undefined) requireText('description', info.description ?? '', remedy);
  if (title !== undefined) requireText('title', title);
  if (websiteUrl !== undefined && !isPublic(websiteUrl)) {
    throw invalidCard(
      'websiteUrl',
      `is "${websiteUrl}", but a Server Card needs a whole URL without credentials. Write "https://example.com"`,
    );
  }
  if (version.length > 255 || /^[\^~<>=]|[*]|(?:^|\.)x(?:\.|$)| /i.test(version)) {
    throw invalidCard('card', `needs an exact version, and the server's is "${version.slice(0, 100)}". Write "1.2.3"`);
  }
}

/** The credentials that `auth` needs. Clients of OAuth learn from the endpoint itself where to get a token. */
function credentialsOf({ auth }: CardSettings): readonly CardHeader[] {
  if (auth === undefined || (auth.documents ?? []).length > 0 || auth.mount !== undefined) return [];
  const [name = 'Authorization'] = auth.credentialHeaders ?? [];
  return [{ name, description: 'Credentials for this server.', isRequired: true, isSecret: true }];
}
