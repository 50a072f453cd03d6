// required by tsyringe
import 'reflect-metadata';

import { describe, expect, it, jest } from '@jest/globals';
import {
  Completion,
  type Context,
  type Interceptor,
  McpServer,
  type McpServerOptions,
  needInput,
  NoInput,
  Prompt,
  type ProviderSource,
  Resource,
  Tool,
} from '@decorum/core';
import { connect } from '@decorum/testing';
import { asValue, createContainer } from 'awilix';
import { IsString } from 'class-validator';
import { container } from 'tsyringe';

import { SILENT, textOf, turn } from './serving.js';

class Id {
  @IsString() id!: string;
}

class Database {
  readonly name = 'main';
}

class Orders {
  static built = 0;
  readonly #number: number;

  constructor(readonly database: Database) {
    this.#number = Orders.built += 1;
  }

  @Tool() find(_: NoInput, context: Context) {
    return `${this.database.name} ${this.#number} ${context.principal?.subject}`;
  }

  @Resource('order://{id}', { list: 'all' }) one({ id }: Id) {
    return `${id} of ${this.#number}`;
  }

  all(context: Context) {
    return [{ variables: { id: `${this.#number}-${context.principal?.subject}` } }];
  }

  @Prompt()
  describe({ id }: Id) {
    return `${id} of ${this.#number}`;
  }

  @Completion({ for: ['one', 'describe'], argument: 'id' }) ids(typed: string) {
    return [`${typed}${this.#number}`];
  }

  @Tool() async *follow() {
    yield { progress: 1 };
    return `followed ${this.#number}`;
  }

  @Tool() ask(_: NoInput, context: Context) {
    return context.answers ? `asked ${this.#number}` : needInput({ roots: { method: 'roots/list' } });
  }
}

const serverOf = (providers: readonly ProviderSource[], options: Partial<McpServerOptions> = {}) =>
  new McpServer({ name: 'test', version: '1', ...options, providers });

const principal = { subject: 'ada' };

it('resolve works with tsyringe and awilix', async () => {
  const child = container.createChildContainer();
  child.registerInstance(Orders, new Orders(new Database()));
  const awilix = createContainer({ injectionMode: 'CLASSIC' }).register({ database: asValue(new Database()) });
  const ways: readonly McpServerOptions['resolve'][] = [(cls) => child.resolve(cls), (cls) => awilix.build(cls)];
  for (const resolve of ways) {
    const client = await connect(serverOf([Orders], { ...(resolve && { resolve }) }), { principal });
    expect(textOf(await client.callTool('find'))).toMatch(/^main \d+ ada$/);
  }
});

describe('a promise of an instance', () => {
  const later = async (instance: object) => {
    await turn();
    return instance;
  };

  it('is awaited before the first transport opens and the hooks run, and serves everything', async () => {
    const events: string[] = [];
    class Started extends Orders {
      readonly onStart = () => void events.push('start');
      onClose() {
        events.push(`close ${this.database.name}`);
      }
    }
    const resolve = jest.fn(() => later(new Started(new Database())));
    const server = serverOf([Started, { provider: Started, prefix: 'eu_', uriPrefix: 'eu+' }], { resolve });
    const client = await connect(server, { principal, onRoots: () => [] });
    expect(events).toEqual(['start']);
    const found = textOf(await client.callTool('find'));
    expect(textOf(await client.callTool('eu_find'))).toBe(found);
    const [, number] = found?.split(' ') ?? [];
    expect((await client.listResources()).map(({ uri }) => uri)).toContain(`order://${number}-ada`);
    expect((await client.readResource('order://7')).contents).toMatchObject([{ text: `7 of ${number}` }]);
    expect(JSON.stringify(await client.getPrompt('describe', { id: '7' }))).toContain(`7 of ${number}`);
    const completion = await client.complete({ prompt: 'describe' }, { name: 'id', value: 'a' });
    expect(completion.values).toEqual([`a${number}`]);
    expect(textOf(await client.callTool('follow'))).toBe(`followed ${number}`);
    expect(textOf(await client.callTool('ask'))).toBe(`asked ${number}`);
    expect(resolve).toHaveBeenCalledTimes(1);
    await server.close();
    expect(events).toEqual(['start', 'close main']);
  });

  it('that rejects makes every transport fail to start, and no hook runs', async () => {
    const onStart = jest.fn();
    class Ready {
      readonly onStart = onStart;
      @Tool() help() {}
    }
    const server = serverOf([new Ready(), Orders], { resolve: () => Promise.reject(new Error('no database')) });
    await turn();
    for (const _ of [1, 2]) await expect(connect(server)).rejects.toThrow('no database');
    expect(onStart).not.toHaveBeenCalled();
  });

  it.each([
    [undefined, /^Orders: `resolve` returned undefined\. Return an instance, or a promise of one\./],
    [new Database(), /^Orders\.find is decorated as a tool, and the provider has no such method/],
  ])('that resolves to anything else makes the transport fail to start: %p', async (given, message) => {
    const server = serverOf([Orders], { resolve: () => later(given as object) });
    await expect(connect(server)).rejects.toThrow(message);
  });

  it('serves a class with a frozen prototype', async () => {
    class Frozen {
      @Tool() help() {
        return 'helped';
      }
    }
    Object.freeze(Frozen.prototype);
    const client = await connect(serverOf([Frozen], { resolve: () => later(new Frozen()) }));
    expect(textOf(await client.callTool('help'))).toBe('helped');
  });

  it('that is added while the server runs is awaited by calls', async () => {
    const onError = jest.fn();
    const given: Promise<object>[] = [later(new Orders(new Database())), Promise.reject(new Error('no database'))];
    given[1]?.catch(() => {});
    const server = serverOf([], { resolve: () => given.shift() as Promise<object>, onError, logger: SILENT });
    const client = await connect(server);
    server.addProvider(Orders);
    expect(textOf(await client.callTool('follow'))).toMatch(/^followed/);
    class Late {
      @Tool() late() {}
    }
    const registration = server.addProvider(Late);
    expect(textOf(await client.callTool('late'))).toMatch(/^Internal error/);
    expect(onError).toHaveBeenCalledWith(expect.objectContaining({ message: 'no database' }), expect.anything());
    await expect(connect(server)).resolves.toBeDefined();
    // it may succeed the next time
    given.push(later(new Late()));
    registration.remove();
    server.addProvider(Late);
    expect((await client.callTool('late')).isError).toBeUndefined();
  });
});

describe("scope: 'request'", () => {
  const scoped = { provider: Orders, scope: 'request' } as const;

  it('creates an instance for each run of a handler, with its context', async () => {
    const contexts: (Context | undefined)[] = [];
    const server = serverOf([scoped], {
      resolve: (_cls, context) => {
        contexts.push(context);
        return new Orders(new Database());
      },
    });
    const client = await connect(server, { principal, onRoots: () => [] });
    expect(contexts).toEqual([]);
    const [first = '', second = ''] = [await client.callTool('find'), await client.callTool('find')].map(textOf);
    expect(Number(second.split(' ')[1])).toBe(Number(first.split(' ')[1]) + 1);
    expect(first).toMatch(/ada$/);
    await client.listResources();
    await client.readResource('order://7');
    await client.getPrompt('describe', { id: '7' });
    await client.complete({ prompt: 'describe' }, { name: 'id', value: 'a' });
    expect(textOf(await client.callTool('follow'))).toMatch(/^followed \d+$/);
    expect(contexts.map((context) => context?.principal?.subject)).toEqual(Array.from({ length: 7 }, () => 'ada'));
    // each run of a handler gets a new instance
    expect(textOf(await client.callTool('ask'))).toMatch(/^asked \d+$/);
    expect(contexts).toHaveLength(9);
  });

  it('may be asynchronous, and a failure fails the call', async () => {
    let fails = false;
    const server = serverOf([scoped], {
      logger: SILENT,
      resolve: async () => {
        if (fails) throw new Error('no database');
        return await Promise.resolve(new Orders(new Database()));
      },
    });
    const client = await connect(server);
    expect(textOf(await client.callTool('find'))).toMatch(/^main/);
    fails = true;
    expect(textOf(await client.callTool('find'))).toMatch(/^Internal error/);
  });

  it('constructs the class without `resolve`, and takes a prefix', async () => {
    let built = 0;
    class Counter {
      readonly number = (built += 1);
      @Tool() count() {
        return this.number;
      }
    }
    const client = await connect(serverOf([{ provider: Counter, prefix: 'my_', scope: 'request' }]));
    expect(built).toBe(0);
    for (const text of ['1', '2']) expect(textOf(await client.callTool('my_count'))).toBe(text);
  });

  it('lets an interceptor open a scope of a container and dispose of it', async () => {
    const events: string[] = [];
    const scopes = new WeakMap<Context, ReturnType<typeof container.createChildContainer>>();
    const withScope: Interceptor = async ({ ctx }, next) => {
      const scope = container.createChildContainer();
      scopes.set(ctx, scope);
      scope.registerInstance(Orders, new Orders(new Database()));
      try {
        return await next();
      } finally {
        await scope.dispose();
        events.push('disposed');
      }
    };
    const server = serverOf([scoped], {
      interceptors: [withScope],
      resolve: (cls, context) => (context && scopes.get(context))?.resolve(cls) ?? container.resolve(cls),
    });
    const client = await connect(server);
    expect(textOf(await client.callTool('find'))).toMatch(/^main/);
    expect(events).toEqual(['disposed']);
  });
});
