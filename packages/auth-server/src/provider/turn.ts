import type { IncomingMessage, ServerResponse } from 'node:http';

import type Provider from 'oidc-provider';

import type { DescribedClient } from '../clients/client-source.js';
import { ENDPOINTS, urlBelow } from './metadata.js';

/**
 * A parameter that is added to authorization requests that no page of another site has caused. It stays with a request
 * while its user signs in.
 */
export const DIRECT = 'decorum_direct';

/** An interaction of oidc-provider: an authorization request that waits for its user. */
export type Interaction = Awaited<ReturnType<Provider['interactionDetails']>>;

/** A request to a page, and where the answer goes. */
export interface PageRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The fields of the form; undefined for a GET. */
  readonly form: URLSearchParams | undefined;
  /** The address that failures are counted by. */
  readonly address: string | undefined;
  readonly provider: Provider;
}

/** An interaction with the request of its user. */
export interface Turn extends PageRequest {
  readonly interaction: Interaction;
  readonly client: DescribedClient;
  readonly clientId: string;
  readonly redirectUri: string;
  /** The token of its forms against cross-site requests. */
  readonly csrf: string;
}

/** The outcome of an interaction that the user, or this server for the user, has refused. */
export const denied = (description: string) => ({ error: 'access_denied' as const, error_description: description });

/** Where the user comes back to. */
export const urlOf = ({ provider, interaction: { uid } }: Turn): string =>
  urlBelow(provider.issuer, ENDPOINTS.interaction + uid);

/** What a form of the turn needs. */
export const formOf = (turn: Turn): { readonly action: string; readonly csrf: string } => ({
  action: new URL(urlOf(turn)).pathname,
  csrf: turn.csrf,
});

/** Ends the interaction: oidc-provider goes on, and asks again if something is missing. */
export async function finish(turn: Turn, result: Parameters<Provider['interactionFinished']>[2]): Promise<void> {
  const mergeWithLastSubmission = !('error' in result);
  await turn.provider.interactionFinished(turn.request, turn.response, result, { mergeWithLastSubmission });
}

/** Ends the session of another account: oidc-provider would ask the user to do that on a page of its own. */
export async function forgetSession({ interaction, provider }: Turn, subject: string): Promise<void> {
  const { session } = interaction;
  if (session?.accountId === undefined || session.accountId === subject) return;
  const old = await provider.Session.findByUid(session.uid);
  await old?.destroy();
  delete interaction.session;
  await interaction.save(interaction.exp - Math.floor(Date.now() / 1000));
}
