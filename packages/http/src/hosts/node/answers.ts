import { AsyncResource } from 'node:async_hooks';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

import type { HttpContext } from '../../endpoint/http-context.js';
import type { PipelinedPost } from '../../endpoint/pipeline.js';
import type { Reader, SlowReaders } from '../../endpoint/slow-readers.js';
import { leftOn, onSocketClose } from './socket.js';

/** Number of requests on each connection that are waiting for the answers to earlier ones. */
const waiting = new WeakMap<Socket, number>();

/** A connection with more waiting requests is closed. */
const MAX_WAITING = 16;

/**
 * Whether to ignore a request that waits for the answers to earlier ones, because its connection has sent too many.
 * Closes such a connection. Pausing it instead would hide that the client has disconnected.
 */
export function isFlooding(response: ServerResponse): boolean {
  const { socket } = response.req;
  const count = (waiting.get(socket) ?? 0) + 1;
  if (count > MAX_WAITING) socket.destroy();
  // also ignores the rest of the same packet
  if (socket.destroyed) return true;
  waiting.set(socket, count);
  // Node gives the connection to one response after the other
  response.once('socket', () => waiting.set(socket, (waiting.get(socket) ?? 0) - 1));
  return false;
}

/**
 * Holds a pipelined POST until the client has taken the answers to all earlier requests on the connection. Unsafe
 * requests must not be handled in parallel (RFC 9112, section 9.3.2), and their answers would pile up. Notifications
 * and responses don't wait, because an earlier request may need them.
 */
export function postInOrder({ bodies, begin }: PipelinedPost, context: HttpContext, response: ServerResponse): void {
  const { req, writableEnded } = response;
  const { socket, httpVersionMajor } = req;
  // HTTP/2 requests have their own streams; a response that has already ended came from the application
  if (httpVersionMajor !== 1 || writableEnded) return begin();
  if (socket.destroyed) return;
  const release = bodies.keepWaiting(context);
  if (release === undefined) return void socket.destroy();
  const removeOnClose = onSocketClose(socket, release);
  const start = () => {
    if (socket.destroyed) return;
    removeOnClose();
    release();
    // the application may have answered meanwhile
    if (!response.writableEnded) begin();
  };
  const { turns } = bodies;
  if (response.socket !== null) return turns.add(start);
  // runs with the `AsyncLocalStorage` of this request
  const resource = new AsyncResource('Pipelined');
  response.once('socket', () => resource.runInAsyncScope(() => turns.add(start)));
}

/** Counts an answer that has been sent and that the client has not taken yet. */
export function noteUnread(response: ServerResponse, body: string, readers: SlowReaders): void {
  const { socket } = response.req;
  if (socket.destroyed || response.writableFinished) return;
  const answer: Reader = {
    backlog: Math.max(response.writableLength, body.length),
    get left() {
      return leftOn(socket);
    },
    destroy: () => socket.destroy(),
  };
  const removeOnClose = onSocketClose(socket, () => readers.forget(answer));
  response.once('finish', () => {
    removeOnClose();
    readers.forget(answer);
  });
  readers.note(answer);
}
