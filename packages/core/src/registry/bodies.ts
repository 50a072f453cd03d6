import { bytesOf } from '@decorum/schema/internal';

import type { Caller } from './caller.js';

/** The content of a value that had to be read asynchronously. */
export class Body {
  /**
   * @param data text, bytes, or a list of other values from a stream
   * @param mimeType the MIME type without parameters, if known
   */
  constructor(
    readonly data: unknown,
    readonly mimeType: string | undefined,
  ) {}
}

const TEXTUAL = /^text\/|[/+](?:json|xml|yaml|javascript|ecmascript)$/;

/** Decodes bytes as text if their MIME type is textual and they are UTF-8; otherwise returns the bytes. */
export function textOrBytes(bytes: Uint8Array, mimeType: string | undefined): string | Uint8Array {
  if (mimeType === undefined || !TEXTUAL.test(mimeType.split(';')[0] as string)) return bytes;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return bytes;
  }
}

// duck-typed: referring to the global Response would load all of fetch
interface Readable {
  readonly arrayBuffer?: () => Promise<ArrayBuffer>;
  readonly getReader?: unknown;
  readonly pipe?: unknown;
  readonly [Symbol.asyncIterator]?: unknown;
}

/**
 * Reads a `Blob`, a `Response` or a stream, until it ends or the call is aborted.
 * @returns undefined for any other value
 */
export function readBody(value: object, caller: Caller): Promise<Body> | undefined {
  const { arrayBuffer, getReader, pipe, [Symbol.asyncIterator]: iterate } = value as Readable;
  if (typeof arrayBuffer === 'function') return readTyped(value as Blob | Response, caller);
  const isStream = typeof iterate === 'function' && (typeof getReader === 'function' || typeof pipe === 'function');
  return isStream ? collectStream(value as Stream, caller) : undefined;
}

/** A stream of the web or of Node. */
interface Stream extends AsyncIterable<unknown> {
  getReader?(): { read(): Promise<IteratorResult<unknown, undefined>>; cancel(reason?: unknown): Promise<void> };
  destroy?(reason?: unknown): void;
}

/** Collects a stream, and ends it if the call is aborted. An iterator can't be ended while it waits for a silent source. */
async function collectStream(stream: Stream, caller: Caller): Promise<Body> {
  const { signal } = caller;
  const reader = stream.getReader?.();
  const end = () => void (reader ? reader.cancel(signal.reason).catch(() => {}) : stream.destroy?.(signal.reason));
  const iterator = reader && { next: () => reader.read() };
  if (signal.aborted) end();
  else signal.addEventListener('abort', end, { once: true });
  try {
    return await collect(iterator ? { [Symbol.asyncIterator]: () => iterator } : stream, caller);
  } finally {
    signal.removeEventListener('abort', end);
  }
}

async function readTyped(value: Blob | Response, caller: Caller): Promise<Body> {
  if ('ok' in value && !value.ok)
    throw new Error(
      `The handler returned a Response with the status ${value.status}. Check \`response.ok\` before you return it.`,
    );
  const type = 'ok' in value ? value.headers.get('content-type') : value.type;
  const mimeType = type?.split(';')[0]?.trim().toLowerCase() || undefined;
  // a response may never end, so stop reading when the call is cancelled
  const body = 'body' in value ? value.body : undefined;
  const data = body ? (await collectStream(body, caller)).data : await value.arrayBuffer();
  const bytes = bytesOf(data) ?? new Uint8Array();
  // such as a 204
  if (bytes.length === 0 && mimeType === undefined) return new Body('', undefined);
  return new Body(textOrBytes(bytes, mimeType), mimeType);
}

const RETURNED =
  'A generator returned a value. In resources and prompts, yield the content, and report progress with ctx.progress().';

type AnyIterator = AsyncIterator<unknown, unknown> | Iterator<unknown, unknown>;

/**
 * Reads an iterable, until it ends or the call is aborted.
 * @throws {TypeError} for a generator that returns a value, which would be lost
 */
export async function listOf(iterable: AsyncIterable<unknown> | Iterable<unknown>, { signal }: Pick<Caller, 'signal'>) {
  const { [Symbol.asyncIterator]: open = (iterable as Iterable<unknown>)[Symbol.iterator] } = iterable as Partial<
    AsyncIterable<unknown>
  >;
  const iterator = (open as () => AnyIterator).call(iterable);
  const chunks: unknown[] = [];
  for (;;) {
    const { done, value } = await iterator.next();
    if (done === true && value !== undefined) throw new TypeError(RETURNED);
    if (done === true) return chunks;
    if (signal.aborted) {
      await iterator.return?.();
      return chunks;
    }
    chunks.push(await value);
  }
}

/** Collects an iterable: joins strings or bytes, and returns other values as a list. */
export async function collect(
  iterable: AsyncIterable<unknown> | Iterable<unknown>,
  caller: Pick<Caller, 'signal'>,
): Promise<Body> {
  const chunks = await listOf(iterable, caller);
  if (chunks.every((chunk) => typeof chunk === 'string')) return new Body(chunks.join(''), undefined);
  const bytes = chunks.flatMap((chunk) => bytesOf(typeof chunk === 'string' ? Buffer.from(chunk) : chunk) ?? []);
  return new Body(bytes.length === chunks.length ? new Uint8Array(Buffer.concat(bytes)) : chunks, undefined);
}
