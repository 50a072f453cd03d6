import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';

import { parse, type Written } from '../message.js';

const MIB = 1024 * 1024;
/** Cap on a message. Programs accept 4 MiB by default. */
const MAX_BYTES = 16 * MIB;
/** Cap on the messages that wait for a program or for the rest of their bytes. */
const MAX_WAITING_BYTES = 64 * MIB;

/** A body that was read. */
export interface Body {
  readonly bytes: Buffer;
  /** The message in it, if it is one. */
  readonly written: Written | undefined;
}

/** Why a body was not read. It can still be read from the request, from its first byte. */
export type Unread = 'too large' | 'busy';

function bodyOf(bytes: Buffer): Body {
  // other text would change when it is encoded again
  if (!isUtf8(bytes)) return { bytes, written: undefined };
  const text = bytes.toString();
  const message = parse(text);
  return { bytes, written: message && { message, text } };
}

/** Reads the bodies that may be messages. Anything can arrive here before a program has checked it. */
export class Bodies {
  private held = 0;

  /**
   * Reads a body, unless it exceeds a cap.
   * @param gone aborts when the request is over
   */
  async read(request: IncomingMessage, gone: AbortSignal): Promise<Body | Unread> {
    if (Number(request.headers['content-length'] ?? 0) > MAX_BYTES) return 'too large';
    const chunks: Buffer[] = [];
    let size = 0;
    const release = () => {
      this.held -= size;
      size = 0;
    };
    gone.addEventListener('abort', release, { once: true });
    return new Promise((resolve, reject) => {
      const settle = (body: Body | Unread) => {
        request.off('data', take).off('end', end).off('close', fail).off('error', fail);
        resolve(body);
      };
      const refuse = (why: Unread) => {
        release();
        request.pause();
        settle(why);
        request.unshift(Buffer.concat(chunks));
      };
      const take = (chunk: Buffer) => {
        chunks.push(chunk);
        size += chunk.length;
        this.held += chunk.length;
        if (size > MAX_BYTES) refuse('too large');
        else if (this.held > MAX_WAITING_BYTES) refuse('busy');
      };
      const end = () => settle(bodyOf(Buffer.concat(chunks)));
      const fail = () => reject(new Error('The client has disconnected.'));
      request.on('data', take).once('end', end).once('close', fail).once('error', fail);
    });
  }
}
