import { ServerResponse } from 'node:http';

/**
 * Writes headers and body in a single write. Call `end` afterwards. Node's own `end(text)` corks the socket and adds an
 * empty chunk at the end: with it, each response would take the slower path for several buffers.
 * @param size bytes of the text
 */
export function writeWhole(response: ServerResponse, text: string, size: number): void {
  const { socket } = response;
  // otherwise the first write would cork it until the next tick
  socket?.cork();
  // the same bytes in a fraction of the time if all of it is ASCII, as nearly all JSON is
  response.write(text, size === text.length ? 'latin1' : 'utf8');
  socket?.uncork();
}

/**
 * A `ServerResponse` that sends headers and body in one write. Writes are the most expensive part of a response.
 * `listen` uses it. In your own application, write `fastify({ http: { ServerResponse: OneWriteResponse } })` or
 * `http.createServer({ ServerResponse: OneWriteResponse }, handler)`.
 */
export const OneWriteResponse = class OneWriteResponse extends ServerResponse {
  override end(chunk?: unknown, encoding?: unknown, callback?: () => void): this {
    const isWhole = typeof chunk === 'string' && chunk !== '' && typeof encoding !== 'string';
    if (!isWhole || this.socket === null || !this.headersSent || this.chunkedEncoding) {
      return super.end(chunk as string, encoding as BufferEncoding, callback);
    }
    // Node keeps the announced length
    const { _contentLength: announced } = this as { readonly _contentLength?: number | null };
    writeWhole(this, chunk, announced ?? Buffer.byteLength(chunk));
    return super.end(typeof encoding === 'function' ? (encoding as () => void) : callback);
  }
} as unknown as typeof ServerResponse;
