import { ToolError } from '@decorum/core';

import type { ApiRequest } from './request.js';

/** Caps of a request. */
export interface SendLimits {
  readonly maxResponseBytes: number;
  readonly maxErrorBytes: number;
  /** In milliseconds, for all of the request. */
  readonly timeoutMs: number;
  /** Redirects may lead below this URL only. */
  readonly baseUrl: URL;
}

/** The answer of the API. */
export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

const MAX_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

async function readBody(
  response: Response,
  { maxResponseBytes, maxErrorBytes }: SendLimits,
): Promise<Uint8Array<ArrayBuffer>> {
  const limit = response.ok ? maxResponseBytes : maxErrorBytes;
  const chunks: Uint8Array[] = [];
  let size = 0;
  // leaving the loop cancels the body
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    chunks.push(chunk);
    if (size <= limit) continue;
    if (!response.ok) break;
    throw new ToolError(
      `The request was answered with the status ${response.status}, but the answer is larger than ${limit} bytes. Ask for less, for example for a page`,
    );
  }
  return new Uint8Array(Buffer.concat(chunks));
}

const isBelow = (url: URL, { origin, pathname }: URL): boolean =>
  url.origin === origin && `${url.pathname}/`.startsWith(pathname.replace(/\/*$/, '/'));

/** Where a redirect leads; undefined if it must not be followed. */
function redirectOf(response: Response, { method, url }: ApiRequest, baseUrl: URL): URL | undefined {
  const location = response.headers.get('location');
  if (location === null || !URL.canParse(location, url.href) || (method !== 'GET' && method !== 'HEAD'))
    return undefined;
  const target = new URL(location, url);
  return isBelow(target, baseUrl) && target.username === '' && target.password === '' ? target : undefined;
}

async function attempt(request: ApiRequest, signal: AbortSignal, limits: SendLimits): Promise<ApiAnswer> {
  let { url } = request;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
    const { method, headers, body } = request;
    const response = await fetch(url, { method, headers, signal, redirect: 'manual', body: body?.data ?? null });
    const { status } = response;
    if (!REDIRECTS.has(status)) return { status, headers: response.headers, bytes: await readBody(response, limits) };
    await response.body?.cancel();
    const next = redirectOf(response, { ...request, url }, limits.baseUrl);
    if (next === undefined) {
      throw new ToolError(`The API answered with a redirect (${status}) that is not followed`);
    }
    url = next;
  }
  throw new ToolError(`The API answered with more than ${MAX_REDIRECTS} redirects`);
}

/**
 * Sends a request. Redirects are followed for `GET` and `HEAD`, below the base URL.
 * @param signal aborts the request
 * @throws {ToolError} without addresses and system errors, if there is no answer
 */
export async function send(request: ApiRequest, signal: AbortSignal, limits: SendLimits): Promise<ApiAnswer> {
  const timeout = AbortSignal.timeout(limits.timeoutMs);
  try {
    return await attempt(request, AbortSignal.any([signal, timeout]), limits);
  } catch (error) {
    if (error instanceof ToolError) throw error;
    signal.throwIfAborted();
    if (timeout.aborted) throw new ToolError(`The API did not answer within ${limits.timeoutMs} ms`, { cause: error });
    throw new ToolError('The API could not be reached, or broke off its answer', { cause: error });
  }
}
