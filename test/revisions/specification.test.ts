// Transcripts, written by hand from the specification: the messages that a client sends, and all messages that it
// receives, in order. They are stored by revision in `<date>/*.json`. Then the examples of the specification itself
// (`schema/2026-07-28/examples`).
import { readdirSync, readFileSync } from 'node:fs';

import { describe, expect, it } from '@jest/globals';
import { Completion, type JsonObject, type McpServer, Prompt, Resource, Tool } from '@decorum/core';
import { IsOptional, IsString } from 'class-validator';

import { overHttp } from '../support/http-transports.js';
import {
  type Message,
  overMemory,
  overStdio,
  RAW_TRANSPORTS,
  RawClient,
  type RawTransport,
} from '../support/raw-client.js';
import { itShows, type Revision, REVISIONS, STATELESS } from '../support/requirements.js';
import { schemaOf } from '../support/schemas.js';
import { golden, type GoldenName } from './golden-servers.js';
import { serverOf } from './servers.js';

/** A message of one side. The envelope of stateless requests is added automatically, except to bare messages. */
type Turn =
  | { readonly send: object | string }
  | { readonly sendBare: object }
  | { readonly receive: JsonObject | readonly JsonObject[] };

/** A conversation that covers one row of the requirement table. */
interface Transcript {
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
function transcriptsOf(revision: Revision): Transcript[] {
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
async function perform(
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

describe('The golden transcript', () => {
  // each over one medium, in turn
  const media = Object.entries(RAW_TRANSPORTS);
  for (const [turn, revision] of REVISIONS.entries())
    for (const [index, transcript] of transcriptsOf(revision).entries()) {
      const [medium, transport] = media[(turn + index) % media.length] as (typeof media)[number];
      itShows([[transcript.row, revision]], `${transcript.title}, over ${medium}`, () =>
        perform(transcript, { server: golden(transcript.server), revision, transport }),
      );
    }
});

const FOLDER = new URL('../data/examples/2026-07-28/', import.meta.url);

const EXAMPLES = readdirSync(FOLDER).flatMap((definition) =>
  readdirSync(new URL(`${definition}/`, FOLDER)).map((file) => ({
    definition,
    file,
    value: JSON.parse(readFileSync(new URL(`${definition}/${file}`, FOLDER), 'utf8')) as JsonObject,
  })),
);

class Review {
  @IsOptional()
  @IsString()
  code?: string;

  @IsOptional()
  @IsString()
  language?: string;
}

/** The members that the example requests refer to. */
class Examples {
  @Tool({ name: 'get_weather', input: { type: 'object', properties: { location: { type: 'string' } } } })
  weather() {
    return 'Sunny';
  }

  @Prompt({ name: 'code_review' })
  review({ code }: Review) {
    return code ?? '';
  }

  @Completion({ for: 'review', argument: 'language' })
  languages(value: string) {
    return ['python', 'pytorch', 'pyside'].filter((name) => name.startsWith(value));
  }

  @Resource('file:///project/src/main.rs')
  main() {
    return 'fn main() {}';
  }

  @Resource('file:///project/config.json')
  config() {
    return {};
  }
}

/** Examples that violate their own schema: one has an extra id, one lacks the cache duration. */
const AT_ODDS = new Set(['list-roots-request.json', 'read-resource-result-response.json']);

/** Client requests. The server's questions have no JSON-RPC envelope. */
const REQUESTS = EXAMPLES.filter(({ value }) => 'method' in value && 'jsonrpc' in value && 'id' in value);

describe('The examples of the specification', () => {
  it('are valid', () => {
    for (const { definition, file, value } of EXAMPLES.filter((example) => !AT_ODDS.has(example.file)))
      expect([file, schemaOf(STATELESS).problems(definition, value)]).toEqual([file, []]);
  });

  it.each(Object.entries({ memory: overMemory, stdio: overStdio, HTTP: overHttp }))(
    'are answered over %s',
    async (_medium, transport) => {
      expect(REQUESTS).toHaveLength(10);
      for (const { file, value } of REQUESTS) {
        const message = value as unknown as Message;
        const server = serverOf({ providers: [new Examples()] });
        const client = await RawClient.connect(server, { revision: STATELESS }, transport);
        void client.send(message);
        const { id, params, result } = await client.at(0);
        const isAcknowledged = message.method === 'subscriptions/listen';
        if (isAcknowledged) expect(params?.['notifications']).toEqual(message.params?.['notifications']);
        else expect([file, id, result]).toMatchObject([file, message.id, { resultType: 'complete' }]);
        await client.close();
      }
    },
  );
});
