import { createHmac } from 'node:crypto';

import { ClientError } from '../clients/client-error.js';
import type { DescribedClient } from '../clients/client-source.js';
import { DECISIONS, FIELDS } from '../pages/views.js';
import type { UpstreamTurns } from '../upstream/upstream-turns.js';
import { SignInBusyError } from '../users/derivations.js';
import type { Accounts } from './accounts.js';
import type { Consents } from './consents.js';
import { library } from './library.js';
import { ENDPOINTS } from './metadata.js';
import type { PageWriter } from './page-writer.js';
import type { ReportSignIn } from './report.js';
import { isSameText } from './same-text.js';
import { denied, finish, forgetSession, formOf, type Interaction, type PageRequest, type Turn, urlOf } from './turn.js';

/** Dependencies of `Interactions`. */
export interface InteractionParts {
  readonly accounts: Accounts;
  readonly consents: Consents;
  readonly pages: PageWriter;
  /** The keys of the tokens against cross-site requests: the first one signs, and each verifies. */
  readonly csrfKeys: readonly string[];
  readonly report: ReportSignIn;
  /** In front of an upstream. */
  readonly upstream: UpstreamTurns | undefined;
  /** Notes that a user has signed in to a client. */
  used(clientId: string): Promise<void>;
  /** How pages show a client that sends its users to a URL. */
  describe(clientId: string, redirectUri: string): Promise<DescribedClient | undefined>;
}

/** The pages on which people sign in and consent. */
export class Interactions {
  constructor(private readonly parts: InteractionParts) {}

  /** Shows the page of an interaction, or takes what its user has sent. */
  async handle(page: PageRequest): Promise<void> {
    const { pages, upstream } = this.parts;
    const turn = await this.open(page);
    if (turn === undefined) return pages.expired(page.response);
    const { form, interaction, response } = turn;
    if (form === undefined) {
      if (upstream !== undefined) return await upstream.show(turn);
      if (interaction.prompt.name === 'login') return await this.askToSignIn(turn);
      return await this.askForConsent(turn);
    }
    const sent = form.get(FIELDS.csrf) ?? '';
    if (!this.csrfsOf(interaction).some((own) => isSameText(sent, own))) return pages.expired(response);
    switch (form.get(FIELDS.decision)) {
      case null:
        return await this.signIn(turn);
      case DECISIONS.allow:
        return await (upstream ?? this).allow(turn);
      case DECISIONS.deny:
        return await this.deny(turn);
      case DECISIONS.switchAccount:
        return upstream === undefined ? await this.askToSignIn(turn) : pages.expired(response);
      default:
        return pages.expired(response);
    }
  }

  /** The interaction that the browser's cookie names, if the path names it too. */
  private async open(page: PageRequest): Promise<Turn | undefined> {
    const { request, response, provider } = page;
    let interaction: Interaction;
    try {
      interaction = await provider.interactionDetails(request, response);
    } catch (error) {
      // no cookie, or another browser's, or too old
      if (error instanceof library().errors.SessionNotFound) return undefined;
      throw error;
    }
    const { client_id: id, redirect_uri: uri } = interaction.params;
    const [clientId, redirectUri] = [String(id), String(uri)];
    const client = await this.parts.describe(clientId, redirectUri).catch(unusable);
    const isHere = request.url?.split('?', 1)[0] === ENDPOINTS.interaction + interaction.uid;
    const [csrf = ''] = this.csrfsOf(interaction);
    return isHere && client ? { ...page, interaction, client, clientId, redirectUri, csrf } : undefined;
  }

  private async askToSignIn(turn: Turn): Promise<void> {
    const { accounts } = this.parts;
    if (accounts.passwords !== undefined) return this.showSignIn(turn, {});
    const { request, response, address } = turn;
    const found = await accounts.signedIn({ headers: request.headers, remoteAddress: address, url: urlOf(turn) });
    if (found === undefined) return await finish(turn, denied('The user has not signed in.'));
    if ('location' in found) return void response.writeHead(303, { location: found.location }).end();
    await this.signedIn(turn, found.subject);
  }

  private async signIn(turn: Turn): Promise<void> {
    const { accounts, pages, report } = this.parts;
    const { form, address, clientId, response } = turn;
    const name = form?.get(FIELDS.username) ?? '';
    const { passwords } = accounts;
    if (passwords === undefined) return pages.expired(response);
    const attempt = passwords.verify({ name, password: form?.get(FIELDS.password) ?? '', address });
    const result = await attempt.catch(busy);
    if (result instanceof SignInBusyError) return pages.overloaded(response, result.retryAfter);
    if (result.kind === 'locked') return pages.locked(response, result.retryAfter);
    if (result.kind === 'signed-in') return await this.signedIn(turn, result.value.subject);
    report({ type: 'login', allowed: false, subject: name, clientId, remoteAddress: address });
    if (result.isLockedOut) report({ type: 'lockout', subject: name, remoteAddress: address });
    this.showSignIn(turn, { username: name, problem: 'wrong' });
  }

  private async signedIn(turn: Turn, subject: string): Promise<void> {
    const { clientId, address } = turn;
    this.parts.report({ type: 'login', allowed: true, subject, clientId, remoteAddress: address });
    await forgetSession(turn, subject);
    await finish(turn, { login: { accountId: subject, remember: false } });
  }

  private showSignIn(turn: Turn, more: { readonly username?: string; readonly problem?: 'wrong' }): void {
    const { client, response } = turn;
    this.parts.pages.signIn(response, { ...formOf(turn), client, ...more });
  }

  private async askForConsent(turn: Turn): Promise<void> {
    const { accounts, consents, pages } = this.parts;
    const { interaction, client, response } = turn;
    const user = await accounts.find(interaction.session?.accountId ?? '');
    const scopes = consents.grantable(interaction.params['scope'], user);
    if (user === undefined || scopes.length === 0) {
      return await finish(turn, denied('The user may grant none of these scopes.'));
    }
    const account = user.name ?? user.subject;
    const words = consents.inWords(scopes);
    const mayRemember = consents.mayRemember(client);
    pages.consent(response, {
      ...formOf(turn),
      client,
      account,
      scopes: words,
      ...(mayRemember && { mayRemember }),
      // the application decides who it is
      keepsAccount: accounts.passwords === undefined,
    });
  }

  /** Takes the consent of a user who has signed in. */
  async allow(turn: Turn): Promise<void> {
    const { accounts, consents, report } = this.parts;
    const { interaction, clientId, redirectUri, client, form, address } = turn;
    const { scope, resource } = interaction.params;
    const user = await accounts.find(interaction.session?.accountId ?? '');
    const scopes = consents.grantable(scope, user);
    if (interaction.prompt.name !== 'consent' || user === undefined || scopes.length === 0) {
      return this.parts.pages.expired(turn.response);
    }
    const { subject } = user;
    const asked = { subject, clientId, scopes };
    const grantId = await consents.grant(turn.provider, { ...asked, redirectUri, resource: String(resource) });
    if (form?.has(FIELDS.remember) && consents.mayRemember(client)) await consents.remember({ ...asked, redirectUri });
    await this.parts.used(clientId);
    const { redirectHost } = client;
    report({ ...asked, type: 'consent', allowed: true, grantId, redirectHost, remoteAddress: address });
    await finish(turn, { consent: { grantId } });
  }

  private async deny(turn: Turn): Promise<void> {
    const { clientId, client, interaction, address } = turn;
    const scopes = this.parts.consents.grantable(interaction.params['scope'], undefined);
    const subject = interaction.session?.accountId ?? '';
    const { redirectHost } = client;
    this.parts.report({
      type: 'consent',
      allowed: false,
      subject,
      clientId,
      scopes,
      redirectHost,
      remoteAddress: address,
    });
    await finish(turn, denied('The user has denied access.'));
  }

  private csrfsOf({ uid }: Interaction): readonly string[] {
    return this.parts.csrfKeys.map((key) => createHmac('sha256', key).update(uid).digest('base64url'));
  }
}

/** A client whose document has become unusable meanwhile. */
function unusable(error: unknown): undefined {
  if (!(error instanceof ClientError)) throw error;
}

function busy(error: unknown): SignInBusyError {
  if (error instanceof SignInBusyError) return error;
  throw error;
}
