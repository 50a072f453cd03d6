// Plugins and hooks that never settle.
import { connectMemory, definePlugin, McpServer, type Plugin, Tool } from '@decorum/core';
import { connect } from '@decorum/testing';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';

const never = () => new Promise<never>(() => {});

class Shop {
  @Tool() greet() {
    return 'Hello!';
  }
}

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'performance'] }));
afterEach(() => void jest.useRealTimers());

function serverWith(parts: Partial<Plugin>, providers: object[] = [new Shop()]) {
  const errors: string[] = [];
  const onError = (error: unknown) => void errors.push(`${(error as Error).message} ${String((error as Error).cause)}`);
  const plugin = definePlugin(() => ({ name: 'stuck', ...parts }))();
  const logger = { warn() {}, error() {} };
  return {
    server: new McpServer({ name: 'shop', version: '1.0.0', providers, plugins: [plugin], onError, logger }),
    errors,
  };
}

const HELLO = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } };

it('a plugin whose `observe` never settles delays `initialize` and calls by a second at most (#22)', async () => {
  const { server, errors } = serverWith({ observe: never });
  const answers: unknown[] = [];
  const connection = await connectMemory(server, { receive: (message) => answers.push(message) });
  void connection.send({ jsonrpc: '2.0', id: 1, method: 'initialize', params: HELLO });
  await jest.advanceTimersByTimeAsync(999);
  expect(answers).toEqual([]);
  await jest.advanceTimersByTimeAsync(1);
  expect(answers).toMatchObject([{ id: 1, result: { serverInfo: { name: 'shop' } } }]);
  void connection.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  void connection.send({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'greet' } });
  await jest.advanceTimersByTimeAsync(1000);
  expect(answers).toMatchObject([{ id: 1 }, { id: 2, result: { content: [{ text: 'Hello!' }] } }]);
  expect(errors).toEqual([expect.stringMatching(/"stuck" failed in `observe`.*not called run\(\) within 1000 ms/s)]);
  await server.close();
});

it('a plugin whose `observe` never settles delays `close` by a second at most (#22)', async () => {
  const { server } = serverWith({ observe: never });
  const answers: unknown[] = [];
  const connection = await connectMemory(server, { receive: (message) => answers.push(message) });
  void connection.send({ jsonrpc: '2.0', id: 1, method: 'initialize', params: HELLO });
  let isClosed = false;
  void server.close({ deadlineMs: 60_000 }).then(() => (isClosed = true));
  await jest.advanceTimersByTimeAsync(1000);
  await new Promise(setImmediate);
  await jest.advanceTimersByTimeAsync(0);
  expect({ isClosed, answers }).toMatchObject({ isClosed: true, answers: [{ id: 1 }] });
});

it('a plugin whose `ask` never settles delays a question by a second at most (#22)', async () => {
  class Asking {
    @Tool() async book(_: unknown, ctx: { confirm(text: string): Promise<boolean> }) {
      return String(await ctx.confirm('Book?'));
    }
  }
  const { server, errors } = serverWith({ ask: never }, [new Shop()]);
  server.addTool({ name: 'book' }, async (input, ctx) => await new Asking().book(input, ctx));
  const onElicit = () => ({ action: 'accept' as const, content: { answer: true } });
  const client = await connect(server, { era: 'stateful', onElicit });
  const booked = client.callTool('book');
  await jest.advanceTimersByTimeAsync(1000);
  expect(await booked).toMatchObject({ content: [{ text: 'true' }] });
  expect(errors).toEqual([expect.stringContaining('"stuck" failed in `ask`')]);
  await server.close();
});

it('a hook that never ends delays `close` by half a minute at most, and the other hooks run (#22)', async () => {
  const closed: string[] = [];
  class First extends Shop {
    onClose() {
      closed.push('first');
    }
  }
  class Stuck {
    @Tool() wait() {}
    onClose() {
      closed.push('stuck');
      return never();
    }
  }
  const { server, errors } = serverWith({ onClose: never }, [new First(), new Stuck()]);
  await connect(server, { era: 'stateless' });
  const closing = server.close().catch((error: Error) => error.message);
  await jest.advanceTimersByTimeAsync(29_999);
  expect(closed).toEqual(['stuck']);
  await jest.advanceTimersByTimeAsync(30_001);
  expect(closed).toEqual(['stuck', 'first']);
  expect(await closing).toBe('`onClose` of Stuck has not ended within 30000 ms.');
  expect(errors).toEqual([expect.stringContaining('`onClose` of the plugin "stuck" has not ended within 30000 ms.')]);
});
