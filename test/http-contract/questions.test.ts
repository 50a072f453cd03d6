// Questions to the client in a session: where they are sent, and who may answer.
import { expect } from '@jest/globals';
import { type Context, type McpServer } from '@decorum/core';

import { EventReader } from '../../packages/http/test/events.js';
import { call, type Fields, post } from '../../packages/http/test/fixture.js';
import { initialize } from '../support/http-client.js';
import type { SessionRevision } from '../support/requirements.js';
import { inEverySessionRevision, overEveryHost, serveOn } from './contract.js';

const SAID = { role: 'assistant', model: 'm-1', content: { type: 'text', text: 'Ho' } };

/** Opens a session whose client declares sampling. Returns the headers of its requests. */
async function open(url: string, revision: SessionRevision): Promise<Fields> {
  const hello = initialize(revision);
  const response = await post(url, { ...hello, params: { ...hello.params, capabilities: { sampling: {} } } });
  await response.text();
  const headers = {
    'mcp-session-id': response.headers.get('mcp-session-id') as string,
    ...(revision >= '2025-06-18' && { 'mcp-protocol-version': revision }),
  };
  expect((await post(url, { jsonrpc: '2.0', method: 'notifications/initialized' }, headers)).status).toBe(202);
  return headers;
}

function addThinking(server: McpServer): void {
  const input = { type: 'object', properties: { about: { type: 'string' } } } as const;
  server.addTool({ name: 'think', input }, async ({ about }, context: Context) => {
    const said = [];
    for (const time of [1, 2]) {
      said.push((await context.sample({ messages: `${String(about)} ${time}`, maxTokens: 5 })).text);
      context.progress(time);
    }
    return `${String(about)}: ${said.join()}`;
  });
}

overEveryHost('a request to the model', (host) => {
  inEverySessionRevision('is on the stream of its own request, and on no other [SAMP-12]', async (revision) => {
    const { url, server } = await serveOn(host);
    addThinking(server);
    const headers = await open(url, revision);
    const listening = new EventReader(await fetch(url, { headers: { accept: 'text/event-stream', ...headers } }));
    const topics = ['cats', 'dogs'];
    const streams = await Promise.all(
      topics.map(async (about, id) => new EventReader(await post(url, call(id, 'think', { about }), headers))),
    );
    for (const time of [1, 2]) {
      // both wait at once, and are answered in the other order
      const questions = [];
      for (const [id, stream] of streams.entries()) {
        const { message } = await stream.message();
        const text = `${topics[id]} ${time}`;
        const messages = [{ role: 'user', content: { type: 'text', text } }];
        expect(message).toMatchObject({ method: 'sampling/createMessage', params: { messages } });
        questions.push(message?.id);
      }
      expect(new Set(questions).size).toBe(2);
      for (const id of questions.reverse()) {
        expect((await post(url, { jsonrpc: '2.0', id, result: SAID }, headers)).status).toBe(202);
      }
    }
    for (const [id, stream] of streams.entries()) {
      const text = `${topics[id]}: Ho,Ho`;
      expect((await stream.rest()).at(-1)?.message).toMatchObject({ id, result: { content: [{ text }] } });
    }
    // the first message of the other stream is one that belongs to no request
    server.notify.toolsChanged();
    expect((await listening.message()).message?.method).toBe('notifications/tools/list_changed');
  });
});
