// Where a server in a Nest application logs.
import { Writable } from 'node:stream';

import { McpServer, Tool } from '@decorum/core';
import type { McpModuleOptions } from '@decorum/nestjs';
import { connect } from '@decorum/testing';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { ConsoleLogger, Injectable, Logger, type LoggerService } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { pino } from 'pino';
import { createLogger, format, transports } from 'winston';

import { forRoot, moduleOf } from './fixture.js';

type Entry = Record<string, unknown>;

@Injectable()
class Till {
  @Tool() pay() {
    throw new Error('The bank refused.', { cause: new TypeError('fetch failed') });
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

/** Calls the failing tool of an application. */
async function fail(app: { logger?: LoggerService | false; options?: Partial<McpModuleOptions> } = {}) {
  const { logger, options } = app;
  const module = moduleOf({ imports: [forRoot(options)], providers: [Till] });
  const context = await NestFactory.createApplicationContext(module, logger === undefined ? {} : { logger });
  const client = await connect(context.get(McpServer, { strict: false }), { principal: { subject: 'ada' } });
  const [reference] = /[\da-f]{8}/.exec(JSON.stringify(await client.callTool('pay'))) ?? [];
  await client.close();
  await context.close();
  return reference;
}

/** Whatever the application prints. */
function printed() {
  const texts: string[] = [];
  for (const stream of [process.stdout, process.stderr])
    jest.spyOn(stream, 'write').mockImplementation((text) => texts.push(String(text)) > 0);
  return texts;
}

afterEach(() => {
  jest.restoreAllMocks();
  // Nest keeps it for the whole process
  Logger.overrideLogger(new ConsoleLogger());
});

const winstonOf = (stream: Writable) =>
  createLogger({ format: format.json(), transports: [new transports.Stream({ stream })] });

describe('The log of a server in Nest', () => {
  it('is that of the application: text, with the stack of an error and its causes (#23)', async () => {
    const texts = printed();
    const reference = await fail();
    const text = texts.join('');
    expect(text).toMatch(/ERROR.*\[McpServer\].*an error was masked from the client \{ reference: /);
    expect(text).toContain(`reference: '${reference}', method: 'tools/call'`);
    expect(text).toMatch(/member: 'pay'.*subject: 'ada', transport: 'memory'/);
    expect(text).toMatch(/\nError: The bank refused\.\n +at .*\n/);
    expect(text).toMatch(/\n\[cause\] TypeError: fetch failed\n +at /);
  });

  it('is JSON if the application logs JSON (#23)', async () => {
    const texts = printed();
    const reference = await fail({ logger: new ConsoleLogger({ json: true, colors: false, compact: true }) });
    const entry = texts.map((text) => JSON.parse(text) as Entry).find(({ level }) => level === 'error');
    expect(entry).toMatchObject({
      context: 'McpServer',
      message: {
        message: 'an error was masked from the client',
        reference,
        member: 'pay',
        subject: 'ada',
        err: { type: 'Error', message: 'The bank refused.', cause: { type: 'TypeError' } },
      },
    });
  });

  it('is that of another logger of the application (#23)', async () => {
    const entries: unknown[][] = [];
    const error = (...entry: unknown[]) => void entries.push(entry);
    const reference = await fail({ logger: { log() {}, warn() {}, error } });
    const message = 'an error was masked from the client';
    expect(entries).toEqual([
      [expect.objectContaining({ message, reference, member: 'pay', err: expect.any(Error) }), undefined, 'McpServer'],
    ]);
  });

  it.each([
    ['pino', (stream: Writable) => pino({}, stream), 'msg'],
    ['winston', winstonOf, 'message'],
  ] as const)('goes to the `logger` of the options, such as %s (#23)', async (_name, loggerTo, key) => {
    const { entries, stream } = memory();
    const reference = await fail({ logger: false, options: { logger: loggerTo(stream) } });
    expect(entries).toMatchObject([
      { [key]: 'an error was masked from the client', reference, err: { type: 'Error' } },
    ]);
  });

  it.each([
    ['a ConsoleLogger', new ConsoleLogger('Mine')],
    ['a Logger', new Logger('Mine')],
  ])('goes to %s of Nest in the options, with its context (#23)', async (_name, logger) => {
    const texts = printed();
    const reference = await fail({ options: { logger } });
    expect(texts.join('')).toMatch(new RegExp(`\\[Mine\\].*an error was masked.*reference: '${reference}'`));
  });

  it('is off if the log of the application is off (#23)', async () => {
    const texts = printed();
    const errors: unknown[] = [];
    await fail({ logger: false, options: { onError: (error) => void errors.push(error) } });
    expect(texts).toEqual([]);
    expect(errors).toHaveLength(1);
  });
});
