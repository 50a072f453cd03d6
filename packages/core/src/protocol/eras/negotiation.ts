import type { JsonObject } from '@decorum/schema/internal';

import { requireString } from '../checks.js';
import { McpError } from '../errors.js';
import { newestOf, revisionOf } from '../revisions/index.js';
import type { Revision } from '../revisions/revision.js';

/** Cap on the characters of the params of `initialize`. */
const MAX_INITIALIZE_CHARS = 65_536;

/**
 * Negotiates a new conversation's revision: the requested one if it has sessions, else the newest one with sessions.
 * @throws {McpError} `invalid-params` if the client requests none, or sends too much
 */
export function agreedRevision(params: JsonObject): Revision {
  if (JSON.stringify(params).length > MAX_INITIALIZE_CHARS) {
    throw new McpError('invalid-params', `The params have more than ${MAX_INITIALIZE_CHARS} characters.`);
  }
  return revisionFor(requireString(params, 'protocolVersion'));
}

/** The revision that a client gets if it requests this one. */
export function revisionFor(requested: unknown): Revision {
  const asked = revisionOf(requested);
  return asked?.sessions ? asked : newestOf('stateful');
}
