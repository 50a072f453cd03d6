import type { ClientView } from '../pages/views.js';
import { type ClientDocuments, isDocumentId } from './client-documents.js';
import type { ClientMetadata } from './client-metadata.js';
import { isLoopbackRedirect } from './redirects.js';
import type { RegisteredClients } from './registered-clients.js';

/** Where clients come from. */
export interface ClientSources {
  readonly configured: ReadonlyMap<string, ClientMetadata>;
  readonly documents: Pick<ClientDocuments, 'find'>;
  /** Also if registration is off by now: clients that registered before stay. */
  readonly registered: Pick<RegisteredClients, 'find'>;
}

/** What a page says of a client, and whether it gets this answer on the user's computer. */
export interface DescribedClient extends ClientView {
  readonly isLoopbackRedirect: boolean;
}

/** Finds clients wherever they come from. */
export class ClientSource {
  private readonly sources: ClientSources;

  constructor(sources: ClientSources) {
    this.sources = sources;
  }

  /**
   * The metadata of a client; undefined if nobody knows it. `from` is the address of the caller.
   * @throws {ClientError} if the id is the URL of a document that can't be used
   */
  async find(id: string, from?: string): Promise<ClientMetadata | undefined> {
    const { configured, documents, registered } = this.sources;
    const known = configured.get(id);
    if (known !== undefined) return known;
    return isDocumentId(id) ? await documents.find(id, from) : await registered.find(id);
  }

  /** What pages show of a client that gets its answer at a redirect URI, which it may use. */
  describe(client: ClientMetadata, redirectUri: string): DescribedClient {
    // of a configured client, the operator answers for the name
    const isListed = this.sources.configured.has(client.client_id);
    const isDocument = isDocumentId(client.client_id) && !isListed;
    const host = isDocument ? new URL(client.client_id).host : undefined;
    return {
      name: client.client_name ?? host ?? client.client_id,
      ...(host !== undefined && { host }),
      isListed,
      redirectHost: redirectHostOf(redirectUri),
      redirectUri,
      isLoopbackOnly: client.redirect_uris.every(isLoopbackRedirect),
      isLoopbackRedirect: isLoopbackRedirect(redirectUri),
    };
  }
}

/** The host of a redirect, or the scheme of an app: what follows a private scheme is no host of anybody. */
function redirectHostOf(uri: string): string {
  const { protocol, host } = new URL(uri);
  return protocol === 'https:' || protocol === 'http:' ? host : `${protocol}//`;
}
