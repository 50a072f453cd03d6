// The `logger` option, with the loggers that people use.
import { AsyncLocalStorage } from 'node:async_hooks';
import { Writable } from 'node:stream';

import { describe, expect, it, jest } from '@jest/globals';
import { type ErrorOrigin, McpServer, type McpServerOptions, Prompt, Resource, Tool } from '@decorum/core';
import type { Plugin } from '@decorum/core/plugin';
import { connect, type ConnectOptions } from '@decorum/testing';
import { IsString } from 'class-validator';
import { pino } from 'pino';
import { createLogger, format, transports } from 'winston';

type Entry = Record<string, unknown>;

class Card {
  @IsString() number!: string;
}

const CARD = { number: '4111 1111 1111 1111' };

/** As axios throws them: with the headers of the request. */
const refused = () =>
  Object.assign(new Error('The bank refused.', { cause: new TypeError('fetch failed') }), {
    code: 'ECONNREFUSED',
    config: { headers: { authorization: 'Bearer secret' } },
  });

class Till {
  @Tool() pay(_input: Card) {
    throw refused();
  }

  @Tool() throwText() {
    // oxlint-disable-next-line no-throw-literal -- libraries do
    throw 'only a text';
  }

  @Prompt() receipt(_input: Card) {
    throw refused();
  }

  @Resource('cards://{number}') card(_input: Card) {
    throw refused();
  }
}

/** A stream that keeps its lines of JSON. */
function memory() {
  const entries: Entry[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      entries.push(JSON.parse(String(chunk)) as Entry);
      done();
    },
  });
  return { entries, stream };
}

const LOGGERS = {
  pino: (stream: Writable) => pino({ level: 'debug' }, stream),
  winston: (stream: Writable) =>
    createLogger({ level: 'debug', format: format.json(), transports: [new transports.Stream({ stream })] }),
  'a child of pino': (stream: Writable) => pino({ level: 'debug' }, stream).child({}),
  'a child of winston': (stream: Writable) =>
    createLogger({ level: 'debug', format: format.json(), transports: [new transports.Stream({ stream })] }).child({}),
};

async function entriesOf(name: keyof typeof LOGGERS, options: Partial<McpServerOptions> = {}, via?: ConnectOptions) {
  const { entries, stream } = memory();
  const logger = LOGGERS[name](stream);
  const server = new McpServer({ name: 'shop', version: '1.0.0', providers: [Till], logger, ...options });
  return { entries, server, client: await connect(server, { principal: { subject: 'ada' }, ...via }) };
}

const textOf = (entry: Entry | undefined) => entry?.['msg'] ?? entry?.['message'];

describe.each(Object.keys(LOGGERS) as (keyof typeof LOGGERS)[])('%s, as `logger`,', (name) => {
  it('gets a masked error as `err`, with its reference and where it happened (#23)', async () => {
    const { entries, client } = await entriesOf(name, {}, { via: 'http' });
    const result = await client.callTool('pay', CARD);
    const [reference] = /[\da-f]{8}/.exec(JSON.stringify(result)) ?? [];
    expect(textOf(entries[0])).toBe('an error was masked from the client');
    expect(entries).toMatchObject([
      {
        reference,
        method: 'tools/call',
        requestId: expect.any(Number),
        member: 'pay',
        session: expect.stringMatching(/./),
        subject: 'ada',
        transport: 'http',
        err: {
          type: 'Error',
          message: expect.stringContaining('The bank refused.'),
          stack: expect.stringMatching(/The bank refused\.\n +at /),
          code: 'ECONNREFUSED',
        },
      },
    ]);
    expect(JSON.stringify(entries)).toContain('fetch failed');
    await client.close();
  });

  it('gets values that are not errors (#23)', async () => {
    const { entries, server, client } = await entriesOf(name);
    await client.callTool('throwText');
    expect(entries[0]).toMatchObject({ err: 'only a text', member: 'throwText' });
    await client.close();
    await server.close();
  });

  it('names prompts and templates, and never gets an argument (#23)', async () => {
    const { entries, client } = await entriesOf(name);
    await Promise.allSettled([
      client.callTool('pay', CARD),
      client.getPrompt('receipt', CARD),
      client.readResource('cards://4111%201111%201111%201111'),
    ]);
    expect(entries.map(({ member }) => member)).toEqual(['pay', 'receipt', 'cards://{number}']);
    expect(JSON.stringify(entries)).not.toContain('1111');
    await client.close();
  });
});

describe('`logger`', () => {
  it('keeps the members that libraries add to errors out of the log of winston (#23)', async () => {
    const { entries, client } = await entriesOf('winston');
    await client.callTool('pay', CARD);
    expect(JSON.stringify(entries)).not.toContain('Bearer');
    await client.close();
  });

  it('runs inside the request: entries have the request id of an AsyncLocalStorage (#23)', async () => {
    const current = new AsyncLocalStorage<string>();
    const requestIds: Plugin = { name: 'request-ids', observe: (_request, run) => current.run('r-42', run) };
    const { entries, stream } = memory();
    const logger = pino({ mixin: () => ({ request: current.getStore() }) }, stream);
    const server = new McpServer({
      name: 'shop',
      version: '1.0.0',
      providers: [Till],
      logger,
      plugins: [requestIds],
    });
    const client = await connect(server, { via: 'http' });
    await client.callTool('pay', CARD);
    expect(entries).toMatchObject([{ request: 'r-42', member: 'pay' }]);
    await client.close();
  });

  it('has the same facts as `onError` (#23)', async () => {
    const origins: ErrorOrigin[] = [];
    const onError = (_error: unknown, origin: ErrorOrigin) => void origins.push(origin);
    const { entries, client } = await entriesOf('pino', { onError });
    await client.callTool('pay', CARD);
    expect(entries).toMatchObject(origins);
    expect(Object.keys(origins[0] ?? {}).sort()).toEqual(
      ['member', 'method', 'reference', 'requestId', 'subject', 'transport'].sort(),
    );
    await client.close();
  });

  it('in a test, keeps the lines of a stack, unless the server has its own logger (#23)', async () => {
    const write = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
    try {
      const client = await connect(new McpServer({ name: 'shop', version: '1.0.0', providers: [Till] }));
      await client.callTool('pay', CARD);
      await client.close();
      const [entry] = write.mock.calls.map(([text]) => String(text));
      expect(entry).toMatch(
        /^error an error was masked .*member: 'pay'.*\nError: The bank refused\.\n {4}at .*loggers\.test/,
      );
    } finally {
      write.mockRestore();
    }
  });
});
