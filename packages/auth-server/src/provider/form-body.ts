import { Buffer } from 'node:buffer';
import type { IncomingMessage } from 'node:http';

/** A body that is too long, takes too long, or was cut off. */
export class BodyError extends Error {
  constructor(readonly status: 400 | 408 | 413) {
    super(`body: ${status}`);
  }
}

/** Limits of `readBody`. */
export interface BodyLimits {
  readonly maxBytes: number;
  readonly timeoutMs: number;
}

/**
 * The body of a request as sent. If a framework has parsed it already, it is written again.
 * @throws {BodyError}
 */
export async function readBody(request: IncomingMessage, { maxBytes, timeoutMs }: BodyLimits): Promise<Buffer> {
  const { body } = request as { body?: unknown };
  if (!request.readable && body !== undefined) return rewritten(body, request.headers['content-type'], maxBytes);
  const received = receive(request, maxBytes);
  // the connection of a late body ends only after the answer
  received.catch(() => {});
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new BodyError(408)), timeoutMs).unref();
  });
  try {
    return await Promise.race([received, late]);
  } finally {
    clearTimeout(timer);
  }
}

async function receive(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw new BodyError(413);
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof BodyError ? error : new BodyError(400);
  }
  return Buffer.concat(chunks);
}

function rewritten(body: unknown, type = '', maxBytes: number): Buffer {
  const isForm = type.includes('application/x-www-form-urlencoded');
  const text = Buffer.isBuffer(body) || typeof body === 'string' ? body : isForm ? formOf(body) : JSON.stringify(body);
  const bytes = Buffer.from(text as string);
  if (bytes.length > maxBytes) throw new BodyError(413);
  return bytes;
}

/** A field that was sent twice stays twice: for OAuth, that is a mistake. */
function formOf(fields: unknown): string {
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(fields as Record<string, unknown>)) {
    for (const each of Array.isArray(value) ? value : [value]) form.append(name, String(each));
  }
  return form.toString();
}
