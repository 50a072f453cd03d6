import type Provider from 'oidc-provider';

import type { DescribedClient } from '../clients/client-source.js';
import type { Clock } from '../platform.js';
import type { User } from '../users/user-directory.js';
import { SealedRecords } from './sealed-records.js';

/** What a user has consented to. */
export interface Consent {
  readonly subject: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
}

/** Dependencies of `Consents`. */
export interface ConsentsParts {
  readonly records: SealedRecords;
  readonly clock: Clock;
  /** All scopes that there are, in words. */
  readonly words: Readonly<Record<string, string>>;
  /** How long a consent may be remembered; undefined if it isn't. */
  readonly rememberDays: number | undefined;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** What users may grant, have granted, and have asked to be remembered. */
export class Consents {
  constructor(private readonly parts: ConsentsParts) {}

  /** The scopes of a request that there are, and that the user may grant. */
  grantable(scope: unknown, user: User | undefined): readonly string[] {
    const asked = typeof scope === 'string' ? [...new Set(scope.split(' '))] : [];
    const { words } = this.parts;
    return asked.filter((each) => Object.hasOwn(words, each) && (user?.scopes?.includes(each) ?? true));
  }

  /** Scopes, as the consent page words them. */
  inWords(scopes: readonly string[]): readonly string[] {
    return scopes.map((scope) => this.parts.words[scope] as string);
  }

  /** For how many days a consent may be remembered. On the user's computer, any program can pretend to be the client. */
  mayRemember({ isLoopbackOnly, isLoopbackRedirect }: DescribedClient): number | undefined {
    return isLoopbackOnly || isLoopbackRedirect ? undefined : this.parts.rememberDays;
  }

  /** Creates a grant, and returns its id. */
  async grant(
    provider: Provider,
    { subject, clientId, scopes, resource }: Consent & { readonly resource: string },
  ): Promise<string> {
    const grant = new provider.Grant({ accountId: subject, clientId });
    grant.addResourceScope(resource, scopes.join(' '));
    return await grant.save();
  }

  /** Remembers a consent. */
  async remember(consent: Consent): Promise<void> {
    const until = this.parts.clock.now() + (this.parts.rememberDays ?? 0) * DAY_MS;
    await this.parts.records.put(keyOf(consent), consent.scopes, until);
  }

  /** Whether the user has consented to at least these scopes before, and asked to be remembered. */
  async isRemembered(consent: Consent): Promise<boolean> {
    if (this.parts.rememberDays === undefined) return false;
    const known = (await this.parts.records.get(keyOf(consent))) as readonly string[] | undefined;
    return known !== undefined && consent.scopes.every((scope) => known.includes(scope));
  }
}

const keyOf = ({ subject, clientId, redirectUri }: Consent): string =>
  SealedRecords.key('consent', JSON.stringify([subject, clientId, redirectUri]));
