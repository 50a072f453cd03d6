// Members that no Nest module provides: tools added as functions, providers in the server's own options or of plugins,
// and methods of extensions.
import { App, APP_MIME_TYPE, apps } from '@decorum/apps';
import { Completion, McpServer, Prompt, Resource, Tool } from '@decorum/core';
import { definePlugin } from '@decorum/core/plugin';
import { McpExecutionContext, type McpModuleOptions } from '@decorum/nestjs';
import { connect, type TestClient } from '@decorum/testing';
import { describe, expect, it } from '@jest/globals';
import {
  type CanActivate,
  Catch,
  type ExecutionContext,
  ForbiddenException,
  Injectable,
  Module,
  type NestInterceptor,
  type PipeTransform,
  type Provider,
  Scope,
  SetMetadata,
  UseGuards,
} from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE, NestFactory, Reflector, REQUEST } from '@nestjs/core';
import { map } from 'rxjs';
import { z } from 'zod';

import {
  closing,
  Denied,
  forRoot,
  moduleOf,
  Order,
  QUIET,
  serve,
  Shop,
  started,
  textIn,
  textOf,
  toolsOf,
} from './fixture.js';

/** Everything that a provider can serve. Counts what has run. */
class Orders {
  static ran: string[] = [];

  @Tool() cancelAll() {
    Orders.ran.push('tool');
    return 'cancelled';
  }

  @Prompt() summary({ id }: Order) {
    Orders.ran.push('prompt');
    return id;
  }

  @Resource('shop://hours') hours() {
    Orders.ran.push('resource');
    return '9 to 5';
  }

  @Resource('orders://{id}', { list: 'everyOrder' }) order({ id }: Order) {
    Orders.ran.push('template');
    return id;
  }

  everyOrder() {
    Orders.ran.push('list');
    return [{ uri: 'orders://o-1' }];
  }

  @Completion({ for: ['summary', 'order'], argument: 'id' }) ids() {
    Orders.ran.push('completion');
    return ['o-1'];
  }
}

const FEATURE = 'com.example/feature';
const extension = {
  id: FEATURE,
  methods: {
    'feature/run': () => {
      Orders.ran.push('extension');
      return { done: true };
    },
  },
};

/** Notes what it is asked about, and denies it. */
@Injectable()
class Closed implements CanActivate {
  static asked: string[] = [];

  canActivate(context: ExecutionContext) {
    const { member } = McpExecutionContext.from(context);
    Closed.asked.push(`${member.kind} ${member.name}`);
    return false;
  }
}

@Injectable({ scope: Scope.REQUEST })
class ClosedPerRequest extends Closed {}

const CLOSED: Provider = { provide: APP_GUARD, useClass: Closed };

async function callTool(client: TestClient, name: string): Promise<void> {
  const { isError, content } = await client.callTool(name);
  if (isError) throw new Error(textIn({ content }));
}

/** Tries all members of `Orders`, and returns what a client gets and which of their methods ran. */
async function tryAll(server: McpServer) {
  Orders.ran = [];
  Closed.asked = [];
  const client = await connect(server, { era: 'stateful' });
  const refusals = await Promise.allSettled([
    callTool(client, 'cancelAll'),
    client.getPrompt('summary', { id: 'o-1' }),
    client.readResource('shop://hours'),
    client.readResource('orders://o-1'),
    client.complete({ prompt: 'summary' }, { name: 'id', value: '' }),
    client.complete({ resource: 'orders://{id}' }, { name: 'id', value: '' }),
  ]);
  const messages = refusals.map((each) => (each.status === 'rejected' ? (each.reason as Error).message : 'ran'));
  const listed = (await client.listResources()).map(({ uri }) => uri);
  await client.close();
  return { messages: [...new Set(messages)], listed, ran: Orders.ran };
}

describe.each([
  ['of the module', CLOSED],
  ['of each request', { provide: APP_GUARD, useClass: ClosedPerRequest }],
  ['without a decision', { provide: APP_GUARD, useValue: { canActivate: () => undefined } }],
])('a global guard %s that denies', (_scope, guard) => {
  const DENIED = { messages: ['Forbidden resource'], listed: ['shop://hours'], ran: [] };

  const plugin = definePlugin(() => ({ name: 'orders', providers: [new Orders()] }));

  it.each<[string, Partial<McpModuleOptions>, Provider[]]>([
    ['in the options of the server', { providers: [Orders] }, []],
    ['with a new instance for each call', { providers: [{ provider: Orders, scope: 'request' }] }, []],
    ['of plugins', { plugins: [plugin()] }, [Shop]],
    ['of modules, and from what their templates list', {}, [Orders]],
  ])('keeps clients from providers %s (#22)', async (_what, options, providers) => {
    const { server } = await serve([guard, ...providers], options);
    expect(await tryAll(server)).toEqual(DENIED);
  });

  it('keeps clients from providers that are added later (#22)', async () => {
    const { server } = await serve([guard, Shop]);
    server.addProvider(Orders);
    expect(await tryAll(server)).toEqual(DENIED);
  });
});

describe('a tool that is added as a function', () => {
  const input = z.object({ sku: z.string() });

  it('is enough for an application to start, if it is added before (#22)', async () => {
    const module = moduleOf({ imports: [forRoot()] });
    const create = async () => closing(await NestFactory.create(module, QUIET));
    const app = await create();
    app.get(McpServer).addTool({ name: 'now' }, () => 'noon');
    await app.init();
    expect(await textOf(app.get(McpServer), 'now')).toBe('noon');
    await expect((await create()).init()).rejects.toMatchObject({
      code: 'DECORUM_NOTHING_SERVED',
      message: expect.stringMatching(/pass `providers` to McpModule.forRoot, or call `addTool` before/),
    });
  });

  it.each([
    ['before the application has started', true],
    ['later', false],
  ])('does not run if a global guard denies it, even when it is added %s (#22)', async (_when, isEarly) => {
    let calls = 0;
    const add = (server: McpServer) => server.addTool({ name: 'lookup', input }, () => ++calls);
    @Injectable()
    class Adding {
      constructor(server: McpServer) {
        if (isEarly) add(server);
      }
    }
    const { server, client } = await serve([CLOSED, Shop, Adding]);
    if (!isEarly) add(server);
    const denied = { isError: true, content: [{ text: 'Forbidden resource' }] };
    expect(await client.callTool('lookup', { sku: 'a' })).toMatchObject(denied);
    expect({ calls, asked: Closed.asked.at(-1) }).toEqual({ calls: 0, asked: 'tool lookup' });
  });

  it('runs inside global interceptors, pipes and filters (#22)', async () => {
    const seen: unknown[] = [];
    const interceptor: NestInterceptor = {
      intercept(context, next) {
        seen.push(McpExecutionContext.from(context).arguments);
        return next.handle().pipe(map((text) => `<${String(text)}>`));
      },
    };
    const pipe: PipeTransform = {
      transform: (value: { sku?: string }) => ('sku' in value ? { sku: value.sku?.toUpperCase() } : value),
    };
    @Catch(RangeError)
    class Filter {
      catch({ message }: Error) {
        return `filtered ${message}`;
      }
    }
    const { server, client } = await serve([
      Shop,
      { provide: APP_INTERCEPTOR, useValue: interceptor },
      { provide: APP_PIPE, useValue: pipe },
      { provide: APP_FILTER, useClass: Filter },
    ]);
    server.addTool({ name: 'lookup', input }, ({ sku }: { sku: string }) => {
      if (sku === 'NONE') throw new RangeError(sku);
      return `found ${sku}`;
    });
    expect(await client.callTool('lookup', { sku: 'a' })).toMatchObject({ content: [{ text: '<found A>' }] });
    expect(await client.callTool('lookup', { sku: 'none' })).toMatchObject({ content: [{ text: 'filtered NONE' }] });
    expect(await client.callTool('lookup', {})).toMatchObject({ isError: true });
    expect(seen).toEqual([{ sku: 'a' }, { sku: 'none' }, {}]);
  });

  it('shows guards the metadata and the guards of its function (#22)', async () => {
    const Public = SetMetadata('public', true);
    class OnlyPublic implements CanActivate {
      private readonly reflector = new Reflector();
      canActivate(context: ExecutionContext) {
        return this.reflector.getAllAndOverride<boolean>('public', [context.getHandler(), context.getClass()]) === true;
      }
    }
    const { server, client } = await serve([Shop, { provide: APP_GUARD, useClass: OnlyPublic }]);
    const open = () => 'open';
    Public(open);
    const guarded = () => 'guarded';
    Public(guarded);
    UseGuards(new Closed())(guarded);
    // names that objects have anyway
    for (const name of ['open', 'toString', 'constructor', '__proto__']) server.addTool({ name }, open);
    for (const name of ['guarded', 'hasOwnProperty']) server.addTool({ name }, guarded);
    server.addTool({ name: 'secret' }, () => 'secret');
    const answers = async (names: string[]) =>
      (await Promise.all(names.map((name) => client.callTool(name)))).map(textIn);
    expect(await answers(['open', 'toString', 'constructor', '__proto__'])).toEqual(Array(4).fill('open'));
    expect(await answers(['guarded', 'hasOwnProperty', 'secret'])).toEqual(Array(3).fill('Forbidden resource'));
  });

  it('may come from another server', async () => {
    const seen: string[] = [];
    class OnlyTools implements CanActivate {
      canActivate(context: ExecutionContext) {
        const { kind, name } = McpExecutionContext.from(context).member;
        seen.push(name);
        return kind === 'tool';
      }
    }
    const { server, client } = await serve([Shop, { provide: APP_GUARD, useClass: OnlyTools }]);
    const inputSchema = { type: 'object' };
    server.addMembers(
      [
        { kind: 'tool', key: 'locate', entry: { name: 'locate', inputSchema } },
        { kind: 'prompt', key: 'ask', entry: { name: 'ask' } },
        { kind: 'resource', key: 'map', entry: { name: 'map', uri: 'geo://map' } },
      ],
      {
        locate: (args: object) => ({ content: [{ type: 'text', text: JSON.stringify(args) }] }),
        ask: () => ({ messages: [] }),
        map: (uri: string) => ({ contents: [{ uri, text: 'map' }] }),
      },
      { prefix: 'geo' },
    );
    expect(textIn(await client.callTool('geo_locate', { at: 1 }))).toBe('{"at":1}');
    await expect(client.getPrompt('geo_ask')).rejects.toThrow('Forbidden resource');
    await expect(client.readResource('geo://geo/map')).rejects.toThrow('Forbidden resource');
    expect(seen).toEqual(['geo_locate', 'geo_ask', 'geo://geo/map']);
  });

  it('may depend on the caller', async () => {
    class OnlyTools implements CanActivate {
      canActivate(context: ExecutionContext) {
        return McpExecutionContext.from(context).member.kind === 'tool';
      }
    }
    const { server, client } = await serve([Shop, { provide: APP_GUARD, useClass: OnlyTools }]);
    const tool = {
      entry: { name: 'mine', inputSchema: { type: 'object' } },
      run: () => ({ content: [{ type: 'text' as const, text: 'ran' }] }),
    };
    const resource = { entry: { uri: 'my://a', name: 'a' }, run: () => ({ contents: [] }) };
    server.addLive(
      { kinds: ['tool'], list: () => [tool], find: (kind) => (kind === 'tool' ? tool : resource) },
      { offers: ['resources'] },
    );
    expect(textIn(await client.callTool('mine'))).toBe('ran');
    await expect(client.readResource('my://a')).rejects.toThrow('Forbidden resource');
  });

  it('gets the request of its call in request-scoped guards (#22)', async () => {
    const seen: unknown[] = [];
    const guard = {
      provide: APP_GUARD,
      scope: Scope.REQUEST,
      inject: [REQUEST],
      useFactory: ({ transport }: { transport: { kind: string } }) => ({
        canActivate: () => seen.push(transport.kind) > 0,
      }),
    };
    const { server } = await serve([Shop, guard]);
    server.addTool({ name: 'lookup' }, () => 'found');
    expect([await textOf(server, 'lookup'), await textOf(server, 'lookup')]).toEqual(['found', 'found']);
    expect(seen).toEqual(['memory', 'memory']);
  });

  it('does not run before the application has its guards (#22)', async () => {
    const imports = [forRoot({ logger: { warn() {}, error() {} } })];
    const app = closing(await NestFactory.create(moduleOf({ imports, providers: [Shop] }), QUIET));
    app.get(McpServer).addTool({ name: 'lookup' }, () => 'found');
    const client = await connect(app.get(McpServer));
    expect(await client.callTool('lookup')).toMatchObject({ isError: true });
    app.useGlobalGuards(new Closed());
    await app.init();
    expect(await client.callTool('lookup')).toMatchObject({ content: [{ text: 'Forbidden resource' }] });
  });
});

describe('an application with members of no module', () => {
  it('hides them with hideGuarded if a global guard denies them (#22)', async () => {
    const options = { hideGuarded: true, providers: [{ provider: Orders, prefix: 'x_' }] };
    const { server } = await serve([CLOSED, Shop], options);
    server.addTool({ name: 'lookup' }, () => 'found');
    const client = await connect(server, { era: 'stateful' });
    expect([await client.listTools(), await client.listPrompts(), await client.listResources()]).toEqual([[], [], []]);
    expect(Closed.asked).toEqual(expect.arrayContaining(['tool lookup', 'tool x_cancelAll', 'prompt x_summary']));
    await expect(client.subscribe('shop://hours')).rejects.toThrow('Resource not found');
  });

  it('runs methods of extensions inside guards (#22)', async () => {
    let isOpen = false;
    const guard: CanActivate = {
      canActivate(context) {
        const { member, arguments: args } = McpExecutionContext.from(context);
        expect({ member, args }).toMatchObject({
          member: { kind: 'extension', name: 'feature/run', key: 'feature/run' },
          args: { fast: true },
        });
        return isOpen;
      },
    };
    const plugin = definePlugin(() => ({ name: 'feature', extensions: [extension] }));
    // as an object, of a class
    class Feature {
      readonly id = FEATURE;
      readonly methods = { 'feature/run': { handle: extension.methods['feature/run'], callers: 'all' } } as const;
      capabilities() {
        return { extensions: { [FEATURE]: { fromClass: true } } };
      }
    }
    for (const options of [{ extensions: [extension] }, { plugins: [plugin()] }, { extensions: [new Feature()] }]) {
      isOpen = false;
      Orders.ran = [];
      const { server } = await serve([Shop, { provide: APP_GUARD, useValue: guard }], options);
      const capabilities = { extensions: { [FEATURE]: {} } };
      const client = await connect(server, { era: 'stateless', capabilities });
      await expect(client.request('feature/run', { fast: true })).rejects.toThrow('Forbidden resource');
      expect(Orders.ran).toEqual([]);
      isOpen = true;
      expect(await client.request('feature/run', { fast: true })).toMatchObject({ done: true });
      const declared = options.extensions?.[0] instanceof Feature ? { fromClass: true } : {};
      expect(await client.request('server/discover')).toMatchObject({
        capabilities: { extensions: { [FEATURE]: declared } },
      });
    }
  });

  it('runs the guards of a class whose instance a module provides and the server adds (#22)', async () => {
    @UseGuards(Closed)
    @Injectable()
    class Vault {
      @Tool() open() {
        return 'opened';
      }
    }
    @Module({ providers: [Vault] })
    class VaultModule {}
    const imports = [forRoot({ exclude: [VaultModule] }), VaultModule];
    const app = await started({ imports, providers: [Shop] });
    app.get(McpServer).addProvider({ provider: app.get(Vault), prefix: 'vault_' });
    expect(await textOf(app.get(McpServer), 'vault_open')).toBe('Forbidden resource');
  });

  it('starts and closes an instance that is added twice only once (#22)', async () => {
    const called: string[] = [];
    class Hooked {
      @Tool() now() {
        return 'noon';
      }
      onStart() {
        called.push('start');
      }
      onClose() {
        called.push('close');
      }
    }
    const { app, server } = await serve([], { providers: [Hooked, { provider: Hooked, prefix: 'x_' }] });
    expect(await textOf(server, 'x_now')).toBe('noon');
    await app.close();
    expect(called).toEqual(['start', 'close']);
  });

  class Guarded {
    @UseGuards(Closed) @Tool() open() {}
  }
  class Lister {
    @Resource('orders://{id}', { list: 'all' }) order({ id }: Order) {
      return id;
    }
    @UseGuards(new Closed()) all() {
      return [];
    }
  }
  const unbound = { code: 'DECORUM_UNBOUND_ENHANCER' };

  it.each([
    ['a guard that Nest has no instance of', Guarded, /McpServerModule: Guarded\.open.*@UseGuards\(Closed\)/],
    ['a guard on a method that lists resources', Lister, /Lister\.order.*@UseGuards of Lister\.all/],
  ])('refuses %s (#22)', async (_what, cls, message) => {
    const refusal = { ...unbound, message: expect.stringMatching(message) };
    await expect(serve([], { providers: [cls] })).rejects.toMatchObject(refusal);
    const { server } = await serve([Shop]);
    expect(() => server.addProvider(cls)).toThrow(expect.objectContaining(unbound));
  });

  it('refuses a function whose guard Nest has no instance of, and a host of its own (#22)', async () => {
    const { server } = await serve([Shop]);
    const handler = () => 'found';
    UseGuards(Closed)(handler);
    const remedy = /addTool\.lookup: .*Pass an instance, as in `UseGuards\(new Closed\(\)\)`, or move the function/;
    expect(() => server.addTool({ name: 'lookup' }, handler)).toThrow(
      expect.objectContaining({ ...unbound, message: expect.stringMatching(remedy) }),
    );
    const invalid = { code: 'DECORUM_INVALID_OPTION', message: expect.stringContaining('`host`') };
    expect(() => server.addProvider({ provider: Orders, host: {} })).toThrow(expect.objectContaining(invalid));
    expect(await toolsOf(server)).toEqual(['order']);
  });
});

it('a guard that admits the caller lets templates list, and sees the context of the request (#22)', async () => {
  const guard: CanActivate = {
    canActivate(context) {
      const { member, arguments: args, context: ctx } = McpExecutionContext.from(context);
      if (args !== undefined) throw new ForbiddenException();
      return member.name === 'orders://{id}' && ctx?.transport.kind === 'memory';
    },
  };
  for (const options of [{ providers: [Orders] }, {}]) {
    const { server } = await serve(
      [{ provide: APP_GUARD, useValue: guard }, 'providers' in options ? Shop : Orders],
      options,
    );
    const { listed, ran } = await tryAll(server);
    expect({ listed, ran }).toEqual({ listed: ['shop://hours', 'orders://o-1'], ran: ['list'] });
  }
});

@Injectable()
class GuardedOrders {
  @UseGuards(Denied)
  @Resource('orders://{id}', { name: 'order' })
  order({ id }: Order) {
    return id;
  }

  @Resource('shop://hours', { name: 'hours' })
  hours() {
    return '9 to 5';
  }

  @UseGuards(Denied)
  @Prompt({ description: 'Sums up an order' })
  summary({ id }: Order) {
    return id;
  }

  @Completion({ for: ['order', 'summary'], argument: 'id' })
  ids() {
    return ['o-1', 'o-2'];
  }
}

/** A client of the orders. */
async function connected(hideGuarded: boolean, era: 'stateful' | 'stateless') {
  const { server } = await serve([GuardedOrders], { hideGuarded });
  return await connect(server, { era });
}

it('hideGuarded asks guards before subscriptions and completions', async () => {
  const client = await connected(true, 'stateful');
  await client.subscribe('shop://hours');
  await expect(client.subscribe('orders://o-1')).rejects.toThrow('Resource not found');
  const id = { name: 'id', value: '' };
  await expect(client.complete({ prompt: 'summary' }, id)).rejects.toThrow('Unknown prompt');
  await expect(client.complete({ resource: 'orders://{id}' }, id)).rejects.toThrow('Unknown resource template');
});

it('hideGuarded asks guards before it listens for changes of resources', async () => {
  const client = await connected(true, 'stateless');
  const resourceSubscriptions = ['shop://hours', 'orders://o-1'];
  void client.request('subscriptions/listen', { notifications: { resourceSubscriptions } }).catch(() => {});
  const { params } = await client.nextNotification('notifications/subscriptions/acknowledged');
  expect(params).toMatchObject({ notifications: { resourceSubscriptions: ['shop://hours'] } });
});

it('without hideGuarded, guards stand around calls only', async () => {
  const client = await connected(false, 'stateful');
  await client.subscribe('orders://o-1');
  expect((await client.complete({ prompt: 'summary' }, { name: 'id', value: '' })).values).toEqual(['o-1', 'o-2']);
  await expect(client.readResource('orders://o-1')).rejects.toThrow('Forbidden resource');
});

describe('a page of a tool', () => {
  @Injectable()
  class Card {
    @Tool({ ui: 'ui://shop/card' }) show() {}

    @Tool({ ui: { visibility: ['app'] } }) refresh() {}

    @App('ui://shop/card', { prefersBorder: true }) card() {
      return '<!doctype html>';
    }
  }
  const capabilities = { extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: [APP_MIME_TYPE] } } };

  it('is shown as elsewhere', async () => {
    const { server, client } = await serve([Card], { plugins: [apps()] });
    const shows = closing(await connect(server, { capabilities }));
    expect(await client.listTools()).toMatchObject([{ name: 'show' }]);
    expect(await shows.listTools()).toMatchObject([{ _meta: { ui: { resourceUri: 'ui://shop/card' } } }, {}]);
    expect(textIn(await client.callTool('show'))).toBe('Done.');
    const ui = { prefersBorder: true };
    expect((await shows.readResource('ui://shop/card')).contents).toMatchObject([{ _meta: { ui } }]);
    await client.close();
  });

  it('is behind the same guards', async () => {
    const { client } = await serve([Card, CLOSED], { plugins: [apps()] });
    await expect(client.readResource('ui://shop/card')).rejects.toThrow('Forbidden resource');
    await client.close();
  });
});
