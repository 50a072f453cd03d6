import { describe, expect, it } from '@jest/globals';
import { McpServer, type McpServerOptions, Resource, Tool, ToolError } from '@decorum/core';
import { connect } from '@decorum/testing';

const SILENT = { warn: () => {}, error: () => {} };

/** A server whose tool throws. */
function serverOf(options: Partial<McpServerOptions> = {}): McpServer {
  const server = new McpServer({ name: 'test', version: '1', logger: SILENT, ...options });
  server.addTool({ name: 'throws' }, () => {
    throw new Error('broken');
  });
  return server;
}

describe('a tool', () => {
  it('is answered even if logger and onError throw', async () => {
    const fails = () => {
      throw new Error('the logger is broken');
    };
    const client = await connect(serverOf({ logger: { warn: fails, error: fails }, onError: fails }));
    expect(await client.callTool('throws')).toMatchObject({ isError: true });
  });

  it('is answered once, and reported once, if an async onError rejects', async () => {
    let reported = 0;
    let handled = 0;
    // the process ends for a promise whose rejection nobody handles
    const rejected = () => ({
      // oxlint-disable-next-line unicorn/no-thenable
      then(_done: unknown, fail: (failure: Error) => void) {
        fail(new Error('the audit is down'));
        handled += 1;
      },
    });
    const onError = () => {
      reported += 1;
      return rejected() as unknown as void;
    };
    const logger = { warn: () => {}, error: () => rejected() as unknown as void };
    const client = await connect(serverOf({ logger, onError }));
    expect(await client.callTool('throws')).toMatchObject({ isError: true });
    expect([reported, handled]).toEqual([1, 2]);
  });

  it('may log and report values without a JSON form', async () => {
    const server = serverOf();
    server.addTool({ name: 'chatty' }, (_input, ctx) => {
      ctx.progress(Number.POSITIVE_INFINITY);
      ctx.progress(1, Number.NaN);
      const circular: { self?: unknown } = {};
      circular.self = circular;
      for (const data of [undefined, 10n, circular, new ToolError('trouble')]) ctx.log.error(data);
    });
    const client = await connect(server);
    await client.callTool('chatty', {}, { onProgress: () => {} });
    const sent = client.notifications.map(({ params }) => params);
    expect(sent).toMatchObject([
      { progress: 1 },
      { data: 'undefined' },
      { data: '10n' },
      { data: expect.stringContaining('Circular') },
      { data: 'ToolError: trouble' },
    ]);
    expect('total' in (sent[0] as object)).toBe(false);
  });
});

describe('hooks', () => {
  const hooked = (name: string, events: string[], fails = false) => {
    class Hooked {
      onStart(server: McpServer) {
        events.push(`start ${name} of ${server.info.name}`);
      }

      onClose() {
        events.push(`close ${name}`);
        if (fails) throw new Error(`${name} does not close`);
      }

      @Tool({ name }) tool() {
        return name;
      }
    }
    return new Hooked();
  };

  it('of an added provider run at once, and those of a removed one on removal', async () => {
    const events: string[] = [];
    const server = new McpServer({ name: 'test', version: '1' });
    await connect(server);
    const registration = server.addProvider(hooked('late', events));
    expect(events).toEqual(['start late of test']);
    registration.remove();
    registration.remove();
    expect(events).toEqual(['start late of test', 'close late']);
    await server.close();
    expect(events).toHaveLength(2);
  });

  it('run once in order, and close in reverse order, even if one of them fails', async () => {
    const events: string[] = [];
    const providers = [hooked('a', events), hooked('b', events, true), hooked('c', events)];
    const server = new McpServer({ name: 'test', version: '1', providers });
    await connect(server);
    await connect(server);
    expect(events).toEqual(['start a of test', 'start b of test', 'start c of test']);
    await expect(server.close()).rejects.toThrow('b does not close');
    expect(events.slice(3)).toEqual(['close c', 'close b', 'close a']);
  });
});

describe('subscriptions of a session', () => {
  it('are limited to 1000', async () => {
    class Items {
      @Resource('x://{id}', { input: { type: 'object', properties: { id: { type: 'string' } } } })
      item({ id }: { id: string }) {
        return id;
      }
    }
    const client = await connect(new McpServer({ name: 'test', version: '1', providers: [Items] }));
    for (let id = 0; id < 1000; id++) await client.subscribe(`x://${id}`);
    await expect(client.subscribe('x://1000')).rejects.toMatchObject({ code: -32602 });
    await client.unsubscribe('x://0');
    await client.subscribe('x://1000');
  });
});
