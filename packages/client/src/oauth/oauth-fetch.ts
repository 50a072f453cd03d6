import { isObject } from '@decorum/core/internal';
import type { JsonObject } from '@decorum/core';

import { ConnectionError } from '../connection-error.js';

/** Milliseconds to wait for an authorization server, and a cap on the characters of its answer. */
const TIMEOUT_MS = 15_000;
const MAX_LENGTH = 256 * 1024;

/** What an authorization server answered. */
export interface OAuthAnswer {
  readonly status: number;
  /** The body; undefined if it is no JSON object. */
  readonly body: JsonObject | undefined;
}

const isLoopback = ({ hostname }: URL): boolean => /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);

/**
 * Reads a URL that a server has named. Such a URL must not lead the client into a network that only it can reach, so it
 * has to be `https`, unless server and URL are on this machine.
 * @throws {ConnectionError} `protocol`
 */
export function trustedUrl(text: unknown, server: URL): URL {
  const url = typeof text === 'string' && URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url) && isLoopback(server))) return url;
  throw new ConnectionError(
    'protocol',
    `${server.href} names ${JSON.stringify(text)} for its authorization, which is not an https URL.`,
  );
}

/** Sends a request to an authorization server. Redirects are not followed. */
export async function oauthFetch(
  url: URL,
  init: { readonly headers?: Record<string, string>; readonly body?: string; readonly method?: 'POST' } = {},
): Promise<OAuthAnswer> {
  const headers = { accept: 'application/json', ...init.headers };
  try {
    const response = await fetch(url, {
      ...init,
      headers,
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return { status: response.status, body: await objectOf(response) };
  } catch (error) {
    throw new ConnectionError('unreachable', `Cannot reach ${url.origin}, which authorizes clients.`, { cause: error });
  }
}

async function objectOf({ body }: Response): Promise<JsonObject | undefined> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    if (text.length > MAX_LENGTH) return undefined;
  }
  try {
    const parsed: unknown = JSON.parse(text);
    return isObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}
