import { Context, McpServer, Tool } from '@decorum/core';
import { telemetry } from '@decorum/opentelemetry';
import { connect } from '@decorum/testing';
import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { IsOptional, IsString } from 'class-validator';

import { answerInvented } from '../../../test/support/invented-names.js';
import { CLIENT_SPAN, Sdk, TRACEPARENT } from './sdk.js';

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

let sdk: Sdk;
beforeEach(() => {
  sdk = new Sdk().register();
});
afterEach(() => sdk.shutdown());

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
    const histogram = (await sdk.histograms()).find(
      ({ descriptor }) => descriptor.name === 'mcp.client.operation.duration',
    );
    expect(histogram?.dataPoints.map(({ attributes }) => attributes['mcp.method.name']).sort()).toEqual(
      METHODS.toSorted(),
    );
  });

  it('add one series to metrics, whatever codes a client invents', async () => {
    await answerInvented(curious(), { name: 'everything' }, 100);
    const histogram = (await sdk.histograms()).find(
      ({ descriptor }) => descriptor.name === 'mcp.client.operation.duration',
    );
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
    const histogram = (await sdk.histograms()).find(
      ({ descriptor }) => descriptor.name === 'mcp.server.session.duration',
    );
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
