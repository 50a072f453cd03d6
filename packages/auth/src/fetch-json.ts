/** The clock and the network. Tests pass their own. */
export interface Platform {
  /** Milliseconds since the epoch. */
  now(): number;
  fetch(url: string, init: RequestInit): Promise<Response>;
  /** Whether to fetch the metadata of all issuers when a server opens. Tests must not reach a network unasked. */
  readonly checksIssuers?: boolean;
}

/** Time limit for the complete response of an issuer. */
const TIMEOUT_MS = 5000;

/** Cap on the bytes of an answer, counted after decompression. */
const MAX_BYTES = 256 * 1024;

/** A response with another status than 200. */
export class StatusError extends Error {
  /** The `Retry-After` header (RFC 9110, section 10.2.3); null without one. */
  readonly retryAfter: string | null;
  readonly status: number;

  constructor(url: string, { status, headers }: Response) {
    super(`${url} answered with status ${status}`);
    this.status = status;
    this.retryAfter = headers.get('retry-after');
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
export async function fetchJson(url: string, platform: Platform, init: RequestInit = {}): Promise<JsonText> {
  return await inTime(async (signal) => {
    const response = await send(url, platform, { ...init, signal });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new StatusError(url, response);
    }
    const text = await readText(response, url);
    const json = parseObject(text);
    if (json === undefined) throw new Error(`${url} sent no JSON object`);
    return { text, json };
  });
}

/** An answer of an issuer with any status. */
export interface IssuerAnswer {
  readonly status: number;
  /** Undefined for anything but a JSON object, such as an HTML page. */
  readonly json: JsonText['json'] | undefined;
}

/**
 * Sends a request to an issuer, and reads the answer with any status: errors of OAuth have a body.
 * @throws {Error} if the issuer doesn't answer in time and within the cap
 */
export async function fetchAnswer(url: string, platform: Platform, init: RequestInit): Promise<IssuerAnswer> {
  return await inTime(async (signal) => {
    const response = await send(url, platform, { ...init, signal });
    return { status: response.status, json: parseObject(await readText(response, url)) };
  });
}

async function inTime<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new Error(`no answer within ${TIMEOUT_MS} ms`)), TIMEOUT_MS).unref();
  try {
    return await run(controller.signal);
  } finally {
    clearTimeout(timer);
  }
}

async function send(url: string, { fetch }: Platform, init: RequestInit): Promise<Response> {
  return await fetch(url, { ...init, headers: { accept: 'application/json', ...init.headers }, redirect: 'error' });
}

function parseObject(text: string): JsonText['json'] | undefined {
  try {
    const json: unknown = JSON.parse(text);
    return typeof json === 'object' && json !== null && !Array.isArray(json) ? (json as JsonText['json']) : undefined;
  } catch {
    return undefined;
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
  if (typeof message !== 'string') return typeof failure === 'object' ? codeOf(failure) : String(failure);
  const causes: readonly unknown[] = Array.isArray(errors) ? errors : [cause];
  const texts = [message, ...causes.filter((each) => each !== undefined).map(problemOf)];
  return texts.filter((text) => text !== '').join(': ');
}

/** The error code in the answer of an authorization server (RFC 6749, section 5.2), which libraries pass on as a cause. */
function codeOf(answer: object | null): string {
  const { error, error_description: description } = (answer ?? {}) as Readonly<Record<string, unknown>>;
  return [error, description].filter((text) => typeof text === 'string').join(': ');
}
