import { describe, expect } from '@jest/globals';
import { Completion, type Context, type JsonObject, McpError, NoInput, Prompt, Resource, Tool } from '@decorum/core';

import { overHttp, transportsOf } from '../support/http-transports.js';
import { type Message, overMemory, overStdio, RawClient, textOf } from '../support/raw-client.js';
import { eachRevision, inStateless, type Revision, STATELESS } from '../support/requirements.js';
import { asked, declares, messagesOf, postTo } from '../support/stateless-post.js';
import { ACKNOWLEDGED, listening } from './listening.js';
import { ADA, form } from './rounds.js';
import { deferred, serverOf, serverWith } from './servers.js';

const call = (client: RawClient, id: unknown, name: string, meta?: JsonObject) =>
  client.buildMessage(id as string, 'tools/call', { name, ...(meta && { _meta: meta }) });

/** The progress notifications that clients receive from a tool, over every transport alike. */
async function progressOf(revision: Revision, report: (context: Context) => void, token?: unknown) {
  const told = [];
  for (const transport of Object.values(transportsOf(revision))) {
    const client = await RawClient.connect(serverWith({ report }), { revision }, transport);
    await client.send(call(client, 'call', 'report', token === undefined ? undefined : { progressToken: token }));
    expect(await client.response('call')).toHaveProperty('result.content');
    told.push(client.of('notifications/progress').map(({ params }) => params));
  }
  for (const each of told) expect(each).toEqual(told[0]);
  return told[0] ?? [];
}

describe('progress', () => {
  eachRevision('PROG-01', 'is sent only on request and while the call is in flight', async (revision) => {
    expect(await progressOf(revision, (context) => context.progress(1))).toEqual([]);
    let late: Context | undefined;
    const server = serverWith({
      work(context) {
        late = context;
        context.progress(1);
      },
    });
    const client = await RawClient.connect(server, { revision });
    await client.send(call(client, 1, 'work', { progressToken: 't' }));
    late?.progress(2);
    await client.settled();
    expect(client.of('notifications/progress')).toHaveLength(1);
    expect(client.received.findIndex(({ method }) => method === 'notifications/progress')).toBeLessThan(
      client.received.findIndex(({ id }) => id === 1),
    );
  });

  eachRevision(
    'PROG-01',
    'is sent from every kind of handler, and only for the token of its request',
    async (revision) => {
      const input = { type: 'object', properties: { id: { type: 'string' } } };
      class Working {
        @Tool({ input: NoInput })
        tool(_input: NoInput, context: Context) {
          return this.work(context);
        }

        @Prompt({ input: NoInput })
        prompt(_input: NoInput, context: Context) {
          return this.work(context);
        }

        @Resource('work://{id}', { input, list: 'listed' })
        resource(_input: object, context: Context) {
          return this.work(context);
        }

        @Completion({ for: 'resource', argument: 'id' })
        complete(_value: string, context: Context) {
          return [this.work(context)];
        }

        listed(context: Context) {
          return [`work://${this.work(context)}`];
        }

        private work(context: Context) {
          context.progress(0);
          return 'worked';
        }
      }
      const ref = { type: 'ref/resource', uri: 'work://{id}' };
      for (const transport of Object.values(transportsOf(revision))) {
        const client = await RawClient.connect(serverOf({ providers: [Working] }), { revision }, transport);
        for (const [method, params] of [
          ['tools/call', { name: 'tool' }],
          ['prompts/get', { name: 'prompt' }],
          ['resources/read', { uri: 'work://x' }],
          ['resources/list', {}],
          ['completion/complete', { ref, argument: { name: 'id', value: '' } }],
        ] as const) {
          const before = client.of('notifications/progress').length;
          await client.result(method, { ...params, _meta: { progressToken: method } });
          for (const meta of [{}, { progresstoken: 1 }]) await client.result(method, { ...params, _meta: meta });
          await client.settled();
          const told = client.of('notifications/progress').slice(before);
          expect(told.map((message) => message.params)).toEqual([{ progressToken: method, progress: 0 }]);
        }
      }
    },
  );

  eachRevision('PROG-02', 'grows', async (revision) => {
    const values = [1, 1, 0.5, 2, Number.NaN, 1.5, 2.5, Number.NEGATIVE_INFINITY, 2.5, 3];
    const told = await progressOf(revision, (context) => values.forEach((value) => context.progress(value)), 't');
    expect(told.map((params) => params?.['progress'])).toEqual([1, 2, 2.5, 3]);
  });

  eachRevision('PROG-02', 'grows, also if its total or its message changes (#22)', async (revision) => {
    const report = (context: Context) => {
      context.progress(5, 10, 'a');
      context.progress(1, 20, 'b');
      context.progress(5, undefined, 'b');
      context.progress(6, 5);
      context.progress(2, Number.NaN, 'c');
      context.progress(7, 10, 'a');
    };
    const told = await progressOf(revision, report, 't');
    expect(told.map((params) => [params?.['progress'], params?.['total']])).toEqual([
      [5, 10],
      [6, 5],
      [7, 10],
    ]);
  });

  eachRevision('PROG-03', 'stops when the request is answered', async (revision) => {
    for (const transport of Object.values(transportsOf(revision))) {
      let working = deferred<Context>();
      const begin = (context: Context) => {
        context.progress(1);
        working.resolve(context);
      };
      const fail = (context: Context) => {
        begin(context);
        throw new McpError('invalid-params', 'no');
      };
      const later = {
        waits: async (context: Context) => begin(context),
        rejects: async (context: Context) => fail(context),
      };
      const server = serverWith({ works: begin, fails: fail, ...later });
      const client = await RawClient.connect(server, { revision }, transport);
      for (const name of ['works', 'fails', 'waits', 'rejects']) {
        working = deferred();
        const before = client.received.length;
        void client.send(call(client, name, name, { progressToken: name }));
        const late = await working.promise;
        expect((await client.response(name)).error?.code).toBe(/fail|reject/.test(name) ? -32602 : undefined);
        for (const progress of [2, 3]) late.progress(progress);
        await client.settled();
        late.progress(4);
        await client.settled();
        const told = client.received.slice(before).filter(({ method }) => method === 'notifications/progress');
        expect(told.map(({ params }) => params)).toEqual([{ progressToken: name, progress: 1 }]);
      }
    }
  });

  eachRevision('PROG-04', 'has the unchanged token', async (revision) => {
    for (const token of ['abc', '', '0', 'a"b\\c\n€', 0, 1, -1, Number.MAX_SAFE_INTEGER]) {
      const told = await progressOf(revision, (context) => context.progress(1), token);
      expect(told).toEqual([{ progressToken: token, progress: 1 }]);
    }
  });

  eachRevision('PROG-05', 'may be a fraction, of an unknown total', async (revision) => {
    const report = (context: Context) => {
      context.progress(0.25);
      context.progress(0.5, 0.75);
      context.progress(0.625, 0);
      context.progress(1, 2);
      context.progress(2);
    };
    expect(await progressOf(revision, report, 't')).toEqual([
      { progressToken: 't', progress: 0.25 },
      { progressToken: 't', progress: 0.5, total: 0.75 },
      { progressToken: 't', progress: 0.625, total: 0 },
      { progressToken: 't', progress: 1, total: 2 },
      { progressToken: 't', progress: 2 },
    ]);
  });

  eachRevision('PROG-06', 'has a message for users', async (revision) => {
    const told = await progressOf(revision, (context) => context.progress(1, 2, 'Half way'), 't');
    expect(told).toEqual([{ progressToken: 't', progress: 1, total: 2, message: 'Half way' }]);
    const messages = ['', 'a', undefined, 'ü "q"\n\\', '0', 'x'.repeat(100)];
    const report = (context: Context) => {
      for (const [at, message] of messages.entries()) context.progress(at, at % 2 ? 9 : undefined, message);
    };
    expect(await progressOf(revision, report, 't')).toEqual(
      messages.map((message, at) => ({
        progressToken: 't',
        progress: at,
        ...(at % 2 && { total: 9 }),
        ...(message !== undefined && { message }),
      })),
    );
  });

  eachRevision('PROG-06', 'has a message for users, if a generator yields it', async (revision) => {
    const steps = [
      { progress: 1, total: 4, message: 'a' },
      { progress: 2, message: 'b' },
      { progress: 3, total: 4 },
    ];
    class Generating {
      @Tool()
      *now() {
        yield* steps;
        return 'done';
      }

      @Tool()
      async *later() {
        yield* steps;
        return 'done';
      }
    }
    const server = serverOf({ providers: [Generating] });
    for (const transport of Object.values(transportsOf(revision))) {
      const client = await RawClient.connect(server, { revision }, transport);
      for (const progressToken of ['now', 'later']) {
        const result = await client.result('tools/call', { name: progressToken, _meta: { progressToken } });
        expect(textOf(result)).toBe('done');
        const told = client
          .of('notifications/progress')
          .filter(({ params }) => params?.['progressToken'] === progressToken);
        expect(told.map(({ params }) => params)).toEqual(steps.map((step) => ({ progressToken, ...step })));
      }
    }
  });

  eachRevision('PROG-08', 'is optional', async (revision) => {
    for (const transport of Object.values(transportsOf(revision))) {
      const client = await RawClient.connect(serverWith({ rest: () => 'rested' }), { revision }, transport);
      const result = await client.result('tools/call', { name: 'rest', _meta: { progressToken: 't' } });
      expect(textOf(result)).toBe('rested');
      await client.settled();
      expect(client.of('notifications/progress')).toEqual([]);
    }
  });
});

describe('progress without a session', () => {
  const revision = STATELESS;
  const working = () => serverWith({ work: (context) => context.progress(1, 2), rest: () => 'rested' });
  const PROGRESS = 'notifications/progress';

  inStateless('PROG-10', 'is never sent on a subscription', async () => {
    for (const transport of [overStdio, overMemory, overHttp]) {
      const server = working();
      const client = await RawClient.connect(server, { revision }, transport);
      await listening(client, 'listening', { progressToken: 'of listening' });
      await client.send(call(client, 'x', 'work', { progressToken: 'of work' }));
      await client.response('x');
      server.notify.toolsChanged();
      await client.find(({ method }) => method === 'notifications/tools/list_changed');
      expect(client.of(PROGRESS).map(({ params }) => params)).toEqual([
        { progressToken: 'of work', progress: 1, total: 2 },
      ]);
    }
    const server = working();
    const client = await RawClient.connect(server, { revision });
    const params = { notifications: { toolsListChanged: true }, _meta: { progressToken: 'same' } };
    const stream = await postTo(server, client.buildMessage(1, 'subscriptions/listen', params));
    await (await postTo(server, call(client, 2, 'work', { progressToken: 'same' }))).text();
    await server.close();
    const methods = (await messagesOf(stream)).map(({ method = 'response' }) => method);
    expect(methods).toEqual([ACKNOWLEDGED, 'response']);
  });

  inStateless('PROG-11', 'turns the response to its request into a stream', async () => {
    const server = working();
    const client = await RawClient.connect(server, { revision });
    const typeOf = (response: Response) => response.headers.get('content-type');
    const stream = await postTo(server, call(client, 'x', 'work', { progressToken: 0 }));
    expect(typeOf(stream)).toBe('text/event-stream');
    expect(await messagesOf(stream)).toMatchObject([
      { method: PROGRESS, params: { progressToken: 0, progress: 1, total: 2 } },
      { id: 'x', result: { resultType: 'complete' } },
    ]);
    for (const message of [call(client, 1, 'work'), call(client, 2, 'rest', { progressToken: 0 })]) {
      const response = await postTo(server, message);
      expect(typeOf(response)).toMatch(/^application\/json/);
      expect(await response.json()).toHaveProperty('result');
    }
  });

  inStateless('PROG-11', 'stays on the stream of its own request if others have the same token (#22)', async () => {
    const [began, go] = [
      [deferred(), deferred()],
      [deferred(), deferred()],
    ];
    let calls = 0;
    const work = async (context: Context) => {
      const n = calls++;
      context.progress(10 + n);
      began[n]?.resolve();
      await go[n]?.promise;
      context.progress(20 + n);
    };
    const server = serverWith({ work });
    const responses = [];
    for (const n of [0, 1]) {
      const client = await RawClient.connect(server, { revision });
      responses.push(postTo(server, call(client, 1, 'work', { progressToken: 1 })));
      await began[n]?.promise;
    }
    for (const each of go.reverse()) each.resolve();
    for (const [n, response] of responses.entries()) {
      const told = (await messagesOf(await response)).map(({ params }) => params?.['progress']);
      expect(told).toEqual([10 + n, 20 + n, undefined]);
    }
  });

  inStateless('PROG-11', 'turns the response to a later round into a stream, after the last answer', async () => {
    const work = async (context: Context) => {
      for (const step of [1, 2]) {
        await form(context);
        context.progress(step);
      }
      return 'worked';
    };
    const server = serverWith({ work });
    const meta = { progressToken: 't', ...declares({ elicitation: {} }) };
    let more: JsonObject = {};
    for (const told of [[], [1], [2]]) {
      const response = await postTo(server, asked(1, 'tools/call', { name: 'work', ...more }, meta));
      const isStream = response.headers.get('content-type') === 'text/event-stream';
      const messages = isStream ? await messagesOf(response) : [(await response.json()) as Message];
      expect(messages.slice(0, -1).map(({ params }) => params?.['progress'])).toEqual(told);
      const { inputRequests = {}, requestState } = messages.at(-1)?.result ?? {};
      const keys = Object.keys(inputRequests as JsonObject);
      more = { inputResponses: Object.fromEntries(keys.map((key) => [key, ADA])), requestState };
    }
  });
});
