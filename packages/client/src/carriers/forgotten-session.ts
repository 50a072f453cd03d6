import type { IncomingMessage } from 'node:http';

import { isObject } from '@decorum/core/internal';

import { bodyOf, type HttpCall } from './http-request.js';

/** The code with which the official SDK refuses requests that it has not read. */
const REFUSED = -32000;

/**
 * Whether a body says that its request was refused, because the server knows no such session. The specification wants
 * HTTP 404 for that. But servers after older examples of the official SDK answer HTTP 400, with an error without an id.
 */
export function deniesSession(body: string): boolean {
  const { id, error } = parsed(body);
  if ((id ?? undefined) !== undefined || !isObject(error) || error['code'] !== REFUSED) return false;
  return /session|not initialized/i.test(String(error['message']));
}

/**
 * The session of a request that the server doesn't know any more; undefined if it does.
 * @param response of which the body is read if the status is 400, as it is no stream then
 */
export async function forgottenSession(
  { headers }: HttpCall,
  response: IncomingMessage,
  maxLength: number,
): Promise<string | undefined> {
  const session = headers['mcp-session-id'];
  if (session === undefined || response.statusCode === 404) return session;
  if (response.statusCode !== 400) return undefined;
  return deniesSession(await bodyOf(response, maxLength)) ? session : undefined;
}

function parsed(body: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
