// Where servers keep their data, and when their stores open and close. What is stored is in records.test.ts.
import cluster from 'node:cluster';

import { describe, expect, it } from '@jest/globals';
import {
  type Context,
  type KeyValueStore,
  McpServer,
  type McpServerOptions,
  MemoryKeyValueStore,
  mount,
  NoInput,
} from '@decorum/core';
import { connect } from '@decorum/testing';

import { MemoryCluster } from '../../../../test/support/memory-cluster.js';
import { RUN, type RunFacts } from '../../src/registry/caller.js';
import { ERAS, reporting, textOf } from './serving.js';

const SECRET = 's'.repeat(32);
const KEY = ['memory', 'visits'] as const;

/** Counts its calls in a record. */
async function visit(_input: object, ctx: Context): Promise<string> {
  const { records } = (ctx as unknown as { readonly [RUN]: RunFacts })[RUN];
  const now = await records.change<{ n: number }>(KEY, (before) => ({
    value: { n: (before?.n ?? 0) + 1 },
    ttlMs: 1e6,
  }));
  return String(now?.n);
}

/** A server with a tool that counts its calls. */
function counting(options: Partial<McpServerOptions> = {}) {
  const made = reporting(options);
  made.server.addTool({ name: 'visit', input: NoInput }, visit);
  return made;
}

const visitOf = async (server: McpServer<readonly object[]>, tool = 'visit') => {
  const client = await connect(server);
  return textOf(await client.request('tools/call', { name: tool }));
};

/** A store that notes its calls. */
class Noted extends MemoryKeyValueStore {
  readonly log: string[] = [];
  open?(): void | Promise<void> {
    this.log.push('open');
  }
  close?(): void | Promise<void> {
    this.log.push('close');
  }
  override set(...given: Parameters<KeyValueStore['set']>) {
    this.log.push('set');
    return super.set(...given);
  }
}

describe('the data of a server', () => {
  it.each(ERAS)('is kept in memory by default, of which no warning is given [%s]', async (era) => {
    const { server, warnings, errors } = counting();
    const client = await connect(server, { era });
    for (const n of ['1', '2']) expect(textOf(await client.request('tools/call', { name: 'visit' }))).toBe(n);
    expect([warnings, errors]).toEqual([[], []]);
  });

  it('is kept in the store of the cluster', async () => {
    const nodes = new MemoryCluster();
    const serving = () => counting({ cluster: nodes.node(), secret: SECRET }).server;
    const [one, two] = [serving(), serving()];
    expect([await visitOf(one), await visitOf(two), await visitOf(one)]).toEqual(['1', '2', '3']);
  });

  it('is kept in `store` in spite of a cluster, and is not seen by servers of other names', async () => {
    const store: KeyValueStore = Object.setPrototypeOf({ isDurable: true }, memoryMethods());
    const options = { store, secret: SECRET };
    const one = counting({ ...options, cluster: new MemoryCluster().node() }).server;
    const two = counting(options).server;
    const other = counting({ ...options, name: 'other' }).server;
    expect([await visitOf(one), await visitOf(two), await visitOf(other)]).toEqual(['1', '2', '1']);
  });

  it('is kept nowhere by a worker that shares nothing, and the operator is told so', async () => {
    const isWorker = Object.getOwnPropertyDescriptor(cluster, 'isWorker') as PropertyDescriptor;
    Object.defineProperty(cluster, 'isWorker', { ...isWorker, value: true });
    try {
      const { server, errors } = counting();
      const client = await connect(server);
      await expect(client.request('tools/call', { name: 'visit' })).rejects.toThrow('cannot reach its data');
      expect(errors.map(({ message }) => message)).toEqual([
        'This worker of `node:cluster` shares no data with the others. Start the program with `decorum start --workers`, or pass `cluster` or `store`.',
      ]);
    } finally {
      Object.defineProperty(cluster, 'isWorker', isWorker);
    }
  });
});

const memoryMethods = () => {
  const store = new MemoryKeyValueStore();
  return {
    get: (key: string) => store.get(key),
    set: (...given: Parameters<KeyValueStore['set']>) => store.set(...given),
    delete: (...given: Parameters<KeyValueStore['delete']>) => store.delete(...given),
  };
};

describe('a store', () => {
  it('is opened before the first message, and closed after the last call', async () => {
    const store = new Noted();
    const { server } = counting({ store });
    let go = () => {};
    const held = new Promise<void>((resolve) => (go = resolve));
    let began = () => {};
    const running = new Promise<void>((resolve) => (began = resolve));
    server.addTool({ name: 'late', input: NoInput }, async (input, ctx) => {
      began();
      await held;
      return await visit(input, ctx);
    });
    const client = await connect(server);
    expect(store.log).toEqual(['open']);
    const called = client.request('tools/call', { name: 'late' });
    await running;
    const closed = server.close();
    go();
    await closed;
    expect(textOf(await called)).toBe('1');
    expect(store.log).toEqual(['open', 'set', 'close']);
  });

  it('of several servers is opened with the first, closed with the last, and opened again', async () => {
    const store = new Noted();
    const serving = () => counting({ store, secret: SECRET }).server;
    const [one, two, three] = [serving(), serving(), serving()];
    expect([await visitOf(one), await visitOf(two)]).toEqual(['1', '2']);
    await one.close();
    expect(store.log).toEqual(['open', 'set', 'set']);
    await two.close();
    expect(await visitOf(three)).toBe('3');
    expect(store.log).toEqual(['open', 'set', 'set', 'close', 'open', 'set']);
    await three.close();
  });

  it('that can not be opened stops the start of each of its servers', async () => {
    const store = new Noted();
    let isFull = true;
    store.open = async () => {
      if (isFull) throw new Error('disk full');
    };
    const [one, two] = [counting({ store }).server, counting({ store }).server];
    for (const server of [one, two]) {
      await expect(connect(server)).rejects.toThrow('disk full');
      await server.close();
    }
    isFull = false;
    expect(await visitOf(counting({ store }).server)).toBe('1');
  });
});

describe('a mounted server', () => {
  const mounted = (inner: Partial<McpServerOptions>, outer: Partial<McpServerOptions>) => {
    const { server } = counting({ name: 'inner', ...inner });
    const made = reporting({ ...outer, providers: [mount(server, { prefix: 'inner' })] });
    made.server.addTool({ name: 'visit', input: NoInput }, visit);
    return { ...made, inner: server };
  };

  it('keeps its data with that of the server that mounts it', async () => {
    const [own, store] = [new Noted(), new Noted()];
    const { server, warnings, inner } = mounted({ store: own }, { store });
    expect([await visitOf(server, 'inner_visit'), await visitOf(server)]).toEqual(['1', '2']);
    expect([own.log, store.log, warnings]).toEqual([['open'], ['open', 'set', 'set'], []]);
    // its own clients are served from its own
    expect(await visitOf(inner)).toBe('1');
  });

  it('with a `store` in one without is warned of', () => {
    expect(mounted({ store: new Noted() }, {}).warnings).toEqual([
      'what calls of "test" record is kept in memory, and not in the `store` of the mounted server "inner". Pass `store` to "test"',
    ]);
    expect(mounted({}, { store: new Noted() }).warnings).toEqual([]);
    expect(mounted({}, {}).warnings).toEqual([]);
  });
});
