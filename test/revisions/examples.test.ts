// The examples in the specification (`schema/2026-07-28/examples`).
import { readdirSync, readFileSync } from 'node:fs';

import { describe, expect, it } from '@jest/globals';
import { Completion, type JsonObject, Prompt, Resource, Tool } from '@decorum/core';
import { IsOptional, IsString } from 'class-validator';

import { overHttp } from '../support/http-transports.js';
import { type Message, overMemory, overStdio, RawClient } from '../support/raw-client.js';
import { STATELESS } from '../support/requirements.js';
import { schemaOf } from '../support/schemas.js';
import { serverOf } from './servers.js';

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
