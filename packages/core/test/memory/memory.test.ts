// What handlers remember for their callers: values, names, callers, and what is refused.
import { afterEach, describe, expect, it, jest } from '@jest/globals';

import { type Context, type Memory, MemoryKeyValueStore, type Principal, Resource } from '@decorum/core';
import { connect } from '@decorum/testing';

import { clientOf, CountingStore, type Handler, Id, KINDS, PAIRS, remembering, shared } from './remembering.js';

afterEach(() => void jest.useRealTimers());

const list: Handler = async (ctx, { id }) => {
  const cart = ctx.memory<string[]>('cart');
  return id === 'read' ? ((await cart.get()) ?? []) : await cart.update((now = []) => [...now, String(id)]);
};

const ANN: Principal = { subject: 'ann' };

describe('the memory of a caller', () => {
  it.each(PAIRS)('is kept from call to call for a $kind, in $revision over $via', async ({ kind, revision, via }) => {
    const { server } = remembering(list);
    const call = KINDS[kind]!;
    // without a session, HTTP has to know the caller
    const client = await connect(server, { via, revision, principal: ANN });
    expect(await call(client, 'a')).toBe('["a"]');
    expect(await call(client, 'b')).toBe('["a","b"]');
    const later = await connect(server, { via, revision: '2026-07-28', principal: ANN });
    expect(await call(later, 'read')).toBe('["a","b"]');
    await Promise.all([client.close(), later.close()]);
  });

  it('belongs to a user over sessions, transports and clients, and to no other', async () => {
    const { server } = remembering(list);
    const issued = { subject: 'ann', issuer: 'https://a.example' };
    const add = async (principal: Principal, id: string, via: 'memory' | 'http' = 'memory') => {
      const { client, call } = await clientOf(server, { principal, via });
      return await call({ id }).finally(async () => await client.close());
    };
    expect(await add(ANN, 'a')).toBe('["a"]');
    expect(await add({ ...ANN, clientId: 'other', scopes: ['x'] }, 'b', 'http')).toBe('["a","b"]');
    expect(await add({ subject: 'bob' }, 'c')).toBe('["c"]');
    expect(await add(issued, 'd')).toBe('["d"]');
    expect(await add({ ...issued, issuer: 'https://b.example' }, 'read')).toBe('[]');
  });

  it('belongs to a session of an anonymous caller, and to no other', async () => {
    const { server } = remembering(list);
    const [one, two] = [await clientOf(server, { via: 'http' }), await clientOf(server, { via: 'http' })];
    expect(await one.call({ id: 'a' })).toBe('["a"]');
    expect(await two.call({ id: 'read' })).toBe('[]');
    expect(await one.call({ id: 'b' })).toBe('["a","b"]');
    await Promise.all([one.client.close(), two.client.close()]);
  });

  it('belongs to whoever runs the server over stdio', async () => {
    const { server } = remembering(list);
    const [one, two] = [
      await clientOf(server, { via: 'stdio' }),
      await clientOf(server, { via: 'stdio', era: 'stateless' }),
    ];
    expect(await one.call({ id: 'a' })).toBe('["a"]');
    expect(await two.call({ id: 'b' })).toBe('["a","b"]');
  });

  it('is refused to callers that nothing tells apart, with an error that says so', async () => {
    const { server, errors } = remembering(list);
    const client = await connect(server, { via: 'http', era: 'stateless' });
    for (const call of Object.values(KINDS)) {
      await expect(call(client, 'a').then((text) => Promise.reject(new Error(text)))).rejects.toThrow(
        /Sign in, or connect with a session\./,
      );
    }
    expect(errors).toEqual([]);
    await client.close();
  });

  it('holds copies: neither what was set nor what was read changes it', async () => {
    const { server } = remembering(async (ctx) => {
      const cart = ctx.memory<{ items: string[] }>('cart');
      const set = { items: ['a'] };
      await cart.set(set);
      set.items.push('later');
      const read = await cart.get();
      read?.items.push('read');
      return await cart.get();
    });
    const { call } = await clientOf(server);
    expect(await call()).toBe('{"items":["a"]}');
  });

  it('makes a JSON round trip', async () => {
    const { server } = remembering(async (ctx) => {
      const memory = ctx.memory<object>('x');
      await memory.set({ at: new Date(0), big: 2n ** 70n, tags: new Map([['a', 1]]), no: undefined });
      return await memory.get();
    });
    const { call } = await clientOf(server);
    expect(await call()).toBe('{"at":"1970-01-01T00:00:00.000Z","big":"1180591620717411303424","tags":{"a":1}}');
  });

  it.each(['constructor', '__proto__', 'toString', ' ', '\u0000', '🦊'.repeat(32)])(
    'takes the name %j',
    async (name) => {
      const { server } = remembering(async (ctx, { id }) => {
        const memory = ctx.memory<unknown>(name);
        if (id !== undefined) await memory.set(id);
        return (await memory.get()) ?? 'none';
      });
      const { call } = await clientOf(server);
      expect([await call(), await call({ id: 'a' }), await call()]).toEqual(['none', 'a', 'a']);
    },
  );

  it.each([
    ['', {}],
    ['x'.repeat(65), {}],
    [7, {}],
    ['x', { ttl: '1y' }],
    ['x', { ttl: 0 }],
    ['x', { TTL: 1 }],
    ['x', 5],
    ['x', { ttl: '366d' }],
  ])('refuses the name %j with the options %j', async (name, options) => {
    const { server, errors } = remembering((ctx) => ctx.memory(name as string, options as object));
    const { call } = await clientOf(server);
    expect(await call()).toMatch(/Internal error/);
    expect(errors).toEqual([
      expect.objectContaining({ name: 'TypeError', message: expect.stringContaining('ctx.memory') }),
    ]);
  });

  const cycle: unknown[] = [];
  cycle.push(cycle);
  it.each([
    ['undefined', (memory: Memory<unknown>) => memory.set(undefined), /undefined\. Use `delete`/],
    ['a cycle', (memory: Memory<unknown>) => memory.set(cycle), /ctx\.memory\('x'\) cannot be written as JSON/],
    ['a function', (memory: Memory<unknown>) => memory.set(() => {}), /ctx\.memory\('x'\)/],
    ['NaN', (memory: Memory<unknown>) => memory.set({ a: NaN }), /ctx\.memory\('x'\)/],
    ['a promise', (memory: Memory<unknown>) => memory.set(Promise.resolve(1)), /promise/],
    [
      'an async update',
      (memory: Memory<unknown>) => memory.update(async () => await Promise.resolve(1)),
      /synchronous/,
    ],
    ['an update to nothing', (memory: Memory<unknown>) => memory.update(() => undefined), /undefined/],
    [
      'an error',
      (memory: Memory<unknown>) =>
        memory.update(() => {
          throw new Error('my own');
        }),
      /my own/,
    ],
  ])('refuses %s, and writes nothing', async (_what, act, problem) => {
    const store = new CountingStore();
    const { server, errors } = remembering(
      async (ctx) => {
        await ctx.memory('y').set(1);
        await act(ctx.memory('x'));
      },
      { store },
    );
    const { call } = await clientOf(server);
    expect(await call()).toMatch(/Internal error/);
    expect(errors.map(({ message }) => message)).toEqual([expect.stringMatching(problem)]);
    expect(store.writes).toBe(0);
  });

  it('goes on without a change that has failed', async () => {
    const { server } = remembering(async (ctx) => {
      const memory = ctx.memory<number>('x');
      const failing = memory.update(() => {
        throw new Error('no');
      });
      const [, value] = await Promise.allSettled([failing, memory.update((now = 0) => now + 1)]);
      return [value, await memory.get()];
    });
    const { call } = await clientOf(server);
    expect(await call()).toBe('[{"status":"fulfilled","value":1},1]');
    expect(await call()).toBe('[{"status":"fulfilled","value":2},2]');
  });

  it('expires a time after the last write, which reading does not change', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'setTimeout'] });
    const { server } = remembering(async (ctx, { id }) => {
      const [short, long] = [ctx.memory<unknown>('short', { ttl: '1m' }), ctx.memory<unknown>('long')];
      if (id !== undefined) await Promise.all([short.set(id), long.set(id)]);
      return [await short.get(), await long.get()];
    });
    const { call } = await clientOf(server);
    await call({ id: 'a' });
    jest.setSystemTime(Date.now() + 59_000);
    expect(await call()).toBe('["a","a"]');
    jest.setSystemTime(Date.now() + 2000);
    expect(await call()).toBe('[null,"a"]');
    jest.setSystemTime(Date.now() + 30 * 86_400_000);
    expect(await call()).toBe('[null,null]');
  });

  it('is deleted by name, and its record with the last name', async () => {
    const store = new MemoryKeyValueStore();
    const deleted = jest.spyOn(store, 'delete');
    const { server } = remembering(
      async (ctx, { id }) => {
        await (id === undefined ? ctx.memory('x').delete() : ctx.memory('x').set(id));
        return await ctx.memory('x').get();
      },
      { store },
    );
    const { call } = await clientOf(server);
    expect([await call({ id: 1 }), await call(), await call()]).toEqual(['1', 'nothing', 'nothing']);
    expect(deleted).toHaveBeenCalledTimes(1);
  });

  it('keeps 256 KiB for a user and 32 KiB for a session, and tells the client and the operator of more', async () => {
    const big: Handler = async (ctx, { id, name = 'x' }) => {
      if (id !== undefined) await ctx.memory(String(name)).set('x'.repeat(Number(id)));
      return String(((await ctx.memory<string>('x').get()) ?? '').length);
    };
    const { server, warnings, errors } = remembering(big);
    const user = await clientOf(server, { principal: ANN });
    expect(await user.call({ id: 262_000 })).toBe('262000');
    expect(await user.call({ id: 300, name: 'y' })).toMatch(/remember more than 256 KiB for you\. Nothing was changed/);
    expect(await user.call()).toBe('262000');
    const session = await clientOf(server, { via: 'http' });
    expect(await session.call({ id: 33_000 })).toMatch(/more than 32 KiB/);
    expect(warnings).toEqual([expect.stringContaining('256 KiB'), expect.stringContaining('32 KiB')]);
    expect(errors).toEqual([]);
    await session.client.close();
  });

  it('has 100 names', async () => {
    const { server } = remembering(async (ctx, { count }) => {
      for (let index = 0; index < Number(count); index += 1) await ctx.memory(`name ${index}`).set(1);
      return 'ok';
    });
    const { call } = await clientOf(server);
    expect(await call({ count: 100 })).toBe('ok');
    expect(await call({ count: 101 })).toMatch(/more than 100 names/);
  });

  it('is changed 256 times by one call at most, not counting what is set anew', async () => {
    const { server, errors } = remembering(async (ctx, { updates = 0, sets = 0 }) => {
      const memory = ctx.memory<number>('x');
      for (let index = 0; index < Number(sets); index += 1) await memory.set(index);
      await Promise.all(Array.from({ length: Number(updates) }, () => memory.update((now = 0) => now + 1)));
      return await memory.get();
    });
    const { call } = await clientOf(server);
    expect(await call({ sets: 5000 })).toBe('4999');
    expect(await call({ updates: 257 })).toMatch(/Internal error/);
    expect(errors.map(({ message }) => message)).toEqual([expect.stringContaining('256 times')]);
    expect(await call()).toBe('4999');
  });

  it('of a session is deleted when its client ends it, and that of others is not', async () => {
    const store = new CountingStore();
    const { server } = remembering(list, { store });
    const [one, two, user] = [
      await clientOf(server, { via: 'http' }),
      await clientOf(server, { via: 'http' }),
      await clientOf(server, { via: 'http', principal: ANN }),
    ];
    for (const { call } of [one, two, user]) await call({ id: 'a' });
    const deleted = jest.spyOn(store, 'delete');
    await one.client.close();
    await user.client.close();
    expect(deleted.mock.results.map(({ value }) => value as unknown)).toEqual([true]);
    expect(await two.call({ id: 'read' })).toBe('["a"]');
    await two.client.close();
  });

  it('of a user is deleted by the server, and that of others is not', async () => {
    const { server } = remembering(list);
    const issued = { subject: 'ann', issuer: 'https://a.example' };
    const clients = [
      await clientOf(server, { principal: ANN }),
      await clientOf(server, { principal: issued }),
      await clientOf(server),
    ];
    for (const { call } of clients) await call({ id: 'a' });
    await server.forgetUser(issued);
    expect(await Promise.all(clients.map(({ call }) => call({ id: 'read' })))).toEqual(['["a"]', '[]', '["a"]']);
    await server.forgetUser(issued);
    await expect(server.forgetUser({ subject: '' })).rejects.toThrow('`subject` of a principal is empty');
  });

  it('makes each change of a loop once for the handler and once to store it', async () => {
    let changes = 0;
    const { server } = remembering(async (ctx, { count }) => {
      const memory = ctx.memory<number>('x');
      for (let index = 0; index < Number(count); index += 1)
        await memory.update((now = 0) => {
          changes += 1;
          return now + 1;
        });
      return await memory.get();
    });
    const { call } = await clientOf(server);
    expect([await call({ count: 200 }), await call({ count: 50 })]).toEqual(['200', '250']);
    expect(changes).toBe(2 * 250);
  });

  it('makes the changes anew if another call has stored a value in between', async () => {
    const store = new MemoryKeyValueStore();
    const parts = { store, secret: SECRET };
    const other = await clientOf(remembering(list, parts).server);
    const { server } = remembering(async (ctx) => {
      const cart = ctx.memory<string[]>('cart');
      await cart.update((now = []) => [...now, 'b']);
      await other.call({ id: 'a' });
      return [await cart.get(), await cart.update((now = []) => [...now, 'c'])];
    }, parts);
    const { call } = await clientOf(server);
    expect(await call()).toBe('[["a","b"],["a","b","c"]]');
    expect(await other.call({ id: 'read' })).toBe('["a","b","c"]');
  });

  it('fails a call whose store does not answer, whether it reads or writes', async () => {
    const store = new MemoryKeyValueStore();
    const { server, errors } = remembering(list, { store });
    const { call } = await clientOf(server);
    await call({ id: 'a' });
    jest.spyOn(store, 'set').mockImplementation(() => {
      throw new Error('disk full');
    });
    await expect(call({ id: 'b' })).rejects.toThrow('cannot reach its data');
    expect(await call({ id: 'read' })).toBe('["a"]');
    jest.spyOn(store, 'get').mockImplementation(() => {
      throw new Error('no disk');
    });
    await expect(call({ id: 'read' })).rejects.toThrow('cannot reach its data');
    expect(errors.map(({ message }) => message)).toEqual(['disk full', 'no disk']);
  });

  it('is only read in lists of resources', async () => {
    const seen: unknown[] = [];
    class Carts {
      @Resource('carts://{+id}', { list: 'all' }) cart({ id }: Id) {
        return id;
      }
      async all(ctx: Context) {
        const cart = ctx.memory<string[]>('cart');
        seen.push(await cart.get());
        expect(() => void cart.set([])).toThrow('`ctx.memory` only reads in "resources/list".');
        return [];
      }
    }
    const { server, errors } = remembering(list);
    server.addProvider(Carts);
    const { client, call } = await clientOf(server);
    await call({ id: 'a' });
    await client.listResources();
    expect([seen, errors]).toEqual([[['a']], []]);
  });

  it('loses none of 100 updates at the same time over two processes', async () => {
    const store = new CountingStore();
    const [one, two] = [
      remembering(list, { store: shared(store), secret: SECRET }),
      remembering(list, { store: shared(store), secret: SECRET }),
    ];
    const clients = await Promise.all([one, two].map(({ server }) => clientOf(server)));
    await Promise.all(Array.from({ length: 100 }, (_each, index) => clients[index % 2]!.call({ id: `${index}` })));
    const all = JSON.parse(await clients[0]!.call({ id: 'read' })) as string[];
    expect(all.map(Number).sort((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_each, index) => index));
  });
});

const SECRET = 'a secret that both of these servers share';
