import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

import type { Reader, SlowReaders } from '../readers.js';
import { leftOn, onSocketClose } from './node-socket.js';

/** The answers that a connection has not taken. */
class UnreadAnswers implements Reader {
  backlog = 0;
  private count = 0;
  private taken = 0;
  private readonly forgetSocket: () => void;

  constructor(
    private readonly socket: Socket,
    private readonly readers: SlowReaders,
  ) {
    this.forgetSocket = onSocketClose(socket, () => this.forget());
    unread.set(socket, this);
  }

  get left(): number {
    const left = leftOn(this.socket);
    return left === 0 ? 0 : left + this.taken;
  }

  get several(): boolean {
    return this.count > 1;
  }

  add(response: ServerResponse, bytes: number): void {
    this.backlog += bytes;
    this.count += 1;
    response.once('finish', () => this.remove(bytes));
    this.readers.note(this);
  }

  destroy(): void {
    this.socket.destroy();
  }

  private remove(bytes: number): void {
    if (unread.get(this.socket) !== this) return;
    this.backlog -= bytes;
    this.count -= 1;
    this.taken += 1;
    if (this.count > 0) return this.readers.note(this);
    this.forgetSocket();
    this.forget();
  }

  private forget(): void {
    unread.delete(this.socket);
    this.readers.forget(this);
  }
}

/** The unread answers by connection. */
const unread = new WeakMap<Socket, UnreadAnswers>();

/** Bytes of answers that wait on a connection. */
export function unreadOn(socket: Socket): number {
  return unread.get(socket)?.backlog ?? 0;
}

/** Counts an answer that has been sent and that the client has not taken yet. */
export function noteUnread(response: ServerResponse, body: string, readers: SlowReaders): void {
  const { socket } = response.req;
  if (socket.destroyed || response.writableFinished) return;
  const answers = unread.get(socket) ?? new UnreadAnswers(socket, readers);
  answers.add(response, Math.max(response.writableLength, body.length));
}
