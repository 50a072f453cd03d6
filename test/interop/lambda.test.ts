// The weather server on AWS Lambda, for the official clients of all revisions.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { McpServer } from '@decorum/core';
import { Weather } from '@decorum/example-weather/weather';
import { WeatherApi } from '@decorum/example-weather/weather-api';
import { lambdaHandler, streamingLambdaHandler } from '@decorum/http/lambda';
import { Client as Client2, StreamableHTTPClientTransport as Http2 } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Http1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Client as ClientA } from 'sdk-1.10/client/index.js';
import { StreamableHTTPClientTransport as HttpA } from 'sdk-1.10/client/streamableHttp.js';
import { Client as ClientB } from 'sdk-1.11/client/index.js';
import { StreamableHTTPClientTransport as HttpB } from 'sdk-1.11/client/streamableHttp.js';
import { Client as ClientC } from 'sdk-1.13/client/index.js';
import { StreamableHTTPClientTransport as HttpC } from 'sdk-1.13/client/streamableHttp.js';

import type { Source } from '../support/lambda/events.js';
import { type Gateway, openGateway, openStreamingGateway } from '../support/lambda/gateway.js';
import { installRuntime } from '../support/lambda/runtime.js';
import { ExampleProcess, programOf } from './example-process.js';

const INFO = { name: 'interop', version: '1.0.0' };

/** The members shared by all versions. */
type Client = Pick<Client1, 'listTools' | 'listResources' | 'close'> & {
  callTool(params: { name: string; arguments: object }): Promise<unknown>;
};

const v2 = (mode: 'legacy' | { pin: string }) => async (url: URL) => {
  const client = new Client2(INFO, { versionNegotiation: { mode } });
  await client.connect(new Http2(url));
  return client as unknown as Client;
};

/** A constructor of some version. */
type Make = new (...args: never[]) => unknown;

const v1 = (ClientOf: Make, HttpOf: Make) => async (url: URL) => {
  const client = new ClientOf(...([INFO] as never[])) as Client1;
  await client.connect(new HttpOf(...([url] as never[])) as Http1);
  return client as Client;
};

const CLIENTS: readonly (readonly [name: string, connect: (url: URL) => Promise<Client>])[] = [
  ['SDK 1.10', v1(ClientA, HttpA)],
  ['SDK 1.11', v1(ClientB, HttpB)],
  ['SDK 1.13', v1(ClientC, HttpC)],
  ['SDK 1.32', v1(Client1, Http1)],
  ['SDK 2 in its older era', v2('legacy')],
  ['SDK 2', v2({ pin: '2026-07-28' })],
];

const SOURCES: readonly (readonly [name: string, open: () => Promise<Gateway>])[] = [
  ...(['REST API', 'HTTP API', 'function URL', 'load balancer'] as const satisfies readonly Source[]).map(
    (source) => [`a ${source}`, () => openGateway(source, lambdaHandler(server))] as const,
  ),
  ['a function URL that streams', () => openStreamingGateway(streamingLambdaHandler(server))],
];

let server: McpServer;
let uninstall: () => void;

beforeAll(() => {
  uninstall = installRuntime();
  server = new McpServer({ name: 'weather', version: '1.0.0', providers: [new Weather(new WeatherApi())] });
});
afterAll(async () => {
  await server.close();
  uninstall();
});

describe.each(SOURCES)('the weather server behind %s', (_name, open) => {
  let gateway: Gateway;
  beforeAll(async () => {
    gateway = await open();
  });
  afterAll(() => gateway.close());

  it.each(CLIENTS)('answers the client of %s', async (_client, connect) => {
    const client = await connect(new URL(gateway.url));
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['forecast']);
    expect((await client.listResources()).resources).not.toHaveLength(0);
    const forecast = await client.callTool({ name: 'forecast', arguments: { city: 'Oslo' } });
    expect(JSON.stringify(forecast)).toContain('Oslo');
    const wrong = (await client.callTool({ name: 'forecast', arguments: { city: 'Oslo', units: 'kelvin' } })) as object;
    expect(wrong).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('imperial') }] });
    await client.close();
  });
});

it('the program of examples/lambda serves the function on this machine', async () => {
  const program = await ExampleProcess.start(programOf('lambda'));
  try {
    const client = await v2({ pin: '2026-07-28' })(new URL(program.url));
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['forecast']);
    await client.close();
  } finally {
    await program.stop();
  }
});
