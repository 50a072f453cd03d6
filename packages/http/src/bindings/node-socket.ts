import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

import { announcesBody } from '../body.js';
import type { Headers } from '../http-context.js';

/** Who wants to hear that a connection closes. */
const watched = new WeakMap<Socket, Set<() => void>>();

/**
 * Calls back when a connection closes. One listener serves all requests that a connection ever carries.
 * @returns a function that takes the callback back
 */
export function onSocketClose(socket: Socket, callback: () => void): () => void {
  let callbacks = watched.get(socket);
  if (callbacks === undefined) {
    callbacks = new Set();
    watched.set(socket, callbacks);
    socket.once('close', onClose);
  }
  const known = callbacks.add(callback);
  return () => void known.delete(callback);
}

function onClose(this: Socket): void {
  for (const callback of watched.get(this) ?? []) callback();
}

/** Whether a request has a body that was not read to its end, so that no other can follow on its connection. */
export function isUnread(raw: IncomingMessage): boolean {
  return !raw.readableEnded && announcesBody(raw.headers as Headers);
}
