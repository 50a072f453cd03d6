import type { ServerResponse } from 'node:http';

import type Provider from 'oidc-provider';

import { ClientError } from './client-error.js';
import type { ClientMetadata } from './client-metadata.js';
import type { RegisteredClients } from './registered-clients.js';

/** A request to `/register`. */
export interface RegistrationCall {
  readonly body: Uint8Array;
  readonly response: ServerResponse;
  /** The address of the caller. */
  readonly address: string | undefined;
  readonly provider: Provider;
}

/** Answers requests to `/register`, in place of oidc-provider, which knows no limits and stores what it is sent. */
export class Registrations {
  private readonly clients: RegisteredClients;
  private readonly report: (client: ClientMetadata, address: string | undefined) => void;

  /** @param report called for each new client */
  constructor(clients: RegisteredClients, report: (client: ClientMetadata, address: string | undefined) => void) {
    this.clients = clients;
    this.report = report;
  }

  async handle({ body, response, address, provider }: RegistrationCall): Promise<void> {
    let client: ClientMetadata;
    try {
      const accept = (metadata: ClientMetadata) => requireAccepted(provider, metadata);
      client = await this.clients.register({ sent: parse(body), from: address, accept });
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      return refuse(response, error);
    }
    this.report(client, address);
    send(response, 201, client);
  }
}

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw new ClientError('invalid_client_metadata', 'The body must be a JSON object');
  }
}

/** Lets oidc-provider judge a client before it is stored: afterwards, it could only fail. */
function requireAccepted(provider: Provider, metadata: ClientMetadata): void {
  const Client = provider.Client as unknown as new (metadata: unknown) => unknown;
  try {
    void new Client(metadata);
  } catch (error) {
    const { error: code, error_description: problem } = error as { error?: string; error_description?: string };
    if (code !== 'invalid_client_metadata') throw error;
    throw new ClientError(code, problem ?? 'The metadata is invalid');
  }
}

function refuse(response: ServerResponse, { code, status, message, retryAfterMs }: ClientError): void {
  if (retryAfterMs !== undefined) response.setHeader('retry-after', Math.ceil(retryAfterMs / 1000));
  send(response, status, { error: code, error_description: message });
}

function send(response: ServerResponse, status: number, json: unknown): void {
  // the answer may have a secret
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(JSON.stringify(json));
}
