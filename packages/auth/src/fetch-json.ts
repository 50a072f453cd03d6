/** The clock and the network. Tests pass their own. */
export interface Platform {
  /** Milliseconds since the epoch. */
  now(): number;
  fetch(url: string, init: RequestInit): Promise<Response>;
}

/** Time limit for the complete response of an issuer. */
const TIMEOUT_MS = 5000;

/** Cap on the bytes of an answer, counted after decompression. */
const MAX_BYTES = 256 * 1024;

/** A response with another status than 200. */
class StatusError extends Error {
  /** @param retryAfter the `Retry-After` header (RFC 9110, section 10.2.3); null without one */
  constructor(
    message: string,
    readonly retryAfter: string | null,
  ) {
    super(message);
  }
}

/** Milliseconds for which an issuer that failed asked to be left alone; 0 if it didn't. `now` is since the epoch. */
export function retryAfterOf(failure: unknown, now: number): number {
  if (failure instanceof AggregateError) return Math.max(0, ...failure.errors.map((each) => retryAfterOf(each, now)));
  const value = failure instanceof StatusError ? failure.retryAfter : null;
  if (value === null) return 0;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now;
  return ms > 0 ? ms : 0;
}

/** A JSON object from an issuer. */
export interface JsonText {
  /** As sent. */
  readonly text: string;
  readonly json: Readonly<Record<string, unknown>>;
}

/**
 * Requests a JSON object from an issuer. Redirects are errors: they could lead to an untrusted host.
 * @throws {Error} if the issuer doesn't answer with 200 and a JSON object, in time and within the cap
 */
export async function fetchJson(url: string, { fetch }: Platform, init: RequestInit = {}): Promise<JsonText> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new Error(`no answer within ${TIMEOUT_MS} ms`)), TIMEOUT_MS).unref();
  try {
    const headers = { accept: 'application/json', ...init.headers };
    const response = await fetch(url, { ...init, headers, redirect: 'error', signal: controller.signal });
    if (response.status !== 200) {
      await response.body?.cancel();
      const problem = `${url} answered with status ${response.status}`;
      throw new StatusError(problem, response.headers.get('retry-after'));
    }
    const text = await readText(response, url);
    const json: unknown = JSON.parse(text);
    if (typeof json !== 'object' || json === null || Array.isArray(json)) throw new Error(`${url} sent no JSON object`);
    return { text, json: json as JsonText['json'] };
  } finally {
    clearTimeout(timer);
  }
}

/** Reads a body up to the cap. Nothing beyond it is buffered. */
async function readText({ body }: Response, url: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  if (body !== null) {
    // leaving the loop cancels the body
    for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
      bytes += chunk.byteLength;
      if (bytes > MAX_BYTES) throw new Error(`${url} sent more than ${MAX_BYTES} bytes`);
      chunks.push(chunk);
    }
  }
  return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
}

/** The message of a failed fetch and of its causes: only the causes name the network error. */
export function problemOf(failure: unknown): string {
  const { message, cause, errors } = (failure ?? {}) as Partial<AggregateError>;
  if (typeof message !== 'string') return String(failure);
  const causes: readonly unknown[] = Array.isArray(errors) ? errors : [cause];
  const texts = [message, ...causes.filter((each) => each !== undefined).map(problemOf)];
  return texts.filter((text) => text !== '').join(': ');
}
