// Stateless subscriptions, in every way that a request can take.
import { describe, expect } from '@jest/globals';
import { type Access, type JsonObject, NoInput, Prompt, Resource, Tool } from '@decorum/core';

import { transportsOf } from '../support/http-transports.js';
import { type Message, RawClient } from '../support/raw-client.js';
import { eachRevision } from '../support/requirements.js';
import { deferred, serverOf } from './servers.js';
import { type Setting, waysOf } from './ways.js';

const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';
const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';
const UPDATED = 'notifications/resources/updated';
const PAGE: JsonObject = { type: 'object', properties: { at: { type: 'string' } } };

const shelf = ({ options, guard }: Setting) => {
  class Shelf {
    @Tool({ input: NoInput, ...guard })
    tool() {
      return 'tool';
    }

    @Prompt({ input: NoInput, ...guard })
    prompt() {
      return 'prompt';
    }

    @Resource('docs://a', guard)
    fixed() {
      return 'a';
    }

    @Resource('docs://pages/{at}', { input: PAGE, ...guard })
    page() {
      return 'page';
    }
  }
  return serverOf({ providers: [Shelf], ...options });
};

/** The messages of each subscription: methods, with what else their params or results have. */
function heardBy(client: RawClient): Map<unknown, unknown[]> {
  const heard = new Map<unknown, unknown[]>();
  for (const { id, method, params, result } of client.received) {
    const { _meta = {}, ...rest } = (params ?? result ?? {}) as JsonObject;
    const key = (_meta as JsonObject)[SUBSCRIPTION];
    if (key === undefined) continue;
    if (method === undefined) expect(id).toBe(key);
    else expect(_meta).toEqual({ [SUBSCRIPTION]: key });
    heard.set(key, [...(heard.get(key) ?? []), [method ?? 'result', rest]]);
  }
  return heard;
}

const changed = (list: string) => [`notifications/${list}/list_changed`, {}];
const updated = (uri: string) => [UPDATED, { uri }];
const acknowledged = (notifications: object) => [ACKNOWLEDGED, { notifications }];
const ENDED = ['result', { resultType: 'complete' }];

describe('a subscription, however it is requested,', () => {
  eachRevision(
    ['SUB-01', 'SUB-02', 'SUB-03', 'SUB-04', 'SUB-05', 'SUB-06', 'SUB-09'],
    'is acknowledged, gets what it asked for under its own id, and ends with a result',
    async (revision) => {
      const [a, page] = ['docs://a', 'docs://pages/1'];
      /** What is asked for, what is acknowledged, and what is heard then. */
      const cases: readonly (readonly [id: string | number, asked: JsonObject, honored: object, heard: unknown[]])[] = [
        [0, {}, {}, []],
        ['', { toolsListChanged: true }, { toolsListChanged: true }, [changed('tools')]],
        [
          '0',
          { promptsListChanged: true, toolsListChanged: false },
          { promptsListChanged: true },
          [changed('prompts')],
        ],
        [-1, { resourcesListChanged: true, tools: true }, { resourcesListChanged: true }, [changed('resources')]],
        ['a', { resourceSubscriptions: [a, 'docs://x'] }, { resourceSubscriptions: [a] }, [updated(a)]],
        [
          7,
          { resourceSubscriptions: ['docs://pages', page] },
          { resourceSubscriptions: [page] },
          [updated(page), updated(`${page}/x`)],
        ],
        ['7', { resourceSubscriptions: ['docs://x'] }, { resourceSubscriptions: [] }, []],
        ['odd', { toolsListChanged: 'true', promptsListChanged: 1, resourcesListChanged: null }, {}, []],
      ];
      for (const { name: way, client, server, send } of await waysOf(revision, shelf)) {
        for (const [id, notifications] of cases) {
          void send(client.buildMessage(id, 'subscriptions/listen', { notifications }));
          await client.find(({ params }) => (params?.['_meta'] as JsonObject | undefined)?.[SUBSCRIPTION] === id);
        }
        const all = {
          toolsListChanged: true,
          promptsListChanged: true,
          resourcesListChanged: true,
          resourceSubscriptions: [page],
        };
        void send(client.buildMessage('all', 'subscriptions/listen', { notifications: all }));
        await client.find(({ params }) => (params?.['_meta'] as JsonObject | undefined)?.[SUBSCRIPTION] === 'all');
        for (const uri of [a, page, 'docs://b', 'docs://pages/2']) server.notify.resourceUpdated(uri);
        server.notify.resourceUpdated(`${page}/x`, page);
        const { toolsChanged, promptsChanged, resourcesChanged } = server.notify;
        for (const change of [toolsChanged, promptsChanged, resourcesChanged, toolsChanged]) change();
        await client.find(() => heardBy(client).get('all')?.length === 6);
        await client.settled();
        const closing = server.close();
        for (const [id] of cases) await client.response(id);
        await client.response('all');
        const heard = heardBy(client);
        for (const [id, , honored, told] of cases) {
          const [first, ...rest] = heard.get(id) ?? [];
          expect([way, id, first, rest.pop()]).toEqual([way, id, acknowledged(honored), ENDED]);
          // while an access function waits, an update of another resource may come first
          expect([way, id, rest.map(String).sort()]).toEqual([way, id, told.map(String).sort()]);
          expect(new Set(rest)).toEqual(new Set(told));
        }
        expect(heard.size).toBe(cases.length + 1);
        await client.close();
        await closing;
      }
    },
  );

  eachRevision(
    ['SUB-02', 'SUB-03', 'SUB-07'],
    'gets nothing before its acknowledgement, and nothing at all if it is cancelled before',
    async (revision) => {
      for (const [name, transport] of Object.entries(transportsOf(revision))) {
        let [asked, answer] = [deferred(), deferred<boolean>()];
        const access: Access = async () => {
          asked.resolve();
          return await answer.promise;
        };
        const server = shelf({ options: {}, guard: { access } });
        const client = await RawClient.connect(server, { revision }, transport);
        const changeAll = () => {
          server.notify.resourceUpdated('docs://a');
          server.notify.toolsChanged();
        };
        const notifications = { toolsListChanged: true, resourceSubscriptions: ['docs://a'] };
        const listen = async (id: string) => {
          [asked, answer] = [deferred(), deferred<boolean>()];
          void client.send(client.buildMessage(id, 'subscriptions/listen', { notifications }));
          await asked.promise;
          changeAll();
        };
        // frames of an earlier subscription may still arrive on their own stream
        const isTold = (id: string, which: string) => (message: Message) =>
          message.method === which && (message.params?.['_meta'] as JsonObject | undefined)?.[SUBSCRIPTION] === id;
        await listen('given up');
        await client.cancel('given up');
        await client.settled();
        answer.resolve(true);
        await client.settled();
        changeAll();
        await client.settled();
        expect([name, heardBy(client)]).toEqual([name, new Map()]);
        for (const isAdmitted of [true, false]) {
          const id = `admitted: ${isAdmitted}`;
          client.received.length = 0;
          await listen(id);
          await client.settled();
          expect(heardBy(client).get(id)).toBeUndefined();
          answer.resolve(isAdmitted);
          await client.find(isTold(id, ACKNOWLEDGED));
          const resourceSubscriptions = isAdmitted ? ['docs://a'] : [];
          expect(heardBy(client).get(id)?.[0]).toEqual(acknowledged({ ...notifications, resourceSubscriptions }));
          server.notify.resourceUpdated('docs://a');
          if (isAdmitted) await client.find(isTold(id, UPDATED));
          await client.settled();
          const told = heardBy(client)
            .get(id)
            ?.filter((each) => (each as unknown[])[0] === UPDATED);
          expect([name, isAdmitted, told]).toEqual([name, isAdmitted, isAdmitted ? [updated('docs://a')] : []]);
          await client.cancel(id);
        }
      }
    },
  );
});
