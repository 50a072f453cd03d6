import { AsyncResource } from 'node:async_hooks';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

import type { Reader, SlowReaders } from '../readers.js';
import type { Turns } from '../turns.js';
import { leftOn, onSocketClose } from './node-socket.js';

/** The number of requests that wait for the answers to earlier ones, by connection. */
const waiting = new WeakMap<Socket, number>();

/** A connection with more is closed. */
const MAX_WAITING = 16;

/**
 * Calls back when the client has taken the answers to all earlier requests on the connection of a pipelined request.
 * Requests that are not safe must not be handled in parallel (RFC 9112, section 9.3.2), and their answers would pile up.
 * @param response a response that has no connection
 */
export function inOrder(response: ServerResponse, turns: Turns, callback: () => void): void {
  const { socket } = response.req;
  // the application has answered
  if (response.writableEnded) return callback();
  if (socket.destroyed) return;
  const count = (waiting.get(socket) ?? 0) + 1;
  // pausing it instead would hide that the client has disconnected
  if (count > MAX_WAITING) return void socket.destroy();
  waiting.set(socket, count);
  // with the `AsyncLocalStorage` of this request
  const resource = new AsyncResource('Pipelined');
  // Node gives the connection to one response after the other
  response.once('socket', () => {
    waiting.set(socket, (waiting.get(socket) ?? 0) - 1);
    resource.runInAsyncScope(() => turns.add(callback));
  });
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
