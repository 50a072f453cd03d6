// Whole conversations over every transport, of several clients at once, over sockets, and over custom transports.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { describe, expect, it } from '@jest/globals';
import { type JsonObject, type McpServer, serveStdio } from '@decorum/core';
import { type Frame, type Host, HOST, parseMessage } from '@decorum/core/transport';
import fc from 'fast-check';

import { overHttp, transportsOf } from '../support/http-transports.js';
import { overStdio, RawClient, type RawTransport, textOf } from '../support/raw-client.js';
import { eachRevision, inStateless, REVISIONS, SESSION_REVISIONS, STATELESS } from '../support/requirements.js';
import { LISTS } from './lists.js';
import { ACKNOWLEDGED, listen } from './neutral.js';
import { serverWith } from './servers.js';
import {
  beAsked,
  cancel,
  comeBack,
  follow,
  hear,
  storyAnswers,
  storyCapabilities,
  storyServer,
  Storyteller,
  subscribe,
  use,
} from './story.js';

/** Each transport of the newest revision with sessions, and one of each other. */
const CASES = SESSION_REVISIONS.flatMap((revision, index) =>
  Object.entries(transportsOf(revision)).flatMap(([medium, transport], at) =>
    revision === '2025-11-25' || at === index + 1 ? [{ revision, medium, transport }] : [],
  ),
);

describe('A client', () => {
  it.each(CASES)('of $revision uses the whole protocol over $medium', async ({ revision, transport }) => {
    const teller = new Storyteller();
    const server = storyServer(teller);
    const capabilities = storyCapabilities(revision);
    const client = await RawClient.connect(
      server,
      { revision, capabilities, answers: storyAnswers(revision) },
      transport,
    );
    await use(client);
    await beAsked(client);
    await hear(client);
    await follow(client, server);
    await cancel(client, teller);
  });

  it.each(SESSION_REVISIONS.filter((revision) => revision > '2024-11-05'))(
    'of %s reconnects over HTTP for missed messages',
    async (revision) => {
      const teller = new Storyteller();
      const client = await RawClient.connect(storyServer(teller), { revision }, overHttp);
      await comeBack(client, teller);
    },
  );
});

describe('a pipe of stateless requests', () => {
  inStateless('STDIO-14', 'may be a socket of the operating system', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'decorum-'));
    const path = join(folder, 'mcp.sock');
    const server = serverWith({ owl: () => 'one\ntwo 🦉' });
    const listening = createServer({ allowHalfOpen: true }, (socket) => {
      void (async () => {
        const { closed } = await serveStdio(server, { input: socket, output: socket });
        await closed;
        socket.end();
      })();
    });
    listening.listen(path);
    await once(listening, 'listening');
    const overSocket: RawTransport = async (_server, receive) => {
      const socket = connect(path);
      await once(socket, 'connect');
      let rest = '';
      socket.setEncoding('utf8').on('data', (chunk: string) => {
        const lines = (rest + chunk).split('\n');
        rest = lines.pop() as string;
        for (const line of lines) receive(line);
      });
      const send = (text: string) => void socket.write(`${text}\n`);
      return { send, close: () => void socket.end() };
    };
    const client = await RawClient.connect(server, { revision: STATELESS }, overSocket);
    expect(textOf(await client.call('owl'))).toBe('one\ntwo 🦉');
    await client.close();
    await new Promise((resolve) => listening.close(resolve));
    await rm(folder, { recursive: true });
  });
});

/** A custom transport made of two queues, built on the public transport API. */
async function overQueue(server: Host, receive: (text: string) => void) {
  const send = ({ text }: Frame) => receive(text);
  return await server[HOST].open((kernel) => {
    const session = kernel.openSession({}, { push: send });
    const transport = {
      async send(text: string) {
        const wire = { transport: { kind: 'memory' }, principal: undefined, owner: transport, send } as const;
        const reply = await kernel.handle(parseMessage(text), wire, session);
        if (reply.text !== undefined) receive(reply.text);
      },
      stop: () => kernel.inFlight.stop(transport),
      close() {
        server[HOST].detach(transport);
        kernel.closeSession(session);
      },
    };
    return transport;
  });
}

describe('a custom transport', () => {
  eachRevision('STDIO-13', 'has the same messages and lifecycle', async (revision) => {
    const server = serverWith({
      async ask(context, input) {
        context.log.error(input);
        return (await context.sample({ messages: 'Hi', maxTokens: 1 })).text;
      },
    });
    const sampled = { role: 'assistant', model: 'm', content: { type: 'text', text: 'Ho' } };
    const client = await RawClient.connect(
      server,
      {
        revision,
        capabilities: { sampling: {} },
        logLevel: 'error',
        answers: { 'sampling/createMessage': () => ({ result: sampled }) },
        begins: false,
      },
      overQueue,
    );
    if (client.stateless) {
      await listen(client, { toolsListChanged: true });
    } else {
      expect(await client.error('tools/list')).toMatchObject({ code: -32600 });
      await client.begin();
    }
    expect(textOf(await client.call('ask', { a: 1 } as JsonObject))).toBe('Ho');
    server.notify.toolsChanged();
    await client.find(({ method }) => method === 'notifications/tools/list_changed');
    const methods = client.received.map(({ method }) => method).filter((method) => method !== undefined);
    const [told, changed] = ['notifications/message', 'notifications/tools/list_changed'];
    const others = client.stateless ? [ACKNOWLEDGED, told, changed] : [told, 'sampling/createMessage', changed];
    expect(methods).toEqual(others);
    expect(client.questions).toMatchObject([{ method: 'sampling/createMessage' }]);
  });
});

/** Actions of a client that work in any order, with their assertions. */
const ACTIONS: Readonly<Record<string, (client: RawClient, server: McpServer) => unknown>> = {
  list: (client) => Promise.all(LISTS.map(([method]) => client.result(method))),
  async date(client) {
    expect(textOf(await client.call('revision'))).toBe(client.revision);
  },
  async media(client) {
    expect((await client.call('media'))['content']).toHaveLength(3);
  },
  async structured(client) {
    const result = await client.call('forecast', { city: client.revision });
    expect('structuredContent' in result).toBe(client.revision >= '2025-06-18');
    expect(textOf(result)).toContain(client.revision);
  },
  async prompt(client) {
    const { messages } = await client.result('prompts/get', { name: 'pack', arguments: { city: client.revision } });
    expect(messages).toMatchObject([{ content: { text: `To ${client.revision}` } }, {}]);
  },
  ask: beAsked,
  async report(client) {
    await client.result('tools/call', { name: 'report', _meta: { progressToken: `token of ${client.revision}` } });
  },
  async quiet(client) {
    if (!client.stateless) await client.result('logging/setLevel', { level: 'error' });
  },
  follow: (client) => subscribe(client, randomUUID()),
  update: (_client, server) => server.notify.resourceUpdated('docs://a'),
  change: (_client, server) => server.notify.toolsChanged(),
  async err(client) {
    expect(await client.error('tools/fly')).toMatchObject({ code: -32601 });
  },
};

const plans = fc.array(fc.tuple(fc.nat(REVISIONS.length - 1), fc.constantFrom(...Object.keys(ACTIONS))), {
  minLength: 4,
  maxLength: 40,
});

/** The fields of a message that identify its owner. */
function ownersOf({ params = {} }: { params?: JsonObject }): unknown[] {
  const token = params['progressToken'];
  const { of } = (params['data'] ?? {}) as { of?: unknown };
  return [...(typeof token === 'string' ? [token.replace('token of ', '')] : []), ...(of === undefined ? [] : [of])];
}

describe('Five clients, one of each revision,', () => {
  it.each(Object.entries({ stdio: overStdio, HTTP: overHttp }))(
    'see only messages in the format of their revision on one server, over %s',
    async (_medium, transport) => {
      const property = fc.asyncProperty(plans, async (plan) => {
        const server = storyServer();
        const clients = await Promise.all(
          REVISIONS.map((revision) => {
            const options = { revision, capabilities: storyCapabilities(revision), answers: storyAnswers(revision) };
            return RawClient.connect(server, { ...options, logLevel: 'info' }, transport);
          }),
        );
        const subscribed = new Set<number>();
        await Promise.all(
          plan.map(async ([index, name]) => {
            if (name === 'follow') subscribed.add(index);
            await ACTIONS[name]?.(clients[index] as RawClient, server);
          }),
        );
        await Promise.all(clients.map((client) => client.settled()));
        for (const [index, client] of clients.entries()) {
          expect(client.problems).toEqual([]);
          for (const owner of client.received.flatMap(ownersOf)) expect(owner).toBe(client.revision);
          if (!subscribed.has(index)) expect(client.of('notifications/resources/updated')).toEqual([]);
          const answered = client.received.filter(({ method }) => method === undefined).map(({ id }) => id);
          expect(new Set(answered).size).toBe(answered.length);
        }
        await Promise.all(clients.map((client) => client.close()));
      });
      await fc.assert(property, { numRuns: 10 });
    },
  );
});
