import type { PageWriter } from '../provider/page-writer.js';
import { isUserData, type KnownUsers } from '../provider/accounts.js';
import type { Consents } from '../provider/consents.js';
import type { ReportSignIn } from '../provider/report.js';
import { denied, DIRECT, finish, forgetSession, formOf, type Interaction, type Turn } from '../provider/turn.js';
import { FIELDS } from '../pages/views.js';
import type { KeptTokens } from './kept-tokens.js';
import type { ResolvedUpstream, UpstreamIdentity, UpstreamUser } from './upstream-options.js';
import type { Approval, UpstreamResult, UpstreamSignIns } from './upstream-sign-ins.js';

/** Dependencies of `UpstreamTurns`. */
export interface UpstreamTurnsParts {
  readonly upstream: ResolvedUpstream;
  readonly signIns: UpstreamSignIns;
  readonly tokens: KeptTokens;
  readonly users: KnownUsers;
  readonly consents: Consents;
  readonly pages: PageWriter;
  readonly report: ReportSignIn;
  /** Notes that a user has signed in to a client. */
  used(clientId: string): Promise<void>;
}

/** What users of an upstream see: our consent page first, and then the upstream. */
export class UpstreamTurns {
  constructor(private readonly parts: UpstreamTurnsParts) {}

  /** Shows the consent page, or goes on with a user who comes back from the upstream. */
  async show(turn: Turn): Promise<void> {
    const result = await this.parts.signIns.take(turn.interaction.uid);
    if (result !== undefined) return await this.end(turn, result);
    const approval = this.approvalOf(turn);
    const subject = turn.interaction.session?.accountId;
    const { consents } = this.parts;
    // what this request says of itself doesn't count: users also reload a page that another site has opened
    if (!mustAsk(turn.interaction) && subject !== undefined && consents.mayRemember(turn.client) !== undefined) {
      const remembered = await consents.isRemembered({ ...approval, subject });
      if (remembered) return await this.begin(turn, { ...approval, subject });
    }
    await this.ask(turn);
  }

  /** Sends a user who has allowed access to the upstream. */
  async allow(turn: Turn): Promise<void> {
    const approval = this.approvalOf(turn);
    if (approval.scopes.length === 0) return this.parts.pages.expired(turn.response);
    const isRemembered = turn.form?.has(FIELDS.remember) === true;
    await this.begin(turn, { ...approval, isRemembered });
  }

  private async begin(turn: Turn, approval: Approval): Promise<void> {
    try {
      await this.parts.signIns.begin(turn.response, approval);
    } catch (error) {
      await finish(turn, this.parts.signIns.failed(error));
    }
  }

  private async ask(turn: Turn): Promise<void> {
    const { consents, pages, upstream } = this.parts;
    const { client, response } = turn;
    const { scopes } = this.approvalOf(turn);
    if (scopes.length === 0) return await finish(turn, denied('There is none of these scopes.'));
    const mayRemember = consents.mayRemember(client);
    pages.consent(response, {
      ...formOf(turn),
      client,
      scopes: consents.inWords(scopes),
      upstream: { name: upstream.title, scopes: upstream.scopes },
      ...(mayRemember !== undefined && { mayRemember }),
    });
  }

  private async end(turn: Turn, result: UpstreamResult): Promise<void> {
    const { upstream } = this.parts;
    if ('error' in result) {
      const description =
        result.error === 'access_denied' ? 'The user has denied access.' : `${upstream.title} failed.`;
      return await finish(turn, { error: result.error, error_description: description });
    }
    const { identity } = result.signedIn;
    const subject = `${upstream.name}|${identity.id}`;
    const { approval } = result;
    // somebody else has signed in than the user who had asked to be remembered
    if (approval.subject !== undefined && approval.subject !== subject) return await this.ask(turn);
    const user = await this.userOf(identity);
    const scopes = approval.scopes.filter((scope) => user?.scopes?.includes(scope) ?? true);
    if (user === undefined || scopes.length === 0) {
      this.parts.report({
        type: 'login',
        allowed: false,
        subject,
        clientId: turn.clientId,
        remoteAddress: turn.address,
      });
      return await finish(turn, denied('The user may grant none of these scopes.'));
    }
    await this.parts.users.remember({ ...user, subject });
    await this.grant(turn, { subject, scopes, result });
  }

  /** @throws {TypeError} if the application returns neither what it knows of the user, nor nothing */
  private async userOf(identity: UpstreamIdentity): Promise<UpstreamUser | undefined> {
    const { user } = this.parts.upstream;
    const found: unknown = user === undefined ? {} : await user(identity);
    if (found === undefined || found === null) return undefined;
    if (isUserData(found)) return found;
    const problem = 'an object with maybe a `name` and a list of `scopes`';
    throw new TypeError(`\`user\` of the upstream must return ${problem}, or undefined to deny access.`);
  }

  private async grant(turn: Turn, { subject, scopes, result }: Granted): Promise<void> {
    const { consents, tokens, report, used } = this.parts;
    const { clientId, redirectUri, client, address: remoteAddress, interaction } = turn;
    const resource = String(interaction.params['resource']);
    const consent = { subject, clientId, redirectUri, scopes };
    const grantId = await consents.grant(turn.provider, { ...consent, resource });
    await tokens.keep(grantId, result.signedIn.tokens);
    if (result.approval.isRemembered === true && consents.mayRemember(client) !== undefined) {
      await consents.remember(consent);
    }
    await used(clientId);
    const { redirectHost } = client;
    report({ type: 'login', allowed: true, subject, clientId, remoteAddress });
    report({ type: 'consent', allowed: true, subject, clientId, scopes, grantId, redirectHost, remoteAddress });
    await forgetSession(turn, subject);
    await finish(turn, { login: { accountId: subject, remember: false }, consent: { grantId } });
  }

  private approvalOf({ interaction, clientId, redirectUri }: Turn): Approval {
    const scopes = this.parts.consents.grantable(interaction.params['scope'], undefined);
    return { uid: interaction.uid, clientId, redirectUri, scopes };
  }
}

/** Whether a page of another site has caused a request, or the client wants the user to be asked. */
const mustAsk = ({ params: { [DIRECT]: direct, prompt = '' } }: Interaction): boolean =>
  direct === undefined || String(prompt).split(' ').includes('consent');

interface Granted {
  readonly subject: string;
  readonly scopes: readonly string[];
  readonly result: Extract<UpstreamResult, { readonly signedIn: unknown }>;
}
