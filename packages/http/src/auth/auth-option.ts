import { isObject, isScope } from '@decorum/core/internal';

import { AUTH, type Auth, type AuthDocument, type AuthOption } from './auth.js';
import { isHeaderName } from './credentials.js';

/** The `Auth` that an `auth` option stands for. */
export const authOf = <HostRequest>(option: AuthOption<HostRequest>): Auth<HostRequest> =>
  isObject(option) && AUTH in option ? (option[AUTH] as Auth<HostRequest>) : (option as Auth<HostRequest>);

/** Describes the mistake in an `Auth` and its remedy. Returns undefined for a valid value. */
export function authMistake(auth: unknown): string | undefined {
  if (!isObject(auth) || typeof auth['authenticate'] !== 'function') {
    return 'must be an object with the method `authenticate`, such as `oauth({ issuer, audience })` of @decorum/auth';
  }
  const { scopes = [], toolSignIn, documents = [], credentialHeaders = [] } = auth as Partial<Auth>;
  if (!isListOf(scopes, isScope)) {
    return 'has `scopes` that are not a list of scope tokens. Write one string for each scope, without spaces and quotes';
  }
  for (const name of ['challenge', 'requestedScope', 'opened'] as const) {
    if (auth[name] !== undefined && typeof auth[name] !== 'function')
      return `has ${name === 'opened' ? 'an' : 'a'} \`${name}\` that is not a function`;
  }
  if (toolSignIn !== undefined && typeof toolSignIn !== 'boolean') return 'has a `toolSignIn` that is not a boolean';
  if (!isListOf(credentialHeaders, isHeaderName)) {
    return "has `credentialHeaders` that are not a list of header names, such as 'x-my-key'";
  }
  if (!Array.isArray(documents) || !documents.every(isDocument)) {
    return 'has `documents` that are not a list of objects with a `path` that starts with "/" and the method `answer`';
  }
  return undefined;
}

const isListOf = (values: unknown, isValid: (value: string) => boolean): boolean =>
  Array.isArray(values) && values.every((value) => typeof value === 'string' && isValid(value));

function isDocument(document: Partial<AuthDocument> | undefined): boolean {
  const { path, answer } = document ?? {};
  return typeof path === 'string' && /^\/[^?#\s]+$/.test(path) && typeof answer === 'function';
}
