import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

import { Context, McpServer, Tool } from '@decorum/core';
import { nodeHandler } from '@decorum/http/node';
import { telemetry } from '@decorum/opentelemetry';
import { connect, type TestClient } from '@decorum/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { IsOptional, IsString } from 'class-validator';

import { answerInvented, sendInvented } from '../../../test/support/invented-names.js';
import { CLIENT_SPAN, portrait, Sdk, TRACEPARENT } from './sdk.js';
import { type Weather, weatherServer } from './weather.js';

let sdk: Sdk;
beforeEach(() => {
  sdk = new Sdk().register();
});
afterEach(() => sdk.shutdown());

const WAYS = (['stdio', 'http', 'memory'] as const).flatMap((via) =>
  (['stateful', 'stateless'] as const).map((era) => ({ via, era })),
);
const failing = (promise: Promise<unknown>) => expect(promise).rejects.toBeInstanceOf(Error);
const histogramOf = async (name: string) => (await sdk.histograms()).find(({ descriptor }) => descriptor.name === name);
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

describe('A call by an alias', () => {
  it('has the name of its tool, and the alias as an attribute', async () => {
    const { server } = weatherServer([telemetry()]);
    server.addTool({ name: 'wind', aliases: ['breeze'] }, () => 'calm');
    const client = await connect(server);
    await client.callTool('breeze');
    await client.callTool('wind');
    await client.close();
    const spans = sdk.spans.filter(({ name }) => name === 'tools/call wind');
    expect(spans.map(({ attributes }) => attributes['decorum.alias'])).toEqual(['breeze', undefined]);
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

class Nothing {
  @IsOptional() @IsString() note?: string;
}

class Curious {
  @Tool() async everything(_input: Nothing, ctx: Context) {
    await ctx.confirm('Sure?');
    await ctx.sample({ messages: 'Say hello', maxTokens: 10 });
    await ctx.roots();
    return 'done';
  }

  @Tool() async ping(_input: Nothing, ctx: Context) {
    await ctx.ping();
    return 'pong';
  }
}

const HANDLERS = {
  onElicit: () => ({ action: 'accept' as const, content: { answer: true } }),
  onSample: () => ({ role: 'assistant' as const, content: { type: 'text' as const, text: 'hello' }, model: 'small' }),
  onRoots: () => [{ uri: 'file:///home' }],
};
const METHODS = ['elicitation/create', 'sampling/createMessage', 'roots/list'];
const curious = () =>
  new McpServer({ name: 'curious', version: '1.0.0', providers: [Curious], plugins: [telemetry()] });

describe('Questions to the client', () => {
  it.each(['memory', 'stdio', 'http'] as const)('are client spans below the call over %s', async (via) => {
    const client = await connect(curious(), { via, ...HANDLERS });
    await client.callTool('everything', {}, { meta: { traceparent: TRACEPARENT } });
    await client.callTool('ping');
    await client.close();

    const call = sdk.span('tools/call everything').spanContext();
    for (const method of METHODS) {
      const span = sdk.span(method);
      expect(span).toMatchObject({
        kind: SpanKind.CLIENT,
        status: { code: SpanStatusCode.UNSET },
        parentSpanContext: { traceId: CLIENT_SPAN.traceId, spanId: call.spanId },
        attributes: { 'mcp.method.name': method, 'mcp.protocol.version': client.revision },
      });
    }
    expect(sdk.span('ping').parentSpanContext?.spanId).toBe(sdk.span('tools/call ping').spanContext().spanId);
  });

  it.each(['stdio', 'http'] as const)('carry the trace in _meta over %s', async (via) => {
    const client = await connect(curious(), { via, ...HANDLERS });
    await client.callTool('everything', {}, { meta: { traceparent: TRACEPARENT } });
    await client.close();
    for (const { method, params } of client.questions) {
      const { spanId } = sdk.span(method).spanContext();
      expect(params).toMatchObject({ _meta: { traceparent: `00-${CLIENT_SPAN.traceId}-${spanId}-01` } });
    }
    expect(client.questions.map(({ method }) => method)).toEqual(METHODS);
  });

  it.each(['stdio', 'http'] as const)('end a round each in the stateless era over %s', async (via) => {
    const client = await connect(curious(), { via, era: 'stateless', ...HANDLERS });
    await client.callTool('everything', {}, { meta: { traceparent: TRACEPARENT } });
    await client.close();
    const rounds = sdk.spans.filter(({ name }) => name === 'tools/call everything');
    expect(rounds.map(({ attributes }) => attributes['decorum.outcome'])).toEqual([
      'input-required',
      'input-required',
      'input-required',
      'ok',
    ]);
    expect(new Set(rounds.map((span) => span.spanContext().traceId))).toEqual(new Set([CLIENT_SPAN.traceId]));
  });

  it('are timed', async () => {
    const client = await connect(curious(), HANDLERS);
    await client.callTool('everything');
    await client.close();
    const histogram = await histogramOf('mcp.client.operation.duration');
    expect(histogram?.dataPoints.map(({ attributes }) => attributes['mcp.method.name']).sort()).toEqual(
      METHODS.toSorted(),
    );
  });

  it('add one series to metrics, whatever codes a client invents', async () => {
    await answerInvented(curious(), { name: 'everything' }, 100);
    const histogram = await histogramOf('mcp.client.operation.duration');
    expect(histogram?.dataPoints).toMatchObject([{ attributes: { 'error.type': '_OTHER' }, value: { count: 100 } }]);
  });

  it('that the client rejects are errors, whatever their code', async () => {
    const onElicit = () => {
      throw new Error('nobody is here');
    };
    const client = await connect(curious(), { ...HANDLERS, onElicit });
    await client.callTool('everything').catch(() => {});
    await client.close();
    const { status, attributes } = sdk.span('elicitation/create');
    expect(status.code).toBe(SpanStatusCode.ERROR);
    expect(attributes['error.type']).toBe(attributes['rpc.response.status_code']);
  });
});

describe('Sessions', () => {
  it('are timed when they end', async () => {
    const client = await connect(curious(), { via: 'http' });
    await client.close();
    const histogram = await histogramOf('mcp.server.session.duration');
    expect(histogram?.dataPoints).toMatchObject([
      {
        attributes: {
          'mcp.protocol.version': client.revision,
          'network.protocol.name': 'http',
          'network.transport': 'tcp',
        },
        value: { count: 1 },
      },
    ]);
  });
});

// Golden files: everything that a conversation leaves behind, in both eras, over stdio and HTTP. To write them again, run
// the test with UPDATE_GOLDEN=1, and read the difference.
const GOLDEN = join(import.meta.dirname, 'golden');
const META = { meta: { traceparent: TRACEPARENT } };

async function converse(client: TestClient, weather: Weather): Promise<void> {
  await client.listTools();
  await client.callTool('forecast', { city: 'Oslo' }, META);
  await client.callTool('forecast', { city: 7 });
  await client.callTool('refuse', { city: 'Rome' });
  await client.callTool('crash', { city: 'Rome' });
  await client.callTool('book', { city: 'Oslo' }, META);
  await failing(client.callTool('none', {}));
  await failing(client.request('none/none', {}));
  await client.readResource('weather://oslo/today', META);
  await failing(client.readResource('weather://broken'));
  await client.getPrompt('pack', { city: 'Oslo' });
  await client.complete({ prompt: 'pack' }, { name: 'city', value: 'O' });
  await cancel(client, weather);
}

async function cancel(client: TestClient, weather: Weather): Promise<void> {
  const controller = new AbortController();
  weather.onWait = () => controller.abort(new Error('enough'));
  const aborted = new Promise<void>((resolve) => {
    weather.onAbort = resolve;
  });
  await failing(client.callTool('wait', { city: 'Oslo' }, { signal: controller.signal }));
  await aborted;
}

describe.each(['stateful', 'stateless'] as const)('A %s conversation', (era) => {
  it.each(['stdio', 'http'] as const)('over %s leaves the spans and metrics of its golden file', async (via) => {
    const { server, weather } = weatherServer([telemetry()]);
    const client = await connect(server, {
      via,
      era,
      onElicit: () => ({ action: 'accept', content: { answer: true } }),
    });
    if (era === 'stateless') await client.request('server/discover', {});
    await converse(client, weather);
    await client.close();
    await server.close();

    const file = join(GOLDEN, `${era}-${via}.json`);
    const text = `${JSON.stringify(await portrait(sdk), undefined, 2)}\n`;
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(file, text);
    expect(JSON.parse(text)).toEqual(JSON.parse(readFileSync(file, 'utf8')));
  });
});
