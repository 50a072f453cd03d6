// Events of AWS Lambda, in files of their own.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { type LambdaEvent, lambdaHandler, type LambdaHandlerOptions, type LambdaResult } from '@decorum/http/lambda';

import { endingIn } from '../../../../test/support/lambda/runtime.js';
import { afterwards, createServer, type Fields, Probe } from '../fixture.js';

const FOLDER = fileURLToPath(new URL('events', import.meta.url));

/** Reads a file of events. */
export const recorded = (name: string) => JSON.parse(readFileSync(join(FOLDER, `${name}.json`), 'utf8')) as LambdaEvent;

/** Files with an event of each format. */
export const FORMATS = ['rest-api', 'http-api', 'function-url', 'load-balancer'] as const;

/** An event of the HTTP API with another message and further headers. */
export function posting(message: unknown, headers: Fields = {}, more: Partial<LambdaEvent> = {}): LambdaEvent {
  const event = recorded('http-api');
  const body = typeof message === 'string' ? message : JSON.stringify(message);
  const { 'mcp-protocol-version': _version, ...fields } = event.headers as Fields;
  return { ...event, headers: { ...fields, ...headers }, body, ...more };
}

/** An event without a body. */
export function requesting(method: string, headers: Fields = {}): LambdaEvent {
  const { body: _body, requestContext, ...event } = recorded('http-api');
  const http = { ...requestContext.http, method };
  return {
    ...event,
    headers: { ...(event.headers as Fields), ...headers },
    requestContext: { ...requestContext, http },
  };
}

/** Creates a function with a probe. */
export function createFunction(options: LambdaHandlerOptions = {}, more: Parameters<typeof createServer>[1] = {}) {
  const probe = new Probe();
  const created = createServer(probe, { ...more, providers: [probe, ...(more.providers ?? [])] });
  const handler = lambdaHandler(created.server, options);
  afterwards(async () => {
    probe.emit('go');
    await handler.close();
    await created.server.close();
  });
  const send = (event: LambdaEvent, ms = 10_000) => handler(event, endingIn(ms));
  return { probe, handler, send, ...created };
}

/** The message in the body of a response, or the last one of a stream. */
export function messageOf({ body }: Pick<LambdaResult, 'body'>) {
  const data = body.split('\n').filter((line) => line.startsWith('data: '));
  return JSON.parse(data.at(-1)?.slice(6) ?? body) as {
    id?: unknown;
    result?: Record<string, unknown>;
    error?: { code: number; message: string };
  };
}
