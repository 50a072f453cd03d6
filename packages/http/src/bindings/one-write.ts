import { ServerResponse } from 'node:http';

/**
 * Writes a whole text with the headers before it, in one write; `end` comes next. Node's own `end(text)` corks the socket
 * until the end of the answer, which it marks by an empty chunk, so that every answer would take the slower path of several
 * buffers.
 */
export function writeWhole(response: ServerResponse, text: string): void {
  const { socket } = response;
  // otherwise the first write corks it, and has it uncorked on another tick
  socket?.cork();
  response.write(text);
  socket?.uncork();
}

/**
 * A response that hands headers and text over in one write, which is what an answer costs most. `listen` uses it; in an
 * application of your own: `fastify({ http: { ServerResponse: OneWriteResponse } })`, or
 * `http.createServer({ ServerResponse: OneWriteResponse }, handler)`.
 */
export const OneWriteResponse = class OneWriteResponse extends ServerResponse {
  override end(chunk?: unknown, encoding?: unknown, callback?: () => void): this {
    const isWhole = typeof chunk === 'string' && chunk !== '' && typeof encoding !== 'string';
    if (!isWhole || this.socket === null || !this.headersSent || this.chunkedEncoding) {
      return super.end(chunk as string, encoding as BufferEncoding, callback);
    }
    writeWhole(this, chunk);
    return super.end(typeof encoding === 'function' ? (encoding as () => void) : callback);
  }
} as unknown as typeof ServerResponse;
