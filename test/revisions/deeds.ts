import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import type { McpServer } from '@decorum/core';

import { type RawClient, textOf } from '../support/raw-client.js';
import { subscribe } from './story.js';

/** An action of a client on the story server, with its assertions. */
export type Deed = (client: RawClient, server: McpServer) => Promise<void>;

const LISTS = ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'];

async function list(client: RawClient) {
  await Promise.all(LISTS.map((method) => client.result(method)));
}

async function revision(client: RawClient) {
  expect(textOf(await client.call('revision'))).toBe(client.revision);
}

async function media(client: RawClient) {
  expect((await client.call('media'))['content']).toHaveLength(3);
}

async function structured(client: RawClient) {
  const result = await client.call('forecast', { city: client.revision });
  expect('structuredContent' in result).toBe(client.revision >= '2025-06-18');
  expect(textOf(result)).toContain(client.revision);
}

async function prompt(client: RawClient) {
  const { messages } = await client.result('prompts/get', { name: 'pack', arguments: { city: client.revision } });
  expect(messages).toMatchObject([{ content: { text: `To ${client.revision}` } }, {}]);
}

async function ask(client: RawClient) {
  const said = `A model of ${client.revision} from file:///${client.revision}`;
  expect(textOf(await client.call('ask'))).toBe(said);
}

async function form(client: RawClient) {
  const result = await client.call('form');
  if (client.revision >= '2025-06-18') expect(textOf(result)).toBe(client.revision);
  else expect(result).toMatchObject({ isError: true });
}

async function report(client: RawClient) {
  await client.result('tools/call', { name: 'report', _meta: { progressToken: `token of ${client.revision}` } });
}

async function quiet(client: RawClient) {
  if (!client.stateless) await client.result('logging/setLevel', { level: 'error' });
}

async function follow(client: RawClient) {
  await subscribe(client, randomUUID());
}

async function update(_client: RawClient, server: McpServer) {
  server.notify.resourceUpdated('docs://a');
}

async function change(_client: RawClient, server: McpServer) {
  server.notify.toolsChanged();
}

async function err(client: RawClient) {
  expect(await client.error('tools/fly')).toMatchObject({ code: -32601 });
}

/** Actions that work in any order. */
export const DEEDS = {
  list,
  revision,
  media,
  structured,
  prompt,
  ask,
  form,
  report,
  quiet,
  follow,
  update,
  change,
  err,
} satisfies Record<string, Deed>;
