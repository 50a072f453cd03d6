import { isObject, isScope } from '@decorum/core/internal';

import { hostMistake } from '../endpoint/allowed.js';
import { AUTH, type Auth, type AuthDocument, type AuthOption } from './auth.js';
import { sentPath } from '../endpoint/paths.js';
import type { AuthMount } from '../hosts/node/auth-mount.js';
import { isHeaderName } from './credentials.js';

/** The `Auth` that an `auth` option stands for. */
export const authOf = <HostRequest>(option: AuthOption<HostRequest>): Auth<HostRequest> =>
  isObject(option) && AUTH in option ? (option[AUTH] as Auth<HostRequest>) : (option as Auth<HostRequest>);

/** Describes the mistake in an `Auth` and its remedy. Returns undefined for a valid value. */
export function authMistake(auth: unknown): string | undefined {
  if (!isObject(auth) || typeof auth['authenticate'] !== 'function') {
    return 'must be an object with the method `authenticate`, such as `oauth({ issuer, audience })` of @decorum/auth';
  }
  const { scopes = [], toolSignIn, credentialHeaders = [] } = auth as Partial<Auth>;
  if (!isListOf(scopes, isScope)) {
    return 'has `scopes` that are not a list of scope tokens. Write one string for each scope, without spaces and quotes';
  }
  for (const name of ['challenge', 'requestedScope', 'opened', 'closed'] as const) {
    if (auth[name] !== undefined && typeof auth[name] !== 'function')
      return `has ${name === 'opened' ? 'an' : 'a'} \`${name}\` that is not a function`;
  }
  if (toolSignIn !== undefined && typeof toolSignIn !== 'boolean') return 'has a `toolSignIn` that is not a boolean';
  if (!isListOf(credentialHeaders, isHeaderName)) {
    return "has `credentialHeaders` that are not a list of header names, such as 'x-my-key'";
  }
  return servedMistake(auth);
}

/** Describes the mistake in what an `Auth` serves. */
function servedMistake({ documents = [], mount, allowedHosts = [] }: Partial<Auth>): string | undefined {
  if (!Array.isArray(documents) || !documents.every(isDocument)) {
    return 'has `documents` that are not a list of objects with a `path` that starts with "/" and the method `answer`';
  }
  if (mount !== undefined && !isMount(mount)) {
    return 'has a `mount` without the method `handle`, or whose `paths` are not a list of paths that start with "/", as clients send them';
  }
  const both = documents.find(({ path }) => mount?.paths.includes(path));
  if (both !== undefined) return `serves "${both.path}" as a document and in its \`mount\`. Remove one of them`;
  if (!isListOf(allowedHosts, (host) => hostMistake(host) === undefined)) {
    return "has `allowedHosts` that are not a list of hosts, such as 'mcp.example.com'";
  }
  return undefined;
}

const isListOf = (values: unknown, isValid: (value: string) => boolean): boolean =>
  Array.isArray(values) && values.every((value) => typeof value === 'string' && isValid(value));

const isPath = (path: unknown): path is string => typeof path === 'string' && /^\/[^?#\s]+$/.test(path);

function isDocument(document: Partial<AuthDocument> | undefined): boolean {
  const { path, answer } = document ?? {};
  return isPath(path) && typeof answer === 'function';
}

function isMount(mount: unknown): boolean {
  const { paths, handle } = (isObject(mount) ? mount : {}) as Partial<AuthMount>;
  const isServable = (path: string) => isPath(path) && !/[*:]/.test(path) && sentPath(path) === path;
  return Array.isArray(paths) && paths.length > 0 && isListOf(paths, isServable) && typeof handle === 'function';
}
