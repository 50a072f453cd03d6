import { parseUrl } from '@decorum/auth/internal';
import { isObject } from '@decorum/core/internal';

import type { Clock } from '../platform.js';
import { ClientError } from './client-error.js';
import { type ClientMetadata, isHttpsUrl, type SentMetadata, takeMetadata } from './client-metadata.js';
import { type Freshness, freshnessOf } from './freshness.js';
import { networkOf } from './public-address.js';
import { FetchError, type PublicAnswer, type PublicFetch } from './public-fetch.js';
import { Quota } from './quota.js';

const MAX_DOCUMENTS = 1000;
const MAX_BYTES = 5 * 1024;
const MAX_ID = 1000;
/** For as long, an origin that is down isn't asked again for a document that may be stale. */
const RETRY_MS = 30_000;
/** Cap on the documents that one caller lets this server fetch. */
const PER_CALLER = { limit: 30, windowMs: 60_000 };

/** Fields with the URL of a page or a document. */
const URL_FIELDS = ['client_uri', 'logo_uri', 'policy_uri', 'tos_uri', 'jwks_uri', 'initiate_login_uri'];

interface KeptDocument extends Freshness {
  readonly metadata: ClientMetadata;
}

/** What the documents of clients depend on. */
export interface DocumentSources {
  readonly clock: Clock;
  readonly fetcher: Pick<PublicFetch, 'get'>;
  /** Allowed private-use schemes of redirect URIs. */
  readonly schemes: readonly string[];
}

/** Whether a client id names a document, which nobody has registered. */
export const isDocumentId = (id: string): boolean => id.startsWith('https://');

/**
 * The clients whose id is the URL of a document with their metadata (OAuth Client ID Metadata Document). Errors are never
 * cached. A document that has expired is used on for up to 24 hours after it was fetched, but only while its origin
 * doesn't answer, and only if its headers allow that: otherwise, an outage there would sign out all users of the client
 * here. An origin that answers, such as with 404, ends this at once.
 */
export class ClientDocuments {
  private readonly sources: DocumentSources;
  private readonly perCaller: Quota;
  /** The most recently used one last. */
  private readonly kept = new Map<string, KeptDocument>();
  private readonly pending = new Map<string, Promise<ClientMetadata>>();

  constructor(sources: DocumentSources) {
    this.sources = sources;
    this.perCaller = new Quota(PER_CALLER, sources.clock);
  }

  /**
   * The metadata of a client. `from` is the address of the caller.
   * @throws {ClientError} `invalid_client`, `temporarily_unavailable` or `slow_down`
   */
  async find(id: string, from?: string): Promise<ClientMetadata> {
    const kept = this.kept.get(id);
    if (kept !== undefined) this.keep(id, kept);
    if (kept !== undefined && this.sources.clock.now() < kept.freshUntil) return kept.metadata;
    const pending = this.pending.get(id);
    if (pending !== undefined) return await pending;
    const mistake = idMistake(id);
    if (mistake !== undefined) throw new ClientError('invalid_client', `The client_id ${mistake}`);
    const wait = from === undefined ? 0 : this.perCaller.take(networkOf(from));
    if (wait > 0) throw new ClientError('slow_down', 'Too many unknown clients', wait);
    const fetched = this.refresh(id, kept).finally(() => this.pending.delete(id));
    this.pending.set(id, fetched);
    return await fetched;
  }

  private async refresh(id: string, kept: KeptDocument | undefined): Promise<ClientMetadata> {
    const { clock, fetcher, schemes } = this.sources;
    try {
      const answer = await fetcher.get(id, { maxBytes: MAX_BYTES });
      requireDocument(answer);
      const metadata = readDocument(id, answer.body, schemes);
      this.keep(id, { metadata, ...freshnessOf(answer.headers, clock.now()) });
      return metadata;
    } catch (error) {
      const now = clock.now();
      if (kept !== undefined && isOutage(error) && now < kept.staleUntil) {
        this.keep(id, { ...kept, freshUntil: Math.min(now + RETRY_MS, kept.staleUntil) });
        return kept.metadata;
      }
      this.kept.delete(id);
      throw error instanceof FetchError ? unusable(error.message, error) : error;
    }
  }

  private keep(id: string, document: KeptDocument): void {
    this.kept.delete(id);
    this.kept.set(id, document);
    for (const oldest of this.kept.keys()) {
      if (this.kept.size <= MAX_DOCUMENTS) break;
      this.kept.delete(oldest);
    }
  }
}

const isOutage = (error: unknown): boolean => error instanceof FetchError && error.isOutage;

function unusable(problem: string, cause?: unknown): ClientError {
  // a client forgets its tokens when it hears that it is invalid
  const code = isOutage(cause) ? 'temporarily_unavailable' : 'invalid_client';
  const error = new ClientError(code, `The client's metadata document ${problem}`);
  error.cause = cause;
  return error;
}

/** What is wrong with the URL of a document; undefined if nothing is. */
function idMistake(id: string): string | undefined {
  if (id.length > MAX_ID) return `must have at most ${MAX_ID} characters`;
  const url = parseUrl(id);
  if (url === undefined || url.protocol !== 'https:') return 'must be an https URL';
  if (id.includes('#')) return 'must not have a fragment';
  if (url.username !== '' || url.password !== '') return 'must not have a user name or password';
  if (url.href === `${id}/`) return 'must have a path';
  // two spellings would be two clients, and a parser hides dot segments and odd addresses
  return url.href === id ? undefined : 'must be written in its normal form (RFC 3986, section 6)';
}

function requireDocument({ status, headers }: PublicAnswer): void {
  if (status >= 300 && status < 400) throw unusable('must not be a redirect');
  // a server that is overloaded or being repaired says nothing about the document
  const isDown = status >= 500 || status === 429;
  if (isDown) throw new FetchError(`answered with status ${status}`, { isOutage: true });
  if (status !== 200) throw unusable(`answered with status ${status}`);
  const [type = ''] = (headers['content-type'] ?? '').split(';');
  if (!/^application\/(?:[\w.+-]+\+)?json$/i.test(type.trim())) throw unusable('must be application/json');
}

function readDocument(id: string, body: Uint8Array, schemes: readonly string[]): ClientMetadata {
  const sent = parseObject(body);
  if (sent === undefined) throw unusable('must be a JSON object');
  if (sent['client_id'] !== id) throw unusable('must have its own URL as client_id');
  if (Object.hasOwn(sent, 'client_secret') || Object.hasOwn(sent, 'client_secret_expires_at')) {
    throw unusable('must not have a client_secret');
  }
  const wrong = URL_FIELDS.find((field) => sent[field] !== undefined && !isHttpsUrl(sent[field]));
  if (wrong !== undefined) throw unusable(`must have an https URL as ${wrong}`);
  return { client_id: id, ...takeMetadata(sent, { schemes, methods: ['none', 'private_key_jwt'] }) };
}

function parseObject(body: Uint8Array): SentMetadata | undefined {
  try {
    const json: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
    return isObject(json) ? json : undefined;
  } catch {
    return undefined;
  }
}
