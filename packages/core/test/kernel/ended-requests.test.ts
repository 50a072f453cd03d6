// What a request leaves behind: nothing is sent after its end, and nothing keeps the server busy.
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { type ChangeBus, Context, McpError, McpServer, MemoryChangeBus, NoInput, Prompt, Tool } from '@decorum/core';
import { definePlugin } from '@decorum/core/plugin';
import type { Reply } from '@decorum/core/transport';
import { connect } from '@decorum/testing';

import { ENVELOPE } from '../transports/pipe-client.js';
import { openSession } from './open-session.js';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as () => void;

class Worker {
  readonly ends = new Map<unknown, () => void>();
  late: Context | undefined;
  /** How the client's answer failed. */
  unanswered: unknown;
  onNested = () => {};

  /** Runs until the test ends it. */
  @Tool() async work(_: NoInput, ctx: Context) {
    await new Promise<void>((resolve) => this.ends.set(ctx.requestId, resolve));
    return 'done';
  }

  @Tool() returns(_: NoInput, ctx: Context) {
    this.late = ctx;
  }

  /** Asks the client, and doesn't wait for the answer. */
  @Tool() asks(_: NoInput, ctx: Context) {
    void ctx.ping({ timeoutMs: 60_000 }).catch((error: Error) => (this.unanswered = error.message));
    return 'asked';
  }

  @Prompt() plan() {
    return 'Plan the work';
  }

  /** Calls back before its first turn ends. */
  @Tool() async nested(_: NoInput, ctx: Context) {
    this.onNested();
    await turn();
    return ctx.signal.aborted;
  }
}

const servers: McpServer[] = [];
const quiet = { warn: () => {}, error: () => {} };

function serve(changeBus?: ChangeBus) {
  const worker = new Worker();
  const options = { name: 'work', version: '1.0.0', logger: quiet, ...(changeBus && { changeBus }) };
  const server = new McpServer({ ...options, providers: [worker] });
  servers.push(server);
  return { worker, server };
}

/** Opens a session without a client, so that a test decides when each message arrives. */
async function open() {
  const { worker, server } = serve();
  const opened = await openSession(server);
  await opened.initialize();
  const call = (id: number, name: string, meta = {}) =>
    opened.handle({ id, method: 'tools/call', params: { name, _meta: meta } }) as Promise<Reply>;
  return { worker, server, call, ...opened };
}

afterEach(async () => {
  jest.useRealTimers();
  await Promise.all(servers.splice(0).map((server) => server.close({ deadlineMs: 1 })));
});

describe('A request that has ended', () => {
  it('sends no more progress and no more log messages, however its handler ends (#22)', async () => {
    const { server, sent, call } = await open();
    const ends = {
      succeeds: () => 'done',
      breaks: () => {
        throw new Error('broken');
      },
      refuses: () => {
        throw new McpError('invalid-params', 'No such day.');
      },
    };
    let late: Context | undefined;
    for (const [name, end] of Object.entries(ends)) {
      server.addTool({ name }, (_input, ctx) => ((late = ctx), end()));
      server.addTool({ name: `${name}_later` }, async (_input, ctx) => ((late = ctx), await turn(), end()));
    }
    for (const [id, name] of Object.keys(ends)
      .flatMap((each) => [each, `${each}_later`])
      .entries()) {
      await call(id + 1, name, { progressToken: 1 });
      late?.progress(1);
      late?.log.error('late');
      expect([name, sent.filter(({ kind }) => kind !== 'change')]).toEqual([name, []]);
    }
  });

  it('frees its id for another request while others are in flight (#22)', async () => {
    const { worker, call } = await open();
    const first = call(1, 'work');
    const second = call(2, 'work');
    worker.ends.get(2)?.();
    expect((await second).text).toContain('done');
    const again = call(2, 'work');
    worker.ends.get(2)?.();
    worker.ends.get(1)?.();
    expect((await again).text).toContain('done');
    expect((await first).text).toContain('done');
  });

  it('is forgotten with its conversation (#22)', async () => {
    const { worker, kernel, call } = await open();
    const running = call(1, 'work');
    expect(kernel.inFlight.busy).toBe(1);
    worker.ends.get(1)?.();
    await running;
    expect(kernel.inFlight.busy).toBe(0);
    await call(2, 'returns');
    expect(kernel.inFlight.starting).toBeUndefined();
    expect(kernel.inFlight.startingIn).toBeUndefined();
  });

  it.each([
    [1, 2, 3],
    [2, 3, 1],
    [3, 2, 1],
  ])('does not keep the server from closing, if requests end in the order %i, %i, %i (#22)', async (...order) => {
    const { worker, server, call } = await open();
    const running = [1, 2, 3].map((id) => call(id, 'work'));
    for (const id of order) {
      worker.ends.get(id)?.();
      await running[id - 1];
    }
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    // the deadline never comes
    await server.close({ deadlineMs: 60_000 });
    expect(jest.getTimerCount()).toBe(0);
  });

  it('leaves no timer behind if the server was waiting for it (#22)', async () => {
    const { worker, server, call } = await open();
    const running = call(1, 'work');
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    const closed = server.close({ deadlineMs: 60_000 });
    await turn();
    // its process would live until the deadline
    expect(jest.getTimerCount()).toBe(1);
    worker.ends.get(1)?.();
    expect((await running).text).toContain('done');
    await closed;
    expect(jest.getTimerCount()).toBe(0);
  });
});

describe('A server that is closing', () => {
  it('lets requests run until the deadline, and cancels them then (#22)', async () => {
    const { server, call } = await open();
    let reply: Reply | undefined;
    const running = call(1, 'work').then((given) => (reply = given));
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    const closed = server.close({ deadlineMs: 60_000 });
    await turn();
    await jest.advanceTimersByTimeAsync(59_999);
    expect(reply).toBeUndefined();
    await jest.advanceTimersByTimeAsync(1);
    await running;
    expect(reply).toMatchObject({ cancelled: 'closing', text: expect.stringContaining('The server is closing.') });
    await closed;
  });

  it('unsubscribes from the change bus (#22)', async () => {
    const bus = new MemoryChangeBus();
    let subscriptions = 0;
    const { server } = serve({
      publish: (change) => bus.publish(change),
      subscribe(listener) {
        const end = bus.subscribe(listener);
        subscriptions += 1;
        return () => {
          subscriptions -= 1;
          end();
        };
      },
    });
    await connect(server);
    expect(subscriptions).toBe(1);
    await server.close();
    expect(subscriptions).toBe(0);
  });
});

describe('A handler whose first step makes the client send a message', () => {
  it('can still be cancelled after that message was handled (#22)', async () => {
    const { worker, handle, call } = await open();
    worker.onNested = () => {
      void call(2, 'returns');
      void handle({ method: 'notifications/cancelled', params: { requestId: 1 } });
    };
    expect(await call(1, 'nested')).toMatchObject({ cancelled: 'client', text: undefined });
  });
});

describe('A list that has changed', () => {
  it('is announced once for each change, and not again with another list (#22)', async () => {
    const { server } = serve();
    const client = await connect(server);
    const changed = (list: string) => client.nextNotification(`notifications/${list}/list_changed`);
    server.notify.toolsChanged();
    await changed('tools');
    server.notify.promptsChanged();
    await changed('prompts');
    server.notify.toolsChanged();
    await changed('tools');
    expect(client.notifications.map(({ method }) => method.split('/')[1])).toEqual(['tools', 'prompts', 'tools']);
  });
});

describe('A subscriber that is gone', () => {
  it('gets no more notifications once its session is closed (#22)', async () => {
    const { kernel, server, session, sent, handle } = await open();
    await handle({ method: 'notifications/initialized' });
    const other = await connect(server);
    kernel.closeSession(session);
    server.notify.toolsChanged();
    await other.nextNotification('notifications/tools/list_changed');
    expect(sent).toEqual([]);
  });

  it('is forgotten once its `subscriptions/listen` is cancelled (#22)', async () => {
    const { kernel, owner } = await open();
    const listen = async () => {
      let leave = () => {};
      const onDisconnect = (callback: () => void) => void (leave = callback);
      const wire = { transport: { kind: 'memory' }, principal: undefined, owner, send() {}, onDisconnect } as const;
      const params = { notifications: { toolsListChanged: true }, _meta: ENVELOPE };
      const listening = kernel.handle({ jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params }, wire);
      await turn();
      leave();
      expect(await listening).toMatchObject({ cancelled: 'gone' });
      return new WeakRef(wire);
    };
    const wire = await listen();
    for (let round = 0; round < 5; round += 1) {
      await turn();
      gc();
    }
    expect(wire.deref()).toBeUndefined();
  });
});

describe('A question that outlives its request', () => {
  it('ends with the session (#22)', async () => {
    const { worker, kernel, session, sent, call } = await open();
    await call(1, 'asks');
    await turn();
    expect(sent).toMatchObject([{ kind: 'question' }]);
    kernel.closeSession(session);
    await turn();
    expect(worker.unanswered).toBe('The session has ended.');
  });
});

describe('A request without a session that a plugin holds', () => {
  it('ends once its client disconnects (#22)', async () => {
    const worker = new Worker();
    const plugins = [definePlugin(() => ({ name: 'stuck', observe: () => new Promise<never>(() => {}) }))()];
    const server = new McpServer({ name: 'work', version: '1.0.0', logger: quiet, providers: [worker], plugins });
    servers.push(server);
    const { owner } = await openSession(server);
    let leave = () => {};
    const onDisconnect = (callback: () => void) => void (leave = callback);
    const wire = { transport: { kind: 'http' }, principal: undefined, owner, send() {}, onDisconnect } as const;
    const params = { name: 'returns', _meta: ENVELOPE };
    const reply = owner.kernel.handle({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }, wire);
    leave();
    expect(await Promise.race([reply, turn()])).toEqual({ text: undefined, cancelled: 'gone' });
    expect(worker.late).toBeUndefined();
  });
});

describe('The operator', () => {
  it('learns why a client cancelled a request, and nothing of what its handler threw then (#22)', async () => {
    const logged: unknown[] = [];
    const log = (details: object, message: string) => void logged.push([message, details]);
    const server = new McpServer({ name: 'work', version: '1.0.0', logger: { debug: log, warn: log, error: log } });
    servers.push(server);
    let began = () => {};
    const running = new Promise<void>((resolve) => (began = resolve));
    server.addTool({ name: 'wait' }, async (_input, { signal }) => {
      const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve));
      began();
      await aborted;
      throw new Error('The download was interrupted.');
    });
    const client = await connect(server);
    const call = client.request('tools/call', { name: 'wait' }).catch(() => {});
    await running;
    await client.notify('notifications/cancelled', { requestId: 2, reason: 'too slow' });
    await call;
    await turn();
    expect(logged).toEqual([
      ['the client cancelled a request', { requestId: 2, method: 'tools/call', reason: 'too slow' }],
    ]);
  });
});
