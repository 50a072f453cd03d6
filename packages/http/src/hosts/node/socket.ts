import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

import { announcesBody } from '../../endpoint/headers.js';
import type { Headers } from '../../endpoint/http-context.js';
import type { Waiting } from '../../endpoint/pending-callbacks.js';
import { unacceptedBy } from '../../fast/node-fields.js';

/** The connection of a request, or its stream in HTTP/2, where the client can cancel each request on its own. */
export type Channel = Pick<Socket, 'destroyed' | 'destroy' | 'once'>;

/** Close callbacks by connection. */
const watched = new WeakMap<Channel, Set<() => void>>();

/** The channel that closes when the client of a request disconnects. */
export function channelOf(request: IncomingMessage & { readonly stream?: Channel }): Channel {
  return request.httpVersionMajor === 1 ? request.socket : (request.stream ?? request.socket);
}

/**
 * Calls back when a connection closes. All requests on a connection share one listener.
 * @returns a function that removes the callback
 */
export function onSocketClose(socket: Channel, callback: () => void): () => void {
  let callbacks = watched.get(socket);
  if (callbacks === undefined) {
    callbacks = new Set();
    watched.set(socket, callbacks);
    socket.once('close', onClose);
  }
  const known = callbacks.add(callback);
  return () => void known.delete(callback);
}

function onClose(this: Channel): void {
  for (const callback of watched.get(this) ?? []) callback();
}

/** A number that changes whenever the client of a socket takes something. 0 if it has nothing to take. */
export function leftOn(socket: Socket): number {
  const { writableLength } = socket;
  return writableLength === 0 ? 0 : writableLength + unacceptedBy(socket);
}

/** The port of the client at an address; undefined if the socket belongs to a proxy. */
export function portAt(address: string | undefined, { remoteAddress, remotePort }: Socket): number | undefined {
  return address === remoteAddress ? remotePort : undefined;
}

/** The HTTP version in the usual notation: `1.1`, but `2` instead of `2.0`. */
export const versionOf = ({ httpVersion }: IncomingMessage): string => httpVersion.replace(/\.0$/, '');

/** Whether part of a request's body is unread. If so, the connection can't be reused. */
export function isUnread(raw: IncomingMessage): boolean {
  return raw.httpVersionMajor === 1 && !raw.readableEnded && announcesBody(raw.headers as Headers);
}

/** The client at the other end of a connection. */
export function clientOn(socket: Channel): Waiting {
  return { gone: socket.destroyed, onClose: (callback) => onSocketClose(socket, callback) };
}
