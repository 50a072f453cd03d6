// Transcripts of conversations, written by hand from the specification: what a client sends, and every message that it
// gets, in order. They are kept by revision, in `<date>/*.json`.
import { readdirSync, readFileSync } from 'node:fs';

import { expect } from '@jest/globals';
import type { JsonObject, McpServer } from '@decorum/core';

import { type RawTransport, type Message, RawClient } from '../support/raw-client.js';
import type { Revision } from '../support/requirements.js';
import type { GoldenName } from './golden-servers.js';

/** One side says something. Without a session a request says who sends it, which is left out here, unless it is bare. */
export type Turn =
  | { readonly send: object | string }
  | { readonly sendBare: object }
  | { readonly receive: JsonObject | readonly JsonObject[] };

/** A conversation that shows one row of the requirement table. */
export interface Transcript {
  readonly row: string;
  readonly title: string;
  readonly server: GoldenName;
  /** What the client declares. */
  readonly capabilities?: JsonObject;
  /** False: the transcript holds the handshake itself. */
  readonly begins?: boolean;
  readonly turns: readonly Turn[];
}

/** All transcripts of a revision. */
export function transcriptsOf(revision: Revision): Transcript[] {
  const folder = new URL(`${revision}/`, import.meta.url);
  const files = readdirSync(folder).sort();
  return files.flatMap((file) => JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Transcript[]);
}

/** What stands for something that the server chooses: `"$id"` is anything at first, and the same from then on. */
class Choices {
  private readonly known = new Map<string, unknown>();

  /** The expected value, with what was chosen filled in; an unknown choice is bound to what is there. */
  bind(expected: unknown, actual: unknown): unknown {
    if (typeof expected === 'string' && expected.startsWith('$')) {
      if (!this.known.has(expected)) this.known.set(expected, actual);
      return this.known.get(expected);
    }
    return mapped(expected, (value, key) => this.bind(value, (actual as JsonObject | undefined)?.[key]));
  }

  fill(value: unknown): unknown {
    if (typeof value === 'string' && this.known.has(value)) return this.known.get(value);
    return mapped(value, (item) => this.fill(item));
  }
}

function mapped(value: unknown, change: (value: unknown, key: string) => unknown): unknown {
  if (Array.isArray(value)) return value.map((item, index) => change(item, String(index)));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, change(item, key)]));
}

/** Params that hold nothing are as good as none. */
function withoutEmptyParams({ params, ...message }: Message): JsonObject {
  return params === undefined || Object.keys(params).length === 0 ? message : { ...message, params };
}

/** Has the conversation, and compares every message that comes. */
export async function perform(
  { capabilities, begins = true, turns }: Transcript,
  { server, revision, transport }: { server: McpServer; revision: Revision; transport: RawTransport },
): Promise<void> {
  const client = await RawClient.connect(
    server,
    { revision, begins, ...(capabilities && { capabilities }) },
    transport,
  );
  const choices = new Choices();
  let position = client.received.length;
  for (const turn of turns) {
    if (!('receive' in turn)) {
      const message = choices.fill('send' in turn ? turn.send : turn.sendBare) as Message;
      const { id, method, params } = message;
      const asks = 'send' in turn && client.stateless && method !== undefined && typeof id !== 'undefined';
      void client.send(asks ? client.buildMessage(id as string, method, params) : message);
      continue;
    }
    // the messages of a batch come in any order
    for (const expected of [turn.receive].flat()) {
      const actual = withoutEmptyParams(await client.at(position++));
      expect(actual).toEqual(choices.bind(expected, actual));
    }
  }
  await client.settled();
  expect(client.received.slice(position, -1)).toEqual([]);
}
