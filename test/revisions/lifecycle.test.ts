// How sessions begin, what they declare, and when their questions end.
import { describe, expect } from '@jest/globals';
import type { Context, JsonObject } from '@decorum/core';
import { listen } from '@decorum/http';

import { json, post, request, serve } from '../../packages/http/test/fixture.js';
import { overHttpSse, transportsOf } from '../support/http-transports.js';
import { RawClient, textOf } from '../support/raw-client.js';
import {
  eachRevision,
  eachSessionRevision,
  inStateless,
  SESSION_REVISIONS,
  type SessionRevision,
  STATELESS,
} from '../support/requirements.js';
import { golden } from './golden-servers.js';
import { deferred, serverOf, serverWith } from './servers.js';
import { storyServer } from './story.js';

const NEWEST = '2025-11-25';
const hello = (protocolVersion: unknown) => ({
  protocolVersion,
  capabilities: {},
  clientInfo: { name: 'raw', version: '1' },
});

const QUESTIONS = {
  sample: (context: Context) => context.sample({ messages: 'Hi', maxTokens: 1 }),
  roots: (context: Context) => context.roots(),
  elicit: (context: Context) => context.elicit({ type: 'object', properties: {} }, { message: 'Hi' }),
};

/** Asks a client for capabilities that it lacks. No question may reach it. */
async function askInVain(revision: SessionRevision, capabilities: JsonObject, names: readonly string[]) {
  const client = await RawClient.connect(serverWith(QUESTIONS), { revision, capabilities });
  for (const name of [...names, ...names]) expect(await client.call(name)).toMatchObject({ isError: true });
  expect(client.received.filter(({ method }) => method !== undefined)).toEqual([]);
}

/** Requests that a session needs `initialize` for. */
const LATER = ['list', 'templates/list', 'read', 'subscribe', 'unsubscribe'].map((verb) => `resources/${verb}`);
LATER.push('tools/list', 'tools/call', 'prompts/list', 'prompts/get', 'completion/complete', 'logging/setLevel');

describe('a session', () => {
  eachSessionRevision('LIFE-01', 'starts alike over every transport, with all capabilities', async (revision) => {
    const list = { listChanged: true };
    const all = { tools: list, prompts: list, resources: { ...list, subscribe: true }, logging: {} };
    for (const transport of Object.values(transportsOf(revision))) {
      const server = storyServer();
      for (const capabilities of [{}, { roots: {}, sampling: {} }]) {
        const client = await RawClient.connect(server, { revision, capabilities, begins: false }, transport);
        expect(await client.begin()).toEqual({
          protocolVersion: revision,
          capabilities: { ...all, ...(revision > '2024-11-05' && { completions: {} }) },
          serverInfo: { name: 'story', version: '1.0.0', ...(revision >= '2025-06-18' && { title: 'Story' }) },
        });
      }
    }
  });

  eachSessionRevision('LIFE-06', 'declares nothing that needs a session if the server keeps none', async (revision) => {
    const { url } = await serve({ sessions: false });
    const begun = await json(await post(url, request(1, 'initialize', hello(revision))));
    expect(begun.result?.['capabilities']).toEqual({ tools: {}, prompts: {}, resources: {} });
    const headers: Record<string, string> = revision >= '2025-06-18' ? { 'mcp-protocol-version': revision } : {};
    for (const method of ['logging/setLevel', 'resources/subscribe', 'resources/unsubscribe']) {
      const { error } = await json(
        await post(url, request(2, method, { level: 'info', uri: 'docs://guide' }), headers),
      );
      expect([method, error?.code]).toEqual([method, -32601]);
    }
  });

  eachSessionRevision('LIFE-07', 'gets no notifications before the client is initialized', async (revision) => {
    const server = golden('events');
    const client = await RawClient.connect(server, { revision, begins: false });
    await client.result('initialize', hello(revision));
    await client.result('resources/subscribe', { uri: 'docs://readme' });
    server.notify.toolsChanged();
    server.notify.resourceUpdated('docs://readme');
    await client.notify('notifications/initialized');
    server.notify.promptsChanged();
    await client.find(({ method }) => method === 'notifications/prompts/list_changed');
    expect(client.received.filter(({ method }) => method !== undefined)).toHaveLength(1);
  });

  eachSessionRevision('LIFE-08', 'answers a ping before it starts, and rejects everything else', async (revision) => {
    const { HTTP: _begins, ...transports } = transportsOf(revision);
    for (const [name, transport] of Object.entries(transports)) {
      const client = await RawClient.connect(golden('lists'), { revision, begins: false }, transport);
      expect(await client.result('ping')).toEqual({});
      // HTTP+SSE refuses them instead of answering on the stream
      for (const method of name === 'HTTP+SSE' ? [] : LATER) {
        const { code } = await client.error(method, { name: 'primes', uri: 'docs://readme', level: 'info' });
        expect([name, method, code]).toEqual([name, method, -32600]);
      }
      expect(await client.result('ping')).toEqual({});
      expect(await client.begin()).toMatchObject({ protocolVersion: revision });
    }
  });

  eachSessionRevision(['LIFE-09', 'LIFE-10'], 'asks nothing that the client has not declared', async (revision) => {
    const names = ['sample', 'roots', 'elicit'];
    await askInVain(revision, {}, names);
    // nothing but an object declares a capability
    for (const value of [false, null, true, 'yes', []]) {
      await askInVain(revision, { sampling: value, roots: value, elicitation: value }, names);
    }
    // in another place or spelling, it is another capability
    const others = { sampling: {}, roots: {}, elicitation: {} };
    await askInVain(revision, { experimental: others, extensions: others, Sampling: {}, ROOTS: {} }, names);
  });

  eachSessionRevision('LIFE-09', 'asks no questions that the revision does not have', (revision) =>
    askInVain(revision, { elicitation: {} }, ['elicit']),
  );

  eachSessionRevision('LIFE-11', 'has the instructions of the server', async (revision) => {
    const client = await RawClient.connect(golden('lists'), { revision, begins: false });
    expect(await client.begin()).toMatchObject({ instructions: 'Ask for the weather.' });
    const other = await RawClient.connect(serverOf(), { revision, begins: false });
    expect(await other.begin()).not.toHaveProperty('instructions');
    // also without sessions
    const { url, close } = await listen(serverOf({ instructions: 'Ask first.' }), { port: 0, sessions: false });
    const begun = await json(await post(url, request(1, 'initialize', hello(revision))));
    expect(begun).toMatchObject({ result: { instructions: 'Ask first.' } });
    await close();
  });

  eachSessionRevision('LIFE-12', 'has unchanged experimental capabilities on both sides', async (revision) => {
    const experimental = { 'example.com/trial': { on: true, deep: [{}] } };
    const ours = { 'example.com/ours': { level: 2 }, 'example.com/plain': {} };
    const see = ({ client }: Context) => JSON.stringify(client.capabilities.experimental);
    const server = serverWith({ see }, { experimental: ours });
    const client = await RawClient.connect(server, { revision, capabilities: { experimental }, begins: false });
    expect((await client.begin())['capabilities']).toMatchObject({ experimental: ours, tools: {} });
    expect(JSON.parse(textOf(await client.call('see')) as string)).toEqual(experimental);
    const other = await RawClient.connect(serverWith({ see }), { revision, begins: false });
    expect((await other.begin())['capabilities']).not.toHaveProperty('experimental');
  });

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

  eachSessionRevision('LIFE-18', 'survives a second start, and one without client info', async (revision) => {
    const client = await RawClient.connect(serverOf(), { revision, begins: false });
    expect(await client.begin()).toMatchObject({ protocolVersion: revision });
    expect(await client.error('initialize', hello(revision))).toMatchObject({ code: -32600 });
    expect(await client.result('ping')).toEqual({});
    // what the client says about itself may be anything
    for (const wrong of [null, [], 'all', 7, true, undefined]) {
      for (const field of ['capabilities', 'clientInfo']) {
        const other = await RawClient.connect(serverWith(QUESTIONS), { revision, begins: false });
        const begun = await other.result('initialize', { ...hello(revision), [field]: wrong });
        expect([field, wrong, begun]).toMatchObject([field, wrong, { protocolVersion: revision }]);
        expect(await other.call('sample')).toMatchObject({ isError: true });
      }
    }
  });

  eachSessionRevision('LIFE-19', 'has server info with all fields of the revision', async (revision) => {
    const client = await RawClient.connect(golden('lists'), { revision, begins: false });
    const { serverInfo } = await client.begin();
    const newer = revision === NEWEST ? ['description', 'icons', 'websiteUrl'] : [];
    expect(Object.keys(serverInfo as object).sort()).toEqual(['name', 'title', 'version', ...newer].sort());
  });

  eachSessionRevision('EXT-05', 'lets handlers see the extensions of the client', async (revision) => {
    const server = serverWith({ see: ({ client }) => JSON.stringify(client.capabilities.extensions) });
    const extensions = { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } };
    const client = await RawClient.connect(server, { revision, capabilities: { extensions } });
    expect(JSON.parse(textOf(await client.call('see')) as string)).toEqual(extensions);
  });
});

describe('the revision of a session', () => {
  const UNKNOWN = ['1999-01-01', '9999-12-31', '', '2025-11-26', STATELESS, ` ${NEWEST}`, '2024-11-05-draft', 'latest'];
  const ODD = ['x'.repeat(1000), '2025-11-25T00:00:00Z', 'größe', '__proto__', ' ', '0'];

  eachRevision(['LIFE-03', 'LIFE-04'], 'is the newest with sessions if another is unknown', async (revision) => {
    const server = serverWith({ revision: (context) => context.revision });
    const transports = Object.entries({ ...transportsOf(revision), 'HTTP+SSE': overHttpSse });
    for (const [at, [name, transport]] of transports.entries()) {
      for (const unknown of [...(name === 'memory' ? ODD : []), UNKNOWN[at], `${revision} `]) {
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

describe('a question to the client', () => {
  const CAPABILITIES = { sampling: {} };
  const ALL = { ...CAPABILITIES, roots: {}, elicitation: { form: {}, url: {} } };

  /** Tools that ask all kinds of questions of a revision. */
  const questionsOf = (revision: SessionRevision, options: { readonly timeoutMs?: number } = {}) => {
    const url = { message: 'Sign in', url: 'https://example.com', ...options };
    const tools: Readonly<Record<string, (context: Context) => Promise<unknown>>> = {
      sample: (context) => context.sample({ messages: 'Hi', maxTokens: 1, ...options }),
      roots: (context) => context.roots(options),
      ping: (context) => context.ping(options),
      ...(revision >= '2025-06-18' && {
        elicit: (context) => context.elicit({ type: 'object', properties: {} }, { message: 'Name?', ...options }),
        confirm: (context) => context.confirm('Sure?', options),
      }),
      // URLs exist only in the newest of these revisions
      ...(revision === NEWEST && { elicitUrl: (context) => context.elicitUrl(url) }),
    };
    return tools;
  };

  inStateless('LIFE-14', 'is not waited for, and a late answer is rejected', async () => {
    const asking = deferred<AbortSignal>();
    const server = serverWith(
      {
        async sample(context) {
          asking.resolve(context.signal);
          return (await QUESTIONS.sample(context)).text;
        },
      },
      { requestStateTtlMs: 1 },
    );
    const client = await RawClient.connect(server, { revision: STATELESS, capabilities: CAPABILITIES });
    const { inputRequests, requestState } = await client.call('sample');
    expect((await asking.promise).aborted).toBe(true);
    const [key] = Object.keys(inputRequests as object) as [string];
    const late = Date.now() + 2;
    while (Date.now() < late);
    const result = { role: 'assistant', model: 'm', content: { type: 'text', text: 'Late' } };
    const params = { name: 'sample', inputResponses: { [key]: result }, requestState };
    expect(await client.error('tools/call', params)).toMatchObject({ code: -32602 });
  });

  eachSessionRevision(['LIFE-14', 'LIFE-15'], 'is cancelled after its timeout or the server’s', async (revision) => {
    const ways = [
      [questionsOf(revision), { questionTimeoutMs: 10 }],
      [questionsOf(revision, { timeoutMs: 10 }), {}],
    ] as const;
    for (const transport of Object.values(transportsOf(revision))) {
      for (const [asking, options] of ways) {
        const client = await RawClient.connect(serverWith(asking, options), { revision, capabilities: ALL }, transport);
        for (const name of Object.keys(asking)) {
          const before = client.received.length;
          expect([name, await client.call(name)]).toMatchObject([name, { isError: true }]);
          const [question, cancelled] = client.received.slice(before);
          expect(question).toEqual({ ...question, method: expect.any(String), id: expect.anything() });
          expect(cancelled).toMatchObject({ method: 'notifications/cancelled', params: { requestId: question?.id } });
          // a late answer changes nothing
          await client.send({ jsonrpc: '2.0', id: question?.id, result: {} });
        }
      }
    }
  });

  eachSessionRevision('LIFE-17', 'times out, no matter how much progress the client reports', async (revision) => {
    const asked = deferred<string | number>();
    const server = serverWith({ sample: QUESTIONS.sample }, { questionTimeoutMs: 30 });
    const client = await RawClient.connect(server, {
      revision,
      capabilities: CAPABILITIES,
      answers: { 'sampling/createMessage': (_params, id) => void asked.resolve(id) },
    });
    const result = client.call('sample');
    const progressToken = await asked.promise;
    for (let progress = 1; client.of('notifications/cancelled').length === 0; progress += 1) {
      await client.notify('notifications/progress', { progressToken, progress });
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await result).toMatchObject({ isError: true });
  });
});
