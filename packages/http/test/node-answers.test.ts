import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';

import { describe, expect, it } from '@jest/globals';

import { inOrder } from '../src/bindings/node-answers.js';
import { Turns } from '../src/turns.js';

/** Sends requests on a connection before it has been answered. Returns a function that answers all but one of them. */
function pipeline(socket: Socket, count: number): () => void {
  const responses = Array.from({ length: count }, () =>
    Object.assign(new EventEmitter(), { socket: null, writableEnded: false, req: { socket } }),
  );
  for (const response of responses) inOrder(response as unknown as ServerResponse, new Turns(), () => {});
  return () => {
    for (const response of responses) response.emit('socket');
  };
}

describe('a connection with pipelined requests', () => {
  it('is read while fewer than 16 wait, and not beyond', async () => {
    const [few, many] = [new Socket(), new Socket()];
    const answer = [pipeline(few, 15), pipeline(many, 16)];
    expect([few.isPaused(), many.isPaused()]).toEqual([false, true]);
    for (const all of answer) all();
    await turn();
    expect([few.isPaused(), many.isPaused()]).toEqual([false, false]);
  });

  it('is read again in the next turn, however many others have pipelined less', async () => {
    const many = new Socket();
    const answer = pipeline(many, 16);
    for (let n = 0; n < 1000; n += 1) pipeline(new Socket(), 2)();
    answer();
    expect(many.isPaused()).toBe(true);
    await turn();
    expect(many.isPaused()).toBe(false);
  });

  it('is read again one after the other', async () => {
    const sockets = [new Socket(), new Socket(), new Socket()];
    for (const answer of sockets.map((socket) => pipeline(socket, 16))) answer();
    const read = [];
    for (let n = 0; n < 4; n += 1) {
      read.push(sockets.filter((socket) => !socket.isPaused()).length);
      await turn();
    }
    expect(read).toEqual([0, 1, 2, 3]);
  });
});
