// Which outcomes are recorded, for whom, and what a repetition gets.
import {
  type Context,
  type KeyValueStore,
  McpError,
  MemoryKeyValueStore,
  mount,
  McpServer,
  type RepeatingInterceptor,
  sanitize,
  Tool,
  ToolError,
  toolResult,
} from '@decorum/core';
import { connect, revisions } from '@decorum/testing';
import { afterEach, describe, expect, it, jest } from '@jest/globals';

import { held, KEY, newKey, said, SECRET, ShakyStore, till } from './till.js';

afterEach(() => void jest.useRealTimers());

const PAIRS = revisions.flatMap((revision) =>
  (['memory', 'stdio', 'http'] as const).map((via) => ({ revision, via, user: { subject: 'ada' } })),
);

describe('a call that is repeated with its key', () => {
  it.each(PAIRS)('gets the same result, in $revision over $via', async ({ revision, via, user }) => {
    const { made, customer } = till(({ runs, args }) =>
      toolResult({ content: `paid ${runs}`, structuredContent: { runs, args }, _meta: { receipt: runs } }),
    );
    const { client, call } = await customer({ revision, via, principal: user });
    const first = await call('order-7', { amount: 5 });
    expect(await call('order-7', { amount: 5 })).toEqual(first);
    expect(first).toMatchObject({ _meta: { receipt: 1 } });
    expect(made.runs).toBe(1);
    expect(await call('order-8', { amount: 5 })).not.toEqual(first);
    await client.close();
  });

  it('gets the result in the words of the revision that it has', async () => {
    const { customer } = till(() => toolResult({ content: 'paid', structuredContent: { list: [1] } }));
    const principal = { subject: 'ada' };
    const [old, current] = [
      await customer({ revision: revisions[0]!, principal }),
      await customer({ era: 'stateless', principal }),
    ];
    expect(await old.call('a')).not.toHaveProperty('structuredContent');
    expect(await current.call('a')).toMatchObject({ structuredContent: { list: [1] } });
  });

  it('gets the same error', async () => {
    class Declined extends Error {}
    const failures = [
      () => new ToolError('No money.'),
      () => new McpError(4711, 'No money.', { left: 0 }),
      () => new Declined('No money.'),
      () => new McpError('internal-error', 'No money.'),
    ];
    for (const failure of failures) {
      const { made, customer } = till(
        () => {
          throw failure();
        },
        { errors: [[Declined, (error: Error) => error.message]] },
      );
      const { call } = await customer();
      const first = await call('a').catch((error: unknown) => error);
      const second = await call('a').catch((error: unknown) => error);
      expect(second).toEqual(first);
      expect(said(Promise.resolve(first as object))).toBeDefined();
      expect(made.runs).toBe(1);
    }
  });

  it('gets the same result with `isError`', async () => {
    const { made, customer } = till(() => toolResult({ content: 'No money.', isError: true }));
    const { call } = await customer();
    expect(await call('a')).toEqual(await call('a'));
    expect(made.runs).toBe(1);
  });

  it('runs again once the time is over', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    const { customer } = till(undefined, { idempotent: '1m' });
    const { call } = await customer();
    await call('a');
    jest.advanceTimersByTime(59_999);
    expect(await said(call('a'))).toBe('paid 1');
    jest.advanceTimersByTime(1);
    expect(await said(call('a'))).toBe('paid 2');
  });

  it('is refused with other arguments', async () => {
    const { made, customer } = till();
    const { call } = await customer();
    await call('a', { amount: 1, to: 'Ada' });
    expect(await said(call('a', { to: 'Ada', amount: 1 }))).toBe('paid 1');
    const other = 'McpError: The idempotency key was used with other arguments. ';
    expect(await said(call('a', { amount: 2, to: 'Ada' }))).toContain(other);
    expect(made.runs).toBe(1);
  });

  it('gets an error if the result was too large to keep, which its own caller has got', async () => {
    const { made, customer } = till(({ runs }) => `${runs}`.repeat(2000), {
      idempotent: { ttl: '1h', maxBytes: 1000 },
    });
    const { call } = await customer();
    expect(await said(call('a'))).toHaveLength(2000);
    const refused = expect.stringMatching(/^error: .* completed, but its result was too large to keep/);
    expect([await said(call('a')), await said(call('a'))]).toEqual([refused, refused]);
    await call('b');
    expect(made.runs).toBe(2);
    expect(made.warnings).toEqual([
      expect.stringMatching(/^Till.pay \(idempotent\): an outcome has more than `maxBytes`/),
    ]);
  });

  it('gets what its caller has left of it, with other limits of its text', async () => {
    const { customer } = till(() => 'x'.repeat(100), { maxResultChars: 50 });
    const { call } = await customer();
    expect(await call('a')).toEqual(await call('a'));
  });
});

describe('a key', () => {
  it('belongs to a user, in all sessions and revisions', async () => {
    const { made, customer } = till();
    const of = async (subject: string, issuer?: string, revision?: string) => {
      const { call } = await customer({ principal: { subject, issuer }, ...(revision && { revision }) });
      return await said(call('a'));
    };
    expect(await of('ada')).toBe('paid 1');
    for (const revision of revisions) expect(await of('ada', undefined, revision)).toBe('paid 1');
    expect(await of('bob')).toBe('paid 2');
    expect(await of('ada', 'https://other.example')).toBe('paid 3');
    expect(made.runs).toBe(3);
  });

  it('belongs to a session of callers without a user', async () => {
    const { customer } = till();
    const [one, other] = [await customer({ via: 'http' }), await customer({ via: 'http' })];
    expect(await said(one.call('a'))).toBe('paid 1');
    expect(await said(other.call('a'))).toBe('paid 2');
    expect(await said(one.call('a'))).toBe('paid 1');
    await Promise.all([one.client.close(), other.client.close()]);
  });

  it.each([{ idempotent: '1h' }, { idempotent: { ttl: '1h', key: 'arguments' } }] as const)(
    'is refused from callers whom nothing tells apart: %p',
    async ({ idempotent }) => {
      const { made, customer } = till(undefined, { idempotent });
      const { client, call } = await customer({ via: 'http', era: 'stateless' });
      expect(await said(call('a'))).toMatch(/^McpError: The server can't tell its callers apart/);
      expect(made.runs).toBe(0);
      const unkeyed = await said(call());
      expect(unkeyed).toMatch(typeof idempotent === 'string' ? /^paid 1$/ : /^McpError: .* within a session\.$/);
      await client.close();
    },
  );

  it('is not needed: calls without one run each time', async () => {
    const { made, customer } = till();
    const { call } = await customer();
    await call();
    await call();
    expect(made.runs).toBe(2);
  });

  it('can be the arguments, in any order of their names, unless the call has a key', async () => {
    const { customer } = till(undefined, { idempotent: { ttl: '1h', key: 'arguments' } });
    const { call } = await customer();
    expect(await said(call(undefined, { a: 1, b: { c: 2, d: 3 } }))).toBe('paid 1');
    expect(await said(call(undefined, { b: { d: 3, c: 2 }, a: 1 }))).toBe('paid 1');
    expect(await said(call(undefined, { a: 2, b: { c: 2, d: 3 } }))).toBe('paid 2');
    expect(await said(call('own', { a: 1, b: { c: 2, d: 3 } }))).toBe('paid 3');
  });

  it('is that of a tool, whatever it is called', async () => {
    class Two {
      readonly ran: string[] = [];
      @Tool({ idempotent: '1h', aliases: ['charge'] }) pay() {
        return this.note('pay');
      }
      @Tool({ idempotent: '1h' }) refund() {
        return this.note('refund');
      }
      private note(name: string) {
        this.ran.push(name);
        return `${name} ${this.ran.length}`;
      }
    }
    const [one, other] = [new Two(), new Two()];
    const inner = new McpServer({ name: 'inner', version: '1', providers: [new Two()] });
    const server = new McpServer({
      name: 'test',
      version: '1',
      providers: [one, { provider: other, prefix: 'b_' }, mount(inner, { prefix: 'in' })],
    });
    const client = await connect(server);
    const call = async (name: string) => await said(client.callTool(name, {}, { meta: { [KEY]: 'a' } }));
    expect(await call('pay')).toBe('pay 1');
    expect(await call('charge')).toBe('pay 1');
    expect(await call('refund')).toBe('refund 2');
    expect(await call('b_pay')).toBe('pay 1');
    expect(other.ran).toEqual(['pay']);
    expect(await call('in_charge')).toBe('pay 1');
    expect(await call('in_pay')).toBe('pay 1');
    expect(one.ran).toEqual(['pay', 'refund']);
  });
});

/** A proxy that can't even be compared. */
function unreadable(): Error {
  const { proxy, revoke } = Proxy.revocable(new Error('a bug'), {});
  revoke();
  return proxy;
}

describe('what is no outcome', () => {
  const bug = () => {
    throw new Error('a bug');
  };

  it.each([
    ['a masked error', bug, {}],
    ['invalid arguments', () => 'paid', { tool: { input: { type: 'object', required: ['amount'] } } }],
    ['a rejected argument', () => Promise.reject(new McpError('invalid-params', 'No.')), {}],
    ['a denied call', ({ ctx }) => ctx.requireScopes('pay'), {}],
    ['an open breaker', bug, { tool: { breaker: { volumeThreshold: 1 } } }],
    [
      'a full queue',
      ({ runs }) => (runs === 1 ? new Promise(() => {}) : 'paid'),
      { tool: { concurrency: { max: 1, queue: 0 } } },
    ],
    ['an unreachable store', () => Promise.reject(new McpError('unavailable', 'Later.')), {}],
    ['a plan', () => toolResult({ content: 'plan', _meta: { 'dev.decorum/ticket': 't' } }), {}],
    ['an error that cannot be sent', () => Promise.reject(new McpError(4711, 'No.', { left: 1n })), {}],
    ['an error with a number that cannot be sent', () => Promise.reject(new McpError(4711, 'No.', { left: NaN })), {}],
    ['an error that throws when it is read', () => Promise.reject(unreadable()), {}],
    [
      'an error for clients without a text',
      () => Promise.reject(Object.assign(new ToolError(''), { message: 1n })),
      {},
    ],
    ['a result that cannot be sent', () => ({ content: [], structuredContent: { left: Number.NaN } }), {}],
  ] satisfies [string, Parameters<typeof till>[0] & object, Parameters<typeof till>[1]][])(
    'lets a repetition run: %s',
    async (_name, pay, options) => {
      const store = new MemoryKeyValueStore();
      const { customer } = till(pay, { ...options, store });
      const { call } = await customer();
      if (options !== undefined && 'tool' in options && 'concurrency' in options.tool) void said(call('first'));
      await said(call('a'));
      await said(call('a'));
      // a key that nobody has used takes other arguments
      expect(await said(call('a', { amount: 1 }))).not.toContain('other arguments');
    },
  );

  it('is a call whose time is over', async () => {
    const slow = held();
    const { made, customer } = till(({ runs }) => (runs === 1 ? slow.promise : 'paid'), { tool: { timeoutMs: 20 } });
    const { call } = await customer();
    expect(await said(call('a'))).toContain('did not finish');
    expect(await said(call('a'))).toBe('paid');
    expect(made.runs).toBe(2);
  });

  it('is a call that was cancelled, unless its tool completes all the same', async () => {
    const runs = [held(), held(), held()];
    const begun = [held(), held(), held()];
    const { customer } = till(({ runs: n }) => {
      begun[n - 1]!.resolve('');
      return runs[n - 1]!.promise;
    });
    const { client, call } = await customer();
    const cancelled = async (index: number) => {
      const controller = new AbortController();
      const first = said(client.callTool('pay', {}, { meta: { [KEY]: 'a' }, signal: controller.signal }));
      await begun[index]!.promise;
      controller.abort();
      await first;
    };
    await cancelled(0);
    const second = cancelled(1);
    runs[0]!.reject(new ToolError('It was cancelled.'));
    await second;
    const third = said(call('a'));
    runs[1]!.resolve('paid all the same');
    expect(await third).toBe('paid all the same');
  });
});

describe('a call that was cancelled, and whose handler never ends', () => {
  it('gives its key back when its time is over', async () => {
    const begun = held();
    const never = () => {
      begun.resolve('');
      return new Promise<string>(() => {});
    };
    const { customer } = till(({ runs }) => (runs === 1 ? never() : 'paid'), { tool: { timeoutMs: 50 } });
    const { client, call } = await customer();
    const controller = new AbortController();
    const first = said(client.callTool('pay', {}, { meta: { [KEY]: 'a' }, signal: controller.signal }));
    await begun.promise;
    controller.abort();
    await first;
    await said(call('a'));
    expect(await said(call('a'))).toBe('paid');
  });
});

describe('a call that is cancelled while it waits for its key', () => {
  it('does not run', async () => {
    const [asked, answer] = [held(), held()];
    const store = new ShakyStore();
    const get = async (key: string) => {
      asked.resolve('');
      await answer.promise;
      return store.values.get(key);
    };
    const { made, customer } = till(undefined, {
      store: Object.assign(store, { get }) as KeyValueStore,
    });
    const { client, call } = await customer();
    const controller = new AbortController();
    const first = said(client.callTool('pay', {}, { meta: { [KEY]: 'a' }, signal: controller.signal }));
    await asked.promise;
    controller.abort();
    await first;
    const second = said(call('a'));
    answer.resolve('');
    expect(await second).toBe('paid 1');
    expect(made.runs).toBe(1);
  });
});

describe('a store', () => {
  it('that is full refuses new keys before the tool runs, and still repeats outcomes', async () => {
    const { made, customer } = till(undefined, { store: new MemoryKeyValueStore({ maxChars: 3000 }) });
    const { call } = await customer();
    await call('first');
    const answers: string[] = [];
    while (!answers.at(-1)?.startsWith('McpError')) answers.push(await said(call(newKey())));
    expect(answers.at(-1)).toContain('no room');
    expect(made.runs).toBe(answers.length);
    expect(await said(call('first'))).toBe('paid 1');
  });

  it('that fails before a call refuses it', async () => {
    const store = new ShakyStore();
    const { made, customer } = till(undefined, { store });
    const { call } = await customer();
    store.isDown = true;
    expect(await said(call('a'))).toBe('McpError: The server cannot reach its data. Try again later.');
    expect(made.runs).toBe(0);
    expect(await said(call())).toBe('paid 1');
    store.isDown = false;
    expect(await said(call('a'))).toBe('paid 2');
  });

  it('that fails after a run keeps the result from nobody, and records it later', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    const store = new ShakyStore();
    const { made, customer } = till(
      ({ runs }) => {
        store.isDown = runs === 1;
        return `paid ${runs}`;
      },
      { store },
    );
    const { call } = await customer();
    expect(await said(call('a'))).toBe('paid 1');
    expect(made.errors).toHaveLength(1);
    store.isDown = false;
    const repeated = said(call('a'));
    await jest.advanceTimersByTimeAsync(5000);
    expect(await repeated).toBe('paid 1');
    expect(made.runs).toBe(1);
  });

  it('that has lost the key of a call that still runs gets it back, and the call pays once', async () => {
    const store = new ShakyStore();
    const paid: string[] = [];
    const { made, customer } = till(
      async ({ ctx, runs }) => {
        const receipt = await ctx.once('pay', (key) => {
          if (runs === 1) store.values.clear();
          return `${paid.push(key)}`;
        });
        return `receipt ${receipt} of run ${runs}`;
      },
      { store },
    );
    const { call } = await customer();
    expect(await said(call('a'))).toBe('receipt 1 of run 1');
    expect(await said(call('a'))).toBe('receipt 1 of run 1');
    expect(paid).toHaveLength(1);
    expect(made.errors).toEqual([]);
  });

  it('sees neither keys nor callers, arguments or results', async () => {
    const store = new ShakyStore();
    const seen: string[] = [];
    const { customer } = till(() => 'a-secret-result', { store });
    const { call } = await customer({ principal: { subject: 'ada-the-customer' } });
    await call('a-secret-key', { card: 'a-secret-card' });
    for (const [key, value] of store.values) seen.push(key, value);
    expect(seen.join()).toMatch(/^outcome:/);
    expect(seen.join()).not.toMatch(/secret|ada/);
  });
});

describe('options around it', () => {
  it('apply to repetitions: interceptors see them, and access refuses them', async () => {
    let isOpen = true;
    const { customer } = till(() => 'paid​ once', {
      tool: { access: () => isOpen },
      interceptors: [sanitize()],
      secret: SECRET,
    });
    const { call } = await customer();
    expect(await said(call('a'))).toBe('paid once');
    expect(await said(call('a'))).toBe('paid once');
    isOpen = false;
    expect(await said(call('a'))).toContain('Unknown tool');
  });

  it('may repeat a run that has failed, and its effects run', async () => {
    const repeating: RepeatingInterceptor = {
      repeats: true,
      intercept: async (_call, next) => {
        try {
          return await next();
        } catch {
          return await next();
        }
      },
    };
    const pay = async ({ runs, ctx }: { readonly runs: number; readonly ctx: Context }) => {
      await ctx.once('reserve', () => runs);
      if (runs === 1) throw new Error('a bug');
      return await ctx.once('pay', () => `paid ${runs}`);
    };
    const { made, customer } = till(pay, { interceptors: [repeating] });
    const { call } = await customer();
    expect(await said(call('a'))).toBe('paid 2');
    expect(await said(call('a'))).toBe('paid 2');
    expect(made.runs).toBe(2);
  });

  it('run inside: a call counts once for its retries', async () => {
    const { made, customer } = till(
      ({ runs }) => {
        if (runs < 3) throw new Error('not yet');
        return `paid ${runs}`;
      },
      { tool: { annotations: { idempotentHint: true }, retry: { times: 2, baseMs: 1 } } },
    );
    const { call } = await customer();
    expect(await said(call('a'))).toBe('paid 3');
    expect(await said(call('a'))).toBe('paid 3');
    expect(made.runs).toBe(3);
  });
});
