// The stateless revision: discovery, extensions, and clients with and without a session on one server.
import { EventEmitter, once } from 'node:events';

import { describe, expect, it } from '@jest/globals';
import type { Extension, JsonObject, McpServer } from '@decorum/core';

import { json } from '../../packages/http/test/fixture.js';
import { HttpClient } from '../support/http-client.js';
import { overHttp } from '../support/http-transports.js';
import { type Message, overMemory, overStdio, RawClient, type RawTransport, textOf } from '../support/raw-client.js';
import { inStateless, type Revision, SESSION_REVISIONS, STATELESS } from '../support/requirements.js';
import {
  answerTo,
  asked,
  called,
  declares,
  messagesOf,
  postTo,
  PREFIX,
  urlOf,
  VERSION,
} from '../support/stateless-post.js';
import { listen } from './neutral.js';
import { serverOf, serverWith } from './servers.js';
import { storyServer } from './story.js';

const revision: Revision = STATELESS;
const RAW_TRANSPORTS: readonly RawTransport[] = [overMemory, overStdio, overHttp];

describe('clients with and without a session', () => {
  inStateless('LIFE-24', 'can take turns, over every transport', async () => {
    for (const transport of RAW_TRANSPORTS) {
      const server = serverWith({ revision: (context) => context.revision });
      for (const date of SESSION_REVISIONS) {
        const [old, modern] = [
          await RawClient.connect(server, { revision: date }, transport),
          await RawClient.connect(server, { revision }, transport),
        ];
        for (let turn = 0; turn < 2; turn += 1) {
          expect(textOf(await old.call('revision'))).toBe(date);
          expect(textOf(await modern.call('revision'))).toBe(revision);
          if (transport === overHttp) continue;
          // on the same pipe too
          await old.send(called(`turn ${turn}`, 'revision'));
          const { result } = await old.find(({ id }) => id === `turn ${turn}`);
          expect(textOf(result as JsonObject)).toBe(revision);
          old.problems.length = 0;
        }
      }
    }
  });

  inStateless('LIFE-25', 'can share a pipe, because each message names its era', async () => {
    const server = serverWith({
      tell(context) {
        context.log.debug('heard');
        return context.revision;
      },
    });
    const client = await RawClient.connect(server, { revision: '2025-11-25', begins: false }, overStdio);
    const send = async (message: object) => {
      const from = client.received.length;
      await client.send(message);
      await client.find((each) => each.id !== undefined && client.received.indexOf(each) >= from);
      return client.received.slice(from);
    };
    const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'both', version: '1' } };
    const session = (id: string, method: string, params: object) => ({ jsonrpc: '2.0', id, method, params });
    // serving another client does not start the session
    expect(await send(called('m1', 'tell'))).toMatchObject([{ id: 'm1', result: { content: [{ text: revision }] } }]);
    expect(await send(session('s1', 'tools/list', {}))).toMatchObject([{ id: 's1', error: { code: -32600 } }]);
    expect(await send(session('s2', 'initialize', hello))).toMatchObject([{ id: 's2', result: { serverInfo: {} } }]);
    await client.notify('notifications/initialized');
    await send(session('s3', 'logging/setLevel', { level: 'debug' }));
    for (const round of [1, 2]) {
      const [log, old] = (await send(session(`s${round}0`, 'tools/call', { name: 'tell' }))) as [Message, Message];
      expect(log.method).toBe('notifications/message');
      expect(old.result).toEqual({ content: [{ type: 'text', text: '2025-11-25' }] });
      // the log level belongs to the session
      const [modern] = (await send(called(`m${round}0`, 'tell'))) as [Message];
      expect(modern.result).toMatchObject({ resultType: 'complete', content: [{ text: revision }] });
    }
    expect(await send(session('s4', 'ping', {}))).toEqual([{ jsonrpc: '2.0', id: 's4', result: {} }]);
    expect(await send(asked('m4', 'ping'))).toMatchObject([{ id: 'm4', error: { code: -32601 } }]);
    // whatever names a revision has no session, even if it names it in a wrong way
    for (const version of [7, null, [], {}, true]) {
      const message = session('wrong', 'tools/list', { _meta: { [VERSION]: version } });
      expect([version, await send(message)]).toMatchObject([version, [{ id: 'wrong', error: { code: -32602 } }]]);
    }
    // it knows the messages of one revision
    client.problems.length = 0;
  });

  inStateless('LIFE-25', 'share no session, even if a request without one names its id', async () => {
    const began = new EventEmitter();
    const server = serverWith({
      async hold(context) {
        began.emit('began');
        await once(began, 'go');
        return context.revision;
      },
      tell(context) {
        context.log.debug('heard');
        context.progress(1);
        return JSON.stringify([context.revision, context.sessionId ?? 'none']);
      },
    });
    const session = await HttpClient.open(await urlOf(server), '2025-11-25');
    await (await session.post(session.buildMessage('level', 'logging/setLevel', { level: 'debug' }))).text();
    const holding = once(began, 'began');
    const held = session.call(1, 'hold');
    await holding;
    for (const id of [session.headers['mcp-session-id'] as string, 'unknown']) {
      const headers = { 'mcp-session-id': id };
      // neither the id of a request in flight nor the level nor the event ids of the session
      const told = await postTo(server, called(1, 'tell', { progressToken: 't' }), headers);
      expect([told.status, told.headers.get('mcp-session-id')]).toEqual([200, null]);
      expect(await told.clone().text()).not.toMatch(/^id:/m);
      expect(await messagesOf(told)).toMatchObject([
        { method: 'notifications/progress' },
        { id: 1, result: { resultType: 'complete', content: [{ text: `["${revision}","none"]` }] } },
      ]);
      expect(await answerTo(server, asked(2, 'ping'), headers)).toMatchObject([404, { error: { code: -32601 } }]);
    }
    began.emit('go');
    expect(await json(await held)).toMatchObject({ id: 1, result: { content: [{ text: '2025-11-25' }] } });
    expect(await session.status()).toBe(200);
  });
});

const extension: Extension = {
  id: 'com.example/counter',
  settings: { start: 1 },
  methods: { 'counter/next': ({ after }) => ({ next: Number(after) + 1 }) },
};
const counting = () => serverWith({ plain: () => 'plain' }, { extensions: [extension, { id: 'com.example/empty' }] });
const COUNTS = declares({ extensions: { [extension.id]: {} } });
const next = (meta?: JsonObject) => asked(1, 'counter/next', { after: 4 }, meta);

describe('an extension', () => {
  inStateless(['LIFE-27', 'EXT-04'], 'is used by those who have it, and the others have all the rest', async () => {
    expect(await answerTo(counting(), next(COUNTS))).toMatchObject([200, { result: { next: 5 } }]);
    const lacking = [{ 'com.example/empty': {} }, { [extension.id]: false }, { [extension.id]: null }, []];
    for (const meta of [{}, ...[{}, ...lacking].map((extensions) => declares({ extensions }))]) {
      const requiredCapabilities = { extensions: { [extension.id]: {} } };
      const error = { code: -32021, data: { requiredCapabilities } };
      expect(await answerTo(counting(), next(meta))).toMatchObject([400, { id: 1, error }]);
      expect(await answerTo(counting(), called(2, 'plain', meta))).toMatchObject([200, { result: { content: [{}] } }]);
    }
    expect(await answerTo(serverOf(), next(COUNTS))).toMatchObject([404, { error: { code: -32601 } }]);
  });

  inStateless('LIFE-28', 'has an id with a prefix, like keys of _meta', () => {
    const labels = ['1com', 'com..example', 'com.example-', 'com.-example', 'com-.example', '-com.example', 'a.com-.b'];
    labels.push('com.1example', 'com_a.example', '.example', 'com.example.', '');
    const names = [
      'counter',
      'com.example',
      'com.example/',
      ...['x/y', 'x-', 'x y', '-x'].map((name) => `a.b/${name}`),
    ];
    for (const id of [...names, ...labels.map((prefix) => `${prefix}/x`)]) {
      expect(() => serverOf({ extensions: [{ id }] })).toThrow('DECORUM_INVALID_EXTENSION');
    }
    for (const id of ['com.example/x', 'io.modelcontextprotocol/ui', 'a/B-c_d.e', 'c--1.ex-ample2/1']) {
      expect(() => serverOf({ extensions: [{ id }] })).not.toThrow();
    }
  });

  inStateless(['EXT-01', 'EXT-03'], 'is declared, with its settings or with empty ones', async () => {
    const [, { result }] = await answerTo(counting(), asked(1, 'server/discover'));
    const extensions = { [extension.id]: { start: 1 }, 'com.example/empty': {} };
    expect(result).toHaveProperty('capabilities.extensions', extensions);
  });

  inStateless('EXT-02', 'is declared only if the server has one', async () => {
    for (const transport of RAW_TRANSPORTS) {
      const { capabilities } = await discover(storyServer(), transport);
      expect(Object.keys(capabilities as JsonObject).sort()).toEqual([
        'completions',
        'logging',
        'prompts',
        'resources',
        'tools',
      ]);
      // opting in is what makes the difference
      const added = await discover(serverOf({ extensions: [{ id: 'com.example/x' }] }), transport);
      expect(added).toMatchObject({ capabilities: { extensions: { 'com.example/x': {} } } });
    }
  });
});

/** The result of `server/discover` as the first request. */
async function discover(server: McpServer, transport: RawTransport = overStdio): Promise<JsonObject> {
  const client = await RawClient.connect(server, { revision, principal: { subject: 'ada' } }, transport);
  return await client.result('server/discover');
}

describe('server/discover', () => {
  inStateless(['DISC-02', 'DISC-03'], 'has all its fields, instructions, and server info', async () => {
    const icons = [{ src: 'https://example.com/i.png', mimeType: 'image/png', sizes: ['1x1'], theme: 'dark' }] as const;
    const identity = { title: 'A title', websiteUrl: 'https://example.com', description: 'A server', icons };
    for (const transport of RAW_TRANSPORTS) {
      for (const instructions of ['Ask first.', ' Ask\n first. ', 'ü'.repeat(5000), '']) {
        const result = await discover(serverOf({ ...identity, instructions }), transport);
        expect(result).toMatchObject({ resultType: 'complete', capabilities: { logging: {} }, instructions });
        const known = { name: 'revisions', version: '1.0.0', ...identity };
        expect(result['_meta']).toEqual({ [`${PREFIX}serverInfo`]: known });
        expect(result).not.toHaveProperty('serverInfo');
      }
      expect(await discover(serverOf(), transport)).not.toHaveProperty('instructions');
    }
  });

  it('declares experimental capabilities unchanged', async () => {
    const experimental = { 'example.com/ours': { level: 2 }, 'example.com/plain': {} };
    expect((await discover(serverOf({ experimental })))['capabilities']).toEqual({ logging: {}, experimental });
  });

  inStateless('DISC-04', 'declares exactly what the server supports', async () => {
    const methods: Readonly<Record<string, readonly [string, JsonObject][]>> = {
      tools: [['tools/list', {}]],
      prompts: [['prompts/list', {}]],
      resources: [
        ['resources/list', {}],
        ['resources/templates/list', {}],
      ],
      completions: [
        ['completion/complete', { ref: { type: 'ref/prompt', name: 'pack' }, argument: { name: 'city', value: '' } }],
      ],
    };
    for (const server of [storyServer(), serverWith({ only: () => 'a tool' }), serverOf()]) {
      const client = await RawClient.connect(server, { revision }, overStdio);
      const { capabilities } = (await client.begin()) as { capabilities: JsonObject };
      for (const [capability, probes] of Object.entries(methods)) {
        for (const [method, params] of probes) {
          const { result, error } = await client.request(method, params);
          if (capability in capabilities) expect([method, error]).toEqual([method, undefined]);
          else expect([method, result, error?.code]).toEqual([method, undefined, -32601]);
        }
      }
      const lists = ['tools', 'prompts', 'resources'].filter((name) => name in capabilities);
      const notifications = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
      const honored = Object.keys((await listen(client, notifications)) as object).map((name) =>
        name.replace('ListChanged', ''),
      );
      expect(honored.sort()).toEqual(lists.filter((name) => (capabilities[name] as JsonObject)['listChanged']).sort());
    }
  });

  inStateless(['DISC-01', 'DISC-06', 'DISC-07'], 'lists all supported revisions, as a refusal does', async () => {
    for (const transport of RAW_TRANSPORTS) {
      const { supportedVersions } = await discover(serverOf(), transport);
      const client = await RawClient.connect(serverOf(), { revision });
      const { data } = await client.error('tools/list', { _meta: { [VERSION]: 'v999.0.0' } });
      expect(supportedVersions).toEqual(expect.arrayContaining(data?.['supported'] as string[]));
      expect(supportedVersions).toEqual(expect.arrayContaining(['2024-11-05', '2025-11-25', revision]));
    }
  });
});
