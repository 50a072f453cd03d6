import { describe, expect, jest } from '@jest/globals';
import { type JsonObject, NoInput, Prompt, Resource, Tool } from '@decorum/core';

import { transportsOf } from '../support/http-transports.js';
import { RawClient } from '../support/raw-client.js';
import { eachRevision } from '../support/requirements.js';
import { serverOf, serverWith } from './servers.js';

/** Secrets that no client may see. */
const CREDENTIALS = {
  password: 'hunter2-of-the-user',
  note: 'sent Bearer abc123.def456',
  url: 'https://ada:pw-in-url@bank.example/?access_token=tok-in-url',
};

describe('ctx.log', () => {
  eachRevision('LOG-11', 'shows the client no credentials, stacks and folders', async (revision) => {
    for (const transport of Object.values(transportsOf(revision))) {
      const cyclic: JsonObject = { ...CREDENTIALS, error: new Error('deep') };
      (cyclic as { self?: unknown }).self = cyclic;
      const failure = Object.assign(new Error("ENOENT: no such file, open '/srv/app/private/ada.json'"), {
        path: '/srv/app/private/ada.json',
      });
      const server = serverWith({
        talk({ log }) {
          log.error(CREDENTIALS, 'auth');
          log.error(CREDENTIALS.note);
          log.error(Object.assign(new Error('apiKey=key-in-error'), { password: 'hunter2-of-the-user' }));
          log.error({ failure });
          log.error(cyclic);
          log.error({ toJSON: () => CREDENTIALS });
          log.error({ tokens: 12, seat: '12A' });
          log.error({ password: ['hunter2', { deep: 'hunter2' }], plain: [['Bearer abc123.def456']] });
          return 'done';
        },
      });
      const client = await RawClient.connect(server, { revision, logLevel: 'error' }, transport);
      await client.call('talk');
      const sent = client.of('notifications/message').map(({ params }) => params?.['data']);
      const shown = {
        password: '[redacted]',
        note: 'sent Bearer [redacted]',
        url: 'https://[redacted]@bank.example/?access_token=[redacted]',
      };
      expect(sent.filter((_data, at) => at !== 4)).toEqual([
        shown,
        shown.note,
        'Error: apiKey=[redacted]',
        { failure: "Error: ENOENT: no such file, open 'ada.json'" },
        shown,
        { tokens: 12, seat: '12A' },
        { password: ['[redacted]', { deep: '[redacted]' }], plain: [['Bearer [redacted]']] },
      ]);
      expect(client.texts.join()).not.toMatch(/hunter2|abc123|pw-in-url|tok-in-url|key-in-error|\/srv|\bat .*:\d+:\d+/);
      await client.close();
    }
  });
});

describe('a member in ctx.log', () => {
  eachRevision('LOG-11', 'is redacted if its name implies a secret', async (revision) => {
    const names = ['sessionId', 'session_id', 'Mcp-Session-Id', 'sid', 'jwt', 'Set-Cookie', 'signing_key', 'dbPass'];
    const server = serverWith({
      talk({ log }) {
        for (const name of names) for (const data of [{ [name]: 'hunter2' }, `${name}=hunter2`]) log.error(data);
        log.error({ requestId: 'r-7', sessionCount: 'two' });
        return 'done';
      },
    });
    const client = await RawClient.connect(server, { revision, logLevel: 'error' });
    await client.call('talk');
    expect(client.of('notifications/message').map(({ params }) => params?.['data'])).toEqual([
      ...names.flatMap((name) => [{ [name]: '[redacted]' }, `${name}=[redacted]`]),
      { requestId: 'r-7', sessionCount: 'two' },
    ]);
  });
});

describe('a URL in ctx.log', () => {
  eachRevision('LOG-11', 'shows the client no password, with or without a user name', async (revision) => {
    const urls = [
      'redis://:pw-in-url@cache.example:6379/0',
      'postgres://ada:pw-in-url@db.example/app',
      'amqp://ada:pw-in-url:more@queue.example',
      'https://ada:pw-in-url@[::1]:8443/?a=b',
    ];
    const server = serverWith({
      talk({ log }) {
        for (const url of urls) for (const data of [url, { url }, [`cannot reach ${url}.`]]) log.error(data);
        return 'done';
      },
    });
    const client = await RawClient.connect(server, { revision, logLevel: 'error' });
    await client.call('talk');
    const sent = client.of('notifications/message').map(({ params }) => JSON.stringify(params?.['data']));
    expect(sent).toHaveLength(12);
    for (const text of sent) expect(text).toMatch(/:\/\/\[redacted\]@[a-z[]/);
    expect(sent.join()).not.toContain('pw-in-url');
  });
});

/** Handlers that never end by themselves. */
class Waiting {
  @Tool({ input: NoInput })
  tool() {
    return new Promise<never>(() => {});
  }

  @Prompt({ input: NoInput })
  prompt() {
    return this.tool();
  }

  @Resource('wait://x')
  resource() {
    return this.tool();
  }
}

describe('a request that the client cancels', () => {
  eachRevision('CANC-06', 'has its reason in the log of the operator', async (revision) => {
    const debug = jest.fn();
    const logger = { warn: () => {}, error: () => {}, debug };
    const client = await RawClient.connect(serverOf({ logger, providers: [Waiting] }), { revision });
    for (const [id, method, params] of [
      ['w', 'tools/call', { name: 'tool' }],
      [0, 'prompts/get', { name: 'prompt' }],
      ['', 'resources/read', { uri: 'wait://x' }],
    ] as const) {
      for (const reason of [`Escape was pressed in ${method}.`, '', undefined]) {
        debug.mockClear();
        void client.send(client.buildMessage(id, method, params));
        await client.notify('notifications/cancelled', { requestId: id, ...(reason !== undefined && { reason }) });
        const details = { requestId: id, method, ...(reason !== undefined && { reason }) };
        expect(debug.mock.calls).toEqual([[details, 'the client cancelled a request']]);
      }
    }
  });
});
