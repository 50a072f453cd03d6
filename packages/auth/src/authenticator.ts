import type { Principal } from '@decorum/core';
import { isPromise } from '@decorum/core/internal';
import type { Auth, AuthDocument, AuthRefusal, Challenge, Denial, RequestHead } from '@decorum/http';

import { Challenges } from './challenge.js';
import { credentialsOf } from './credentials.js';
import { metadataUrl } from './documents.js';
import type { Reporter } from './events.js';
import type { Platform } from './fetch-json.js';
import { pathProblem, problemWith } from './issuer-problems.js';
import { answerTo, isRefused, type Refused } from './reasons.js';
import { requestedScope } from './scopes.js';
import type { IssuerSettings, Settings } from './settings.js';
import type { Verifier } from './verifier.js';

/** Dependencies of an `Authenticator`. */
export interface AuthenticatorParts<HostRequest> {
  readonly settings: Settings<HostRequest>;
  readonly verifier: Verifier<HostRequest>;
  readonly reporter: Reporter;
  readonly documents: readonly AuthDocument[];
}

/** What endpoints call: it verifies the credentials of each request, and tells clients where to get some. */
export class Authenticator<HostRequest> implements Auth<HostRequest> {
  readonly scopes: readonly string[];
  readonly documents: readonly AuthDocument[];
  readonly credentialHeaders: readonly string[];
  readonly toolSignIn: boolean;
  private readonly settings: Settings<HostRequest>;
  private readonly verifier: Verifier<HostRequest>;
  private readonly challenges: Challenges;
  private readonly reporter: Reporter;
  /** Starts the check of the issuers, once. */
  private checkIssuers: (() => void) | undefined;

  constructor({ settings, verifier, reporter, documents }: AuthenticatorParts<HostRequest>, platform: Platform) {
    const { scopes, resource, apiKeyHeader } = settings;
    this.settings = settings;
    this.verifier = verifier;
    this.reporter = reporter;
    this.scopes = scopes;
    this.documents = documents;
    this.credentialHeaders = apiKeyHeader === undefined ? [] : [apiKeyHeader];
    this.toolSignIn = settings.toolSignIn;
    this.challenges = new Challenges(resource && metadataUrl(resource), settings);
    const check = async (issuer: IssuerSettings) => {
      const problem = await problemWith(issuer);
      if (problem !== undefined) reporter.warn(problem);
    };
    if (platform.checksIssuers) this.checkIssuers = () => void Promise.all([...settings.issuers.values()].map(check));
  }

  authenticate(
    head: RequestHead,
    request: HostRequest,
  ): Principal | AuthRefusal | undefined | Promise<Principal | AuthRefusal | undefined> {
    const credentials = credentialsOf(head, this.settings.apiKeyHeader);
    if (credentials === undefined) return undefined;
    if (isRefused(credentials)) return this.refuse(credentials, head);
    const found = this.verifier.verify(credentials, request, head);
    return isPromise(found) ? found.then((late) => this.admit(late, head)) : this.admit(found, head);
  }

  challenge(denial: Denial): Challenge {
    const { reason, scopes, principal } = denial;
    if (reason === 'unauthorized') this.reporter.missing(scopes);
    else this.reporter.stepUp(principal, scopes);
    return this.challenges.denied(denial, principal && this.verifier.scopesOf(principal));
  }

  requestedScope(scope: string): string {
    const [first] = this.settings.issuers.values();
    return requestedScope(scope, first?.scopePrefix ?? '');
  }

  opened(warn: (message: string) => void, path?: string): void {
    this.reporter.logTo(warn);
    const mistake = pathProblem(this.settings.resource, path);
    if (mistake !== undefined) warn(mistake);
    this.checkIssuers?.();
    this.checkIssuers = undefined;
  }

  private admit(found: Principal | Refused, head: RequestHead): Principal | AuthRefusal {
    if (isRefused(found)) return this.refuse(found, head);
    this.reporter.granted(found, head);
    return found;
  }

  private refuse(refused: Refused, head: RequestHead): AuthRefusal {
    this.reporter.denied(refused, head);
    return this.challenges.refusals[answerTo(refused)];
  }
}
