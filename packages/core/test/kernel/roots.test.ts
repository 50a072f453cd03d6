import { describe, expect, it } from '@jest/globals';
import { Context, McpServer, NoInput, Tool } from '@decorum/core';
import type { Frame } from '@decorum/core/transport';

import { openSession } from './open-session.js';
import { openPipe, type PipeClient, type Received } from '../transports/pipe-client.js';

class Files {
  @Tool({ description: 'Where the client works' }) async where(_input: NoInput, ctx: Context) {
    return (await ctx.roots()).map(({ uri }) => uri).join();
  }
}

const CHANGED = { method: 'notifications/roots/list_changed' };
const listing = (uri: string) => ({ result: { roots: [{ uri }] } });

async function open(capability: object): Promise<PipeClient> {
  const { client } = await openPipe(new McpServer({ name: 'files', version: '1.0.0', providers: [Files] }));
  await client.initialize({ roots: capability });
  return client;
}

const questions = ({ received }: PipeClient) => received.filter(({ method }) => method === 'roots/list');

/** Calls the tool and waits for its question. */
async function ask(client: PipeClient, id: number): Promise<Received> {
  const known = questions(client).length;
  client.send({ id, method: 'tools/call', params: { name: 'where' } });
  return await client.find((message) => questions(client).indexOf(message) === known);
}

const textOf = ({ result }: Received) => (result as { content: [{ text: string }] }).content[0].text;

describe('ctx.roots()', () => {
  it.each([{}, { listChanged: false }, { listChanged: 'yes' }])(
    'asks each time if the client does not notify about changes: %j',
    async (capability) => {
      const client = await open(capability);
      for (const id of [1, 2]) {
        const question = await ask(client, id);
        client.send({ id: question.id, ...listing(`file:///${id}`) });
        expect(textOf(await client.response(id))).toBe(`file:///${id}`);
      }
    },
  );

  it('asks once if the client notifies about changes', async () => {
    const client = await open({ listChanged: true });
    const question = await ask(client, 1);
    client.send({ id: question.id, ...listing('file:///old') });
    await client.response(1);
    expect(textOf(await client.call(2, 'where'))).toBe('file:///old');
  });

  it('asks each time if several processes share the session, because another one may get the notification', async () => {
    const server = new McpServer({ name: 'files', version: '1.0.0', providers: [Files] });
    const { handle, wire, initialize } = await openSession(server, { save() {} });
    const asked: string[] = [];
    Object.assign(wire, {
      send({ kind, text }: Frame) {
        if (kind !== 'question') return;
        asked.push(text);
        void handle({ id: `s${asked.length}`, ...listing('file:///a') });
      },
    });
    await initialize('2025-11-25', { roots: { listChanged: true } });
    for (const id of [1, 2]) {
      const { text } = await handle({ id, method: 'tools/call', params: { name: 'where' } });
      expect(text).toContain('file:///a');
    }
    expect(asked).toHaveLength(2);
  });

  it.each([
    ['before the answer', (answer: object) => [CHANGED, answer]],
    ['right after the answer', (answer: object) => [answer, CHANGED]],
  ])('asks again if the change arrives %s, in one chunk', async (_when, chunk) => {
    const client = await open({ listChanged: true });
    const question = await ask(client, 1);
    client.send(...chunk({ id: question.id, ...listing('file:///old') }));
    expect(textOf(await client.response(1))).toBe('file:///old');
    const again = await ask(client, 2);
    client.send({ id: again.id, ...listing('file:///new') });
    expect(textOf(await client.response(2))).toBe('file:///new');
    expect(textOf(await client.call(3, 'where'))).toBe('file:///new');
  });
});
