// Whole conversations over every transport, sockets of the operating system, and custom transports.
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { describe, expect, it } from '@jest/globals';
import { type JsonObject, serveStdio } from '@decorum/core';
import { type Frame, type Host, HOST, parseMessage } from '@decorum/core/transport';

import { json, post, request, serve } from '../../packages/http/test/fixture.js';
import { overHttp, overHttpSse, transportsOf } from '../support/http-transports.js';
import { RawClient, type RawTransport, textOf } from '../support/raw-client.js';
import {
  eachRevision,
  eachSessionRevision,
  inStateless,
  SESSION_REVISIONS,
  STATELESS,
} from '../support/requirements.js';
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

const NEWEST = '2025-11-25';
const hello = (protocolVersion: unknown): JsonObject => ({
  protocolVersion,
  capabilities: {},
  clientInfo: { name: 'raw', version: '1' },
});

describe('the revision of a session', () => {
  const UNKNOWN = ['1999-01-01', '9999-12-31', '', '2025-11-26', STATELESS, ` ${NEWEST}`, '2024-11-05-draft', 'latest'];

  eachRevision(['LIFE-03', 'LIFE-04'], 'is the newest with sessions if another is unknown', async (revision) => {
    const server = serverWith({ revision: (context) => context.revision });
    const transports = Object.entries({ ...transportsOf(revision), 'HTTP+SSE': overHttpSse });
    for (const [at, [name, transport]] of transports.entries()) {
      for (const unknown of [UNKNOWN[at], `${revision} `]) {
        const client = await RawClient.connect(server, { revision: NEWEST, begins: false }, transport);
        const { protocolVersion } = await client.result('initialize', hello(unknown));
        expect([name, unknown, protocolVersion]).toEqual([name, unknown, NEWEST]);
        await client.notify('notifications/initialized');
        expect([name, textOf(await client.call('revision'))]).toEqual([name, NEWEST]);
      }
    }
    // also where the server keeps no sessions
    const { url } = await serve({ sessions: false });
    for (const unknown of [...UNKNOWN, `${revision} `]) {
      const begun = await json(await post(url, request(1, 'initialize', hello(unknown))));
      expect([unknown, begun]).toMatchObject([unknown, { id: 1, result: { protocolVersion: NEWEST } }]);
    }
  });

  eachSessionRevision('LIFE-02', 'is the one in the message, whatever the header says', async (revision) => {
    for (const options of [{}, { sessions: false } as const]) {
      const { url } = await serve(options);
      for (const declared of SESSION_REVISIONS) {
        const headers = { 'mcp-protocol-version': declared };
        const begun = await json(await post(url, request(1, 'initialize', hello(revision)), headers));
        expect([declared, begun]).toMatchObject([declared, { result: { protocolVersion: revision } }]);
      }
    }
  });
});

describe('a session', () => {
  eachSessionRevision('LIFE-18', 'can begin after a failed start, over every transport', async (revision) => {
    for (const [name, transport] of Object.entries(transportsOf(revision))) {
      const client = await RawClient.connect(serverWith({ hi: () => 'hi' }), { revision, begins: false }, transport);
      const long = { ...hello(revision), x: 'x'.repeat(70_000) };
      for (const params of [undefined, {}, hello(7), hello(null), hello([revision]), long]) {
        const { code } = await client.error('initialize', params);
        expect([name, params, code]).toEqual([name, params, -32602]);
      }
      expect([name, await client.begin()]).toMatchObject([name, { protocolVersion: revision }]);
      expect(textOf(await client.call('hi'))).toBe('hi');
    }
  });
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
