import { once } from 'node:events';
import { connect } from 'node:net';

import { ACTS, type Act } from './acts.js';
import type { Client, Identity } from './client.js';
import { HTTP_ACTS } from './http-acts.js';
import { HttpClient } from './http-client.js';
import { LINES_ACTS } from './lines-acts.js';
import { LinesClient } from './lines-client.js';
import type { Revision } from './messages.js';
import { SseClient } from './sse-client.js';

/** Where the server is. */
export interface Place {
  /** URL of the endpoint. */
  readonly url: string;
  /** Path of the local socket that serves lines. */
  readonly pipe: string;
}

/** A kind of client. */
export interface Carriage {
  readonly name: string;
  readonly acts: readonly Act<never>[];
  fits(revision: Revision): boolean;
  connect(identity: Identity, place: Place): Promise<Client>;
}

/** All kinds of clients. */
export const CARRIAGES: readonly Carriage[] = [
  {
    name: 'http',
    acts: [...ACTS, ...HTTP_ACTS],
    fits: () => true,
    connect: async (identity, { url }) => new HttpClient(identity, new URL(url)),
  },
  {
    name: 'pipe',
    acts: [...ACTS, ...LINES_ACTS],
    fits: () => true,
    async connect(identity, { pipe }) {
      const socket = connect(pipe);
      await once(socket, 'connect');
      return new LinesClient(identity, { input: socket, output: socket });
    },
  },
  {
    name: 'sse',
    acts: ACTS,
    fits: (revision) => revision === '2024-11-05',
    connect: async (identity, { url }) => new SseClient(identity, new URL('/sse', url)),
  },
];

/**
 * Connects a client.
 * @throws {Error} if there is no such carriage
 */
export async function connectClient(carriage: string, identity: Identity, place: Place): Promise<Client> {
  const found = CARRIAGES.find(({ name }) => name === carriage);
  if (found === undefined) throw new Error(`There is no carriage "${carriage}".`);
  return await found.connect(identity, place);
}
