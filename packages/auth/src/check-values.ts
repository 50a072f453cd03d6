import { isScope } from '@decorum/core/internal';
import { startupError } from '@decorum/core/plugin';

import { canonicalResource, issuerUrlMistake } from './urls.js';

/** Checks the values of options. Each check throws a `DecorumError` with the code `DECORUM_INVALID_OPTION`. */
export class OptionChecks {
  /** @param where the function that has the options, such as `oauth` */
  constructor(readonly where: string) {}

  /** The error for an invalid option. */
  invalid(option: string, problem: string): Error {
    return startupError('DECORUM_INVALID_OPTION', this.where, option, problem);
  }

  /** Checks that an option is a string with at least one character. */
  requireText(option: string, value: unknown): string {
    if (typeof value === 'string' && value !== '') return value;
    const problem = value === undefined ? 'is missing' : value === '' ? 'is empty' : 'must be a string';
    throw this.invalid(option, `${problem}. If it comes from an environment variable, check that it is set`);
  }

  /** Checks that an option is a list of strings. */
  requireTexts(option: string, values: unknown): readonly string[] {
    if (Array.isArray(values) && values.every((value) => typeof value === 'string')) return values;
    throw this.invalid(option, 'must be an array of strings');
  }

  /** Checks that an option is a list of scopes. */
  requireScopes(option: string, scopes: unknown): void {
    const wrong = this.requireTexts(option, scopes).find((scope: unknown) => !isScope(scope));
    if (wrong === undefined) return;
    const remedy = /^\S+(?: \S+)+$/.test(wrong) ? `Write ${JSON.stringify(wrong.split(' '))}` : 'Correct it';
    throw this.invalid(option, `contains "${wrong}", which is not a scope (RFC 6749, section 3.3). ${remedy}`);
  }

  /** Checks that an option is the identifier of an issuer. */
  requireIssuer(option: string, given: unknown, allowLoopbackHttp: boolean): string {
    const issuer = this.requireText(option, given);
    const mistake = issuerUrlMistake(issuer, allowLoopbackHttp);
    if (mistake !== undefined) throw this.invalid(option, `is "${issuer}", but ${mistake}`);
    if (!issuer.includes('?')) return issuer;
    throw this.invalid(option, `is "${issuer}", but must not have a query (RFC 8414, section 2)`);
  }

  /** Checks that an option is the URL of an endpoint as clients see it. */
  requireResource(option: string, given: unknown, allowLoopbackHttp: boolean): string {
    const url = this.requireText(option, given);
    const mistake = issuerUrlMistake(url, allowLoopbackHttp);
    if (mistake !== undefined) throw this.invalid(option, `is "${url}", but ${mistake}`);
    if (url.includes('?')) throw this.invalid(option, `is "${url}", but must not have a query`);
    const { href } = new URL(url);
    if (canonicalResource(url) === canonicalResource(href)) return url;
    throw this.invalid(option, `is "${url}", but clients would send "${href}". Write that`);
  }
}
