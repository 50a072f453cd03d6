import { AsyncResource } from 'node:async_hooks';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers';

import type { Reader, SlowReaders } from '../readers.js';
import type { Turns } from '../turns.js';
import { leftOn, onSocketClose } from './node-socket.js';

/** The number of requests that wait for the answers to earlier ones, by connection. */
const waiting = new WeakMap<Socket, number>();

/** A connection with this many is not read until they are answered. */
const MAX_WAITING = 16;

/**
 * Calls back when the client has taken the answers to all earlier requests on the connection of a pipelined request.
 * Requests that are not safe must not be handled in parallel (RFC 9112, section 9.3.2), and their answers would pile up.
 * @param response a response that has no connection
 */
export function inOrder(response: ServerResponse, turns: Turns, callback: () => void): void {
  const { socket } = response.req;
  // it has ended, or never will
  if (response.writableEnded || socket.destroyed) return callback();
  const count = (waiting.get(socket) ?? 0) + 1;
  waiting.set(socket, count);
  if (count >= MAX_WAITING) socket.pause();
  // with the `AsyncLocalStorage` of this request
  const resource = new AsyncResource('Pipelined');
  // Node gives the connection to one response after the other
  response.once('socket', () => {
    const left = (waiting.get(socket) ?? 0) - 1;
    waiting.set(socket, left);
    if (left === 0 && socket.isPaused()) resumeSoon(socket);
    resource.runInAsyncScope(() => turns.add(callback));
  });
}

/** Connections that may be read again. */
const paused: Socket[] = [];

/** Reads from a connection again, from one in each turn of the event loop: one packet can hold hundreds of requests. */
function resumeSoon(socket: Socket): void {
  if (paused.push(socket) === 1) setImmediate(resumeNext);
}

function resumeNext(): void {
  paused.shift()?.resume();
  if (paused.length > 0) setImmediate(resumeNext);
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
