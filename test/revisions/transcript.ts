// Transcripts, written by hand from the specification: the messages that a client sends, and all messages that it
// receives, in order. They are stored by revision in `<date>/*.json`.
import { readdirSync, readFileSync } from 'node:fs';

import { expect } from '@jest/globals';
import type { JsonObject, McpServer } from '@decorum/core';

import { type RawTransport, type Message, RawClient } from '../support/raw-client.js';
import type { Revision } from '../support/requirements.js';
import type { GoldenName } from './golden-servers.js';

/** A message of one side. The envelope of stateless requests is added automatically, except to bare messages. */
export type Turn =
  | { readonly send: object | string }
  | { readonly sendBare: object }
  | { readonly receive: JsonObject | readonly JsonObject[] };

/** A conversation that covers one row of the requirement table. */
export interface Transcript {
  readonly row: string;
  readonly title: string;
  readonly server: GoldenName;
  /** The capabilities of the client. */
  readonly capabilities?: JsonObject;
  /** `false` if the transcript contains `initialize` itself. */
  readonly begins?: boolean;
  readonly turns: readonly Turn[];
}

/** All transcripts of a revision. */
export function transcriptsOf(revision: Revision): Transcript[] {
  const folder = new URL(`${revision}/`, import.meta.url);
  const files = readdirSync(folder).sort();
  return files.flatMap((file) => JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Transcript[]);
}

/** Placeholders for values that the server chooses. `"$id"` matches any value first, and the same value afterwards. */
class Choices {
  private readonly known = new Map<string, unknown>();

  /** Fills in the placeholders of an expected value. A new placeholder is bound to the actual value. */
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

/** Removes empty params. */
function withoutEmptyParams({ params, ...message }: Message): JsonObject {
  return params === undefined || Object.keys(params).length === 0 ? message : { ...message, params };
}

/** Runs the conversation and compares every received message. */
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
    // the messages of a batch may come in any order
    for (const expected of [turn.receive].flat()) {
      const actual = withoutEmptyParams(await client.at(position++));
      expect(actual).toEqual(choices.bind(expected, actual));
    }
  }
  await client.settled();
  expect(client.received.slice(position, -1)).toEqual([]);
}
