// What plugins learn that keep requests to make them again.
import { describe, expect, it } from '@jest/globals';
import type { Context } from '@decorum/core';
import { repeating } from '@decorum/core/internal';
import {
  definePlugin,
  isSecretName,
  type ObservedRequest,
  type Plugin,
  type RequestOutcome,
  secretsIn,
} from '@decorum/core/plugin';
import { connect, elicits } from '@decorum/testing';

import { ERAS, reporting, textOf } from './serving.js';

/** What a plugin is told of each tool call. */
function keeping() {
  const texts: string[] = [];
  const told: { request: ObservedRequest; outcome: RequestOutcome }[] = [];
  const plugin = definePlugin((): Plugin => ({
    name: 'keeps-requests',
    observe(request, run) {
      if (request.method !== 'tools/call') return undefined;
      texts.push(request.paramsText);
      return run();
    },
    ended: (request, outcome) => void (request.method === 'tools/call' && told.push({ request, outcome })),
  }))();
  return { plugin, texts, told };
}

/** A server whose tool runs an effect, asks twice, and runs another effect. */
function asking() {
  const kept = keeping();
  const effects: string[] = [];
  const made = reporting({ plugins: [kept.plugin] });
  made.server.addTool({ name: 'book' }, async (_input, ctx: Context) => {
    const hold = await ctx.once('hold', () => effects.push('hold'));
    const first = await ctx.confirm('Sure?');
    const second = await ctx.confirm('Really?');
    await ctx.once('note', () => void effects.push('note'));
    return `${hold} ${String(first)} ${String(second)} ${ctx.transport.kind}`;
  });
  return { ...made, ...kept, effects };
}

describe.each(ERAS)('a plugin that keeps requests, %s', (era) => {
  it('gets the params as sent, and what the client can do', async () => {
    const { server, told, texts } = asking();
    const client = await connect(server, { era, onElicit: elicits('accept', 'decline') });
    await client.callTool('book', {}, { meta: { 'shop/branch': 'Oslo' } });
    await client.close();
    expect(JSON.parse(texts[0] as string)).toMatchObject({ name: 'book', _meta: { 'shop/branch': 'Oslo' } });
    expect(told.at(-1)?.request.capabilities).toEqual({ elicitation: {} });
  });

  it('gets the answers and effects of the whole call at its end', async () => {
    const { server, told } = asking();
    const client = await connect(server, { era, onElicit: elicits('accept', 'decline') });
    await client.callTool('book');
    await client.close();
    const { outcome } = told.at(-1) as (typeof told)[number];
    const asked = outcome.asked.map(({ method, params, answer, error }) => [method, params['message'], answer, error]);
    expect(asked).toEqual([
      ['elicitation/create', 'Sure?', { action: 'accept' }, undefined],
      ['elicitation/create', 'Really?', { action: 'decline' }, undefined],
    ]);
    expect(outcome.effects).toEqual([['hold', 1], ['note']]);
  });

  it('gets the error of a client that refuses to answer', async () => {
    const { server, told } = asking();
    const onElicit = () => {
      throw new Error('The user has gone home.');
    };
    const client = await connect(server, { era, onElicit });
    await client.callTool('book').catch(() => {});
    await client.close();
    // without a session, clients don't send their errors
    const error = era === 'stateful' ? { code: -32_603, message: expect.any(String) } : undefined;
    expect(told.at(-1)?.outcome.asked).toEqual([
      { method: 'elicitation/create', params: expect.objectContaining({ message: 'Sure?' }), answer: undefined, error },
    ]);
  });
});

describe.each(ERAS)('calls that are made again, %s', (era) => {
  it('do not repeat recorded effects, and see the recorded transport', async () => {
    const { server, effects, told } = asking();
    const outcomes: RequestOutcome[] = [];
    const again = repeating(server, {
      transport: { kind: 'http' },
      effects: [['hold', 7]],
      ended: (_request, outcome) => void outcomes.push(outcome),
    });
    const client = await connect(again, { era, onElicit: elicits('accept', 'accept') });
    expect(textOf(await client.callTool('book'))).toBe('7 true true http');
    await client.close();
    expect(effects).toEqual(['note']);
    expect(outcomes.at(-1)?.status).toBe('ok');
    // plugins don't see what never happened
    expect(told).toEqual([]);
  });
});

describe('what plugins use to find secrets', () => {
  it('knows names and texts', () => {
    expect(['dbPass', 'apiKey', 'nextPageToken', 'city'].map(isSecretName)).toEqual([true, true, false, false]);
    expect(secretsIn('Bearer a8f3e1b, then https://ada:lovelace@example.com')).toEqual(['a8f3e1b', 'ada:lovelace']);
    expect(secretsIn('authorization: Bearer x9, password=hunter2')).toEqual(expect.arrayContaining(['hunter2', 'x9']));
    expect(secretsIn('Sunny, 21 degrees')).toEqual([]);
  });
});
