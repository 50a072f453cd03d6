// Goes through the whole protocol once, for a client of any revision over any transport.
import { expect } from '@jest/globals';
import {
  audio,
  Completion,
  Context,
  type JsonObject,
  link,
  McpServer,
  NoInput,
  Prompt,
  Resource,
  text,
  Tool,
  user,
} from '@decorum/core';
import { IsString } from 'class-validator';

import { type Answer, type RawClient, textOf } from '../support/raw-client.js';
import type { Revision } from '../support/requirements.js';
import { listen } from './neutral.js';
import { deferred, Log } from './servers.js';

class Place {
  @IsString()
  city!: string;
}

/** One member of each kind, controlled by the test. */
export class Storyteller {
  /** Resolves with the context of the request that runs until it is cancelled. */
  readonly waiting = deferred<Context>();
  readonly cancelled = deferred<unknown>();
  /** Resolve `go` to let the long call end; `arrived` resolves when it has ended. */
  readonly go = deferred();
  readonly arrived = deferred();

  @Tool({ title: 'Forecast', annotations: { readOnlyHint: true }, output: { type: 'object', properties: {} } })
  forecast({ city }: Place) {
    return { city };
  }

  @Tool({ _meta: { 'example.com/x': 1 } })
  media() {
    return [audio('V0FW', 'audio/wav'), link('docs://a', { title: 'A' }), text('a', { _meta: { a: 1 } })];
  }

  @Tool()
  revision(_input: NoInput, ctx: Context) {
    return ctx.revision;
  }

  @Tool()
  async ask(_input: NoInput, ctx: Context) {
    const [{ text: said }, [root]] = await Promise.all([ctx.sample({ messages: 'Hi', maxTokens: 9 }), ctx.roots()]);
    return `${said} from ${root?.uri}`;
  }

  @Tool()
  async form(_input: NoInput, ctx: Context) {
    const answer = await ctx.elicit(Place, { message: 'Where?' });
    return answer.action === 'accept' ? answer.content.city : answer.action;
  }

  @Tool()
  report(_input: NoInput, ctx: Context) {
    ctx.progress(1, 2, 'Half way');
    ctx.log.info({ of: ctx.revision });
    ctx.log.error({ of: ctx.revision });
  }

  @Tool()
  async wait(_input: NoInput, ctx: Context) {
    const aborted = new Promise((resolve) => ctx.signal.addEventListener('abort', resolve));
    this.waiting.resolve(ctx);
    await aborted;
    this.cancelled.resolve(ctx.signal.reason);
  }

  @Tool()
  async travel(_input: NoInput, ctx: Context) {
    ctx.progress(1, 2);
    await this.go.promise;
    ctx.progress(2, 2);
    this.arrived.resolve();
    return 'there';
  }

  @Prompt({ title: 'Pack a bag' })
  pack({ city }: Place) {
    return [user(`To ${city}`), user(audio('V0FW', 'audio/wav'))];
  }

  @Resource('docs://a', { title: 'A', annotations: { lastModified: '2025-01-12T15:00:58Z' } })
  a() {
    return 'the text of a';
  }

  @Resource('weather://{city}', { title: 'Weather' })
  weather({ city }: Place) {
    return { city };
  }

  @Completion({ for: ['pack', 'weather'], argument: 'city' })
  cities(value: string) {
    return ['Oslo', 'Ottawa'].filter((city) => city.startsWith(value));
  }
}

/** The server of the story. */
export function storyServer(teller = new Storyteller()): McpServer {
  return new McpServer({ name: 'story', version: '1.0.0', title: 'Story', providers: [teller], logger: new Log() });
}

/** The capabilities of a client of the revision. */
export const storyCapabilities = (revision: Revision): JsonObject => ({
  sampling: {},
  roots: { listChanged: true },
  ...(revision >= '2025-06-18' && { elicitation: {} }),
});

/** The answers of a client in the format of the revision. */
export const storyAnswers = (revision: Revision): Readonly<Record<string, Answer>> => ({
  'sampling/createMessage': () => ({
    result: { role: 'assistant', model: 'm', content: { type: 'text', text: `A model of ${revision}` } },
  }),
  'roots/list': () => ({ result: { roots: [{ uri: `file:///${revision}` }] } }),
  'elicitation/create': () => ({ result: { action: 'accept', content: { city: revision } } }),
  ping: () => ({ result: {} }),
});

/** Uses lists, tools, resources, prompts and completions. */
export async function use(client: RawClient): Promise<void> {
  for (const [method, member] of [
    ['tools/list', 'tools'],
    ['prompts/list', 'prompts'],
    ['resources/list', 'resources'],
    ['resources/templates/list', 'resourceTemplates'],
  ] as const) {
    expect((await client.result(method))[member]).not.toHaveLength(0);
  }
  expect(JSON.parse(textOf(await client.call('forecast', { city: 'Oslo' })) as string)).toEqual({ city: 'Oslo' });
  expect(await client.call('forecast')).toMatchObject({ isError: true });
  expect((await client.call('media'))['content']).toHaveLength(3);
  expect(await client.result('resources/read', { uri: 'docs://a' })).toMatchObject({
    contents: [{ text: 'the text of a' }],
  });
  const missing = client.stateless ? -32602 : -32002;
  expect(await client.error('resources/read', { uri: 'docs://b' })).toMatchObject({ code: missing });
  const { messages } = await client.result('prompts/get', { name: 'pack', arguments: { city: 'Oslo' } });
  expect(messages).toMatchObject([{ content: { text: 'To Oslo' } }, {}]);
  const ref = { type: 'ref/resource', uri: 'weather://{city}' };
  const completed = await client.result('completion/complete', { ref, argument: { name: 'city', value: 'Os' } });
  expect(completed['completion']).toEqual({ values: ['Oslo'] });
}

/** Answers all questions of the revision. */
export async function beAsked(client: RawClient): Promise<void> {
  const { revision } = client;
  expect(textOf(await client.call('ask'))).toBe(`A model of ${revision} from file:///${revision}`);
  const formed = await client.call('form');
  if (revision >= '2025-06-18') expect(textOf(formed)).toBe(revision);
  else expect(formed).toMatchObject({ isError: true });
}

const heard = (client: RawClient, method: string) => client.of(method).map(({ params }) => params);

/** Receives progress and log messages. */
export async function hear(client: RawClient): Promise<void> {
  const { revision } = client;
  const message = revision > '2024-11-05' ? { message: 'Half way' } : {};
  const level = client.stateless ? { 'io.modelcontextprotocol/logLevel': 'error' } : {};
  if (!client.stateless) expect(await client.result('logging/setLevel', { level: 'error' })).toEqual({});
  await client.result('tools/call', { name: 'report', _meta: { progressToken: 'token', ...level } });
  const progress = { progressToken: 'token', progress: 1, total: 2, ...message };
  expect(heard(client, 'notifications/progress')).toEqual([progress]);
  expect(heard(client, 'notifications/message')).toEqual([{ level: 'error', data: { of: revision } }]);
}

/** Subscribes to a resource and a list, and unsubscribes. */
export async function follow(client: RawClient, server: McpServer): Promise<void> {
  const updates = () => heard(client, 'notifications/resources/updated');
  await subscribe(client);
  server.notify.resourceUpdated('docs://a');
  await client.find(({ method }) => method === 'notifications/resources/updated');
  expect(updates()).toMatchObject([{ uri: 'docs://a' }]);
  server.notify.toolsChanged();
  await client.find(({ method }) => method === 'notifications/tools/list_changed');
  if (client.stateless) await client.cancel('listening');
  else await client.result('resources/unsubscribe', { uri: 'docs://a' });
  await client.settled();
  server.notify.resourceUpdated('docs://a');
  await client.settled();
  expect(updates()).toHaveLength(1);
}

/** Subscribes to a resource. A stateless subscription is a request that stays open. */
export async function subscribe(client: RawClient, id = 'listening'): Promise<void> {
  if (!client.stateless) return void (await client.result('resources/subscribe', { uri: 'docs://a' }));
  const notifications = { toolsListChanged: true, resourceSubscriptions: ['docs://a'] };
  await listen(client, notifications, id);
}

/** Cancels an endless request. */
export async function cancel(client: RawClient, teller: Storyteller): Promise<void> {
  void client.send(client.buildMessage('endless', 'tools/call', { name: 'wait' }));
  await teller.waiting.promise;
  await client.cancel('endless', 'enough');
  await teller.cancelled.promise;
  await client.settled();
  expect(client.received.filter(({ id }) => id === 'endless')).toEqual([]);
}

/** Loses the stream of a request, and then gets each missed message once. */
export async function comeBack(client: RawClient, teller: Storyteller): Promise<void> {
  void client.send(client.buildMessage('long', 'tools/call', { name: 'travel', _meta: { progressToken: 0 } }));
  await client.find(({ method }) => method === 'notifications/progress');
  await client.resume('long', async () => {
    teller.go.resolve();
    await teller.arrived.promise;
    await client.settled();
  });
  expect(textOf((await client.response('long')).result as JsonObject)).toBe('there');
  expect(heard(client, 'notifications/progress')).toMatchObject([{ progress: 1 }, { progress: 2 }]);
}
