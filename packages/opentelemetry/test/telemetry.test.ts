import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { connect } from '@decorum/testing';
import { nodeHandler } from '@decorum/http/node';
import { telemetry } from '@decorum/opentelemetry';
import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { CLIENT_SPAN, Sdk, TRACEPARENT } from './sdk.js';
import { sendInvented } from '../../../test/support/invented-names.js';
import { weatherServer } from './weather.js';

let sdk: Sdk;
beforeEach(() => {
  sdk = new Sdk().register();
});
afterEach(() => sdk.shutdown());

const WAYS = (['stdio', 'http', 'memory'] as const).flatMap((via) =>
  (['stateful', 'stateless'] as const).map((era) => ({ via, era })),
);
const failing = (promise: Promise<unknown>) => expect(promise).rejects.toBeInstanceOf(Error);
const textOf = ({ content }: { readonly content: readonly object[] }) => (content[0] as { text: string }).text;

describe('The trace of the client', () => {
  it.each(WAYS)('arrives in handlers with its baggage over $via, $era', async (way) => {
    const { server } = weatherServer([telemetry()]);
    const client = await connect(server, way);
    const meta = { traceparent: TRACEPARENT, baggage: 'user=ada' };
    expect(textOf(await client.callTool('whoCalls', {}, { meta }))).toBe(`${CLIENT_SPAN.traceId} ada`);
    await client.close();
    expect(sdk.span('tools/call whoCalls').parentSpanContext).toMatchObject({ ...CLIENT_SPAN, isRemote: true });
  });

  it.each([
    ['malformed', { traceparent: 'nonsense' }],
    ['not a string', { traceparent: 7 }],
    ['missing', {}],
  ])('begins at the server if traceparent is %s', async (_case, meta) => {
    const { server } = weatherServer([telemetry()]);
    const client = await connect(server);
    await client.callTool('forecast', { city: 'Oslo' }, { meta });
    await client.close();
    expect(sdk.span('tools/call forecast').parentSpanContext).toBeUndefined();
  });
});

describe('Inside an HTTP span', () => {
  let http: Server;
  afterEach(() => void http.close());

  /** Serves as HTTP instrumentation does: each request has a span, and is handled inside it. */
  async function instrumented(): Promise<string> {
    const handler = nodeHandler(weatherServer([telemetry()]).server);
    const tracer = trace.getTracer('http');
    http = createServer((request, response) => {
      const span = tracer.startSpan('POST', { kind: SpanKind.SERVER, root: true });
      response.once('close', () => span.end());
      const within = trace.setSpan(context.active(), span);
      context.bind(within, request);
      context.with(within, () => handler(request, response));
    });
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
  }

  it.each(['stateful', 'stateless'] as const)('a %s request links to it, below the parent in _meta', async (era) => {
    const client = await connect(await instrumented(), { era });
    await client.callTool('forecast', { city: 'Oslo' }, { meta: { traceparent: TRACEPARENT } });
    await client.close();
    const { parentSpanContext, links } = sdk.span('tools/call forecast');
    const posts = sdk.spans.filter(({ name }) => name === 'POST').map((span) => span.spanContext().spanId);
    expect(parentSpanContext).toMatchObject(CLIENT_SPAN);
    expect(links).toHaveLength(1);
    expect(posts).toContain(links[0]?.context.spanId);
  });

  it('a request without a parent in _meta is its child, without a link', async () => {
    const client = await connect(await instrumented(), { era: 'stateless' });
    await client.callTool('forecast', { city: 'Oslo' });
    await client.close();
    const { parentSpanContext, links } = sdk.span('tools/call forecast');
    const posts = sdk.spans.filter(({ name }) => name === 'POST').map((span) => span.spanContext().spanId);
    expect(posts).toContain(parentSpanContext?.spanId);
    expect(links).toEqual([]);
  });
});

describe('Arguments and results', () => {
  const call = async (options: Parameters<typeof telemetry>[0]) => {
    const { server } = weatherServer([telemetry(options)]);
    const client = await connect(server);
    await client.callTool('forecast', { city: 'Oslo' });
    await client.getPrompt('pack', { city: 'Oslo' });
    await client.close();
  };

  it('are not recorded by default', async () => {
    await call(undefined);
    expect(JSON.stringify(sdk.spans.map(({ attributes }) => attributes))).not.toContain('Oslo');
  });

  it('are recorded as JSON text if asked for', async () => {
    await call({ arguments: true, results: true });
    const { attributes } = sdk.span('tools/call forecast');
    expect(JSON.parse(attributes['gen_ai.tool.call.arguments'] as string)).toEqual({ city: 'Oslo' });
    expect(JSON.parse(attributes['gen_ai.tool.call.result'] as string)).toMatchObject({
      content: [{ type: 'text', text: 'Rain in Oslo' }],
    });
    expect(sdk.span('prompts/get pack').attributes).toMatchObject({ 'gen_ai.prompt.variable.city': 'Oslo' });
  });

  it('are cut', async () => {
    await call({ arguments: true, results: true, maxChars: 3 });
    expect(sdk.span('tools/call forecast').attributes).toMatchObject({
      'gen_ai.tool.call.arguments': '{"c…',
      'gen_ai.tool.call.result': '{"c…',
    });
    expect(sdk.span('prompts/get pack').attributes).toMatchObject({ 'gen_ai.prompt.variable.city': 'Osl…' });
  });
});

describe('A resource', () => {
  it('is recorded by the URI that the client sent, but not in the name of the span', async () => {
    const { server } = weatherServer([telemetry()]);
    const client = await connect(server);
    await client.readResource('weather://oslo/today');
    await client.close();
    expect(sdk.span('resources/read').attributes).toMatchObject({ 'mcp.resource.uri': 'weather://oslo/today' });
  });
});

describe('Names that clients invent', () => {
  it('add one series for each kind', async () => {
    const { meterProvider } = sdk;
    trace.disable();
    const { server } = weatherServer([telemetry({ meterProvider })]);
    await sendInvented(server, 10_000);
    const [histogram] = await sdk.histograms();
    expect(histogram?.dataPoints.map(({ value }) => value.count)).toEqual(Array.from({ length: 5 }, () => 10_000));
  });

  it('are not part of names of spans', async () => {
    const { server } = weatherServer([telemetry()]);
    await sendInvented(server, 10);
    const names = new Set(sdk.spans.map(({ name }) => name));
    expect([...names].sort()).toEqual(['_OTHER', 'prompts/get', 'resources/read', 'tools/call', 'tools/list']);
  });
});

describe('An SDK', () => {
  it('may be registered after the server was created', async () => {
    await sdk.shutdown();
    const { server } = weatherServer([telemetry()]);
    const client = await connect(server);
    await client.callTool('forecast', { city: 'Oslo' });
    sdk = new Sdk().register();
    await client.callTool('forecast', { city: 'Rome' });
    await client.close();
    expect(sdk.spans.map(({ name }) => name)).toEqual(['tools/call forecast']);
    expect((await sdk.histograms()).map(({ descriptor }) => descriptor.name)).toContain(
      'mcp.server.operation.duration',
    );
  });

  it('may be passed instead of registered', async () => {
    await sdk.shutdown();
    sdk = new Sdk();
    const { tracerProvider, meterProvider } = sdk;
    const { server } = weatherServer([telemetry({ tracerProvider, meterProvider })]);
    const client = await connect(server, { era: 'stateless' });
    await client.callTool('forecast', { city: 'Oslo' });
    await client.close();
    expect(sdk.spans.map(({ name }) => name)).toEqual(['tools/call forecast']);
    expect(await sdk.histograms()).toHaveLength(1);
  });

  it('gets the bucket boundaries of the conventions', async () => {
    const { server } = weatherServer([telemetry()]);
    const client = await connect(server, { era: 'stateless' });
    await client.callTool('forecast', { city: 'Oslo' });
    await client.close();
    const [histogram] = await sdk.histograms();
    expect(histogram?.descriptor.unit).toBe('s');
    expect(histogram?.dataPoints[0]?.value.buckets.boundaries).toEqual([
      0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300,
    ]);
  });

  it('gets spans that both servers of a process have made', async () => {
    const clients = await Promise.all([1, 2].map(() => connect(weatherServer([telemetry()]).server)));
    await Promise.all(clients.map((client) => client.callTool('forecast', { city: 'Oslo' })));
    await Promise.all(clients.map((client) => client.close()));
    expect(sdk.spans.filter(({ name }) => name === 'tools/call forecast')).toHaveLength(2);
  });
});

describe('Errors', () => {
  it('of the server have its message as the description of the status', async () => {
    const { server } = weatherServer([telemetry()]);
    const client = await connect(server);
    await failing(client.readResource('weather://broken'));
    await client.close();
    const { status, attributes } = sdk.span('resources/read');
    expect(status).toMatchObject({ code: SpanStatusCode.ERROR, message: expect.stringMatching(/^Internal error/) });
    expect(attributes).toMatchObject({ 'error.type': '-32603', 'rpc.response.status_code': '-32603' });
  });

  it('that cannot be recorded leave no span open', async () => {
    const { server } = weatherServer([telemetry()]);
    server.addTool({ name: 'odd' }, () => {
      const get = () => {
        throw new Error('no stack');
      };
      throw Object.defineProperty(new Error('odd'), 'stack', { get });
    });
    const client = await connect(server);
    await client.callTool('odd');
    await client.close();
    expect(sdk.span('tools/call odd').status.code).toBe(SpanStatusCode.ERROR);
  });

  it('of the caller have a code, and are no errors of the server', async () => {
    const { server } = weatherServer([telemetry()]);
    const client = await connect(server);
    await failing(client.callTool('none', {}));
    await client.close();
    const { status, attributes } = sdk.span('tools/call');
    expect(status.code).toBe(SpanStatusCode.UNSET);
    expect(attributes).toMatchObject({ 'rpc.response.status_code': '-32602' });
    expect(attributes).not.toHaveProperty('error.type');
  });
});

describe('A mistake in the options', () => {
  it.each([
    ['tracerProvider', 3],
    ['tracerProvider', {}],
    ['meterProvider', null],
    ['meterProvider', { getTracer() {} }],
  ])('fails at once: `%s` is %j', (option, value) => {
    const options = { [option]: value } as Parameters<typeof telemetry>[0];
    expect(() => telemetry(options)).toThrow(expect.objectContaining({ code: 'DECORUM_INVALID_OPTION' }));
  });
});
