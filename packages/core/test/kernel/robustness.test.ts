import { describe, expect, it } from '@jest/globals';
import { Context, McpServer, type McpServerOptions, NoInput, Resource, Tool, ToolError } from '@decorum/core';
import { connect } from '@decorum/testing';

class Odd {
  steps = 0;
  stopped = false;
  started: (() => void) | undefined;
  release: (() => void) | undefined;

  @Tool()
  query() {
    // query builders return such objects, which run when awaited
    // oxlint-disable-next-line unicorn/no-thenable
    return { sql: 'select secret', then: (resolve: (rows: string) => void) => resolve('rows') };
  }

  @Tool()
  throws(_input: NoInput, _ctx: Context): string {
    throw 10n;
  }

  @Tool()
  circular() {
    const error: { self?: unknown } = {};
    error.self = error;
    throw error;
  }

  @Tool()
  async *endless(_input: NoInput, _ctx: Context) {
    try {
      for (;;) {
        this.steps += 1;
        this.started?.();
        yield this.steps;
        await new Promise((resolve) => setImmediate(resolve));
      }
    } finally {
      this.stopped = true;
      this.release?.();
    }
  }

  @Tool()
  stream() {
    return {
      async *[Symbol.asyncIterator]() {
        yield 'one';
        yield 'two';
      },
    };
  }

  @Tool()
  async slow() {
    this.started?.();
    await new Promise<void>((resolve) => {
      this.release = resolve;
    });
    return 'finished';
  }

  @Tool()
  chatty(_input: NoInput, ctx: Context) {
    ctx.progress(Number.POSITIVE_INFINITY);
    ctx.progress(1, Number.NaN);
    const circular: { self?: unknown } = {};
    circular.self = circular;
    for (const data of [undefined, 10n, circular, new ToolError('trouble')]) ctx.log.error(data);
  }
}

const SILENT = { warn: () => {}, error: () => {} };

const serverOf = (odd: Odd, options: Partial<McpServerOptions> = {}) =>
  new McpServer({ name: 'test', version: '1', providers: [odd], logger: SILENT, ...options });

describe('a tool', () => {
  it('may return a thenable', async () => {
    const client = await connect(serverOf(new Odd()));
    expect((await client.callTool('query')).content).toEqual([{ type: 'text', text: 'rows' }]);
  });

  it('may return any async iterable', async () => {
    const client = await connect(serverOf(new Odd()));
    expect((await client.callTool('stream')).content).toHaveLength(2);
  });

  it.each(['throws', 'circular'])(
    'that throws a non-error is masked too, including with the stderr logger: %s',
    async (name) => {
      const seen: unknown[] = [];
      const client = await connect(serverOf(new Odd(), { onError: (error) => seen.push(error) }));
      expect(await client.callTool(name)).toMatchObject({ isError: true });
      expect(seen).toHaveLength(1);
    },
  );

  it('is answered even if logger and onError throw', async () => {
    const fails = () => {
      throw new Error('the logger is broken');
    };
    const client = await connect(serverOf(new Odd(), { logger: { warn: fails, error: fails }, onError: fails }));
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
    const client = await connect(serverOf(new Odd(), { logger, onError }));
    expect(await client.callTool('throws')).toMatchObject({ isError: true });
    expect([reported, handled]).toEqual([1, 2]);
  });

  it('that generates endlessly is stopped when it is cancelled', async () => {
    const odd = new Odd();
    const client = await connect(serverOf(odd));
    const controller = new AbortController();
    const stopped = new Promise<void>((resolve) => {
      odd.release = resolve;
    });
    odd.started = () => odd.steps === 3 && controller.abort();
    await expect(client.callTool('endless', {}, { signal: controller.signal })).rejects.toThrow('aborted');
    await stopped;
    expect(odd.stopped).toBe(true);
  });

  it('may log and report values without a JSON form', async () => {
    const client = await connect(serverOf(new Odd()));
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

describe('close', () => {
  it('waits for a call in flight, and answers it', async () => {
    const odd = new Odd();
    const server = serverOf(odd);
    const client = await connect(server);
    const started = new Promise<void>((resolve) => {
      odd.started = resolve;
    });
    const call = client.callTool('slow');
    await started;
    const closed = server.close({ deadlineMs: 10_000 });
    odd.release?.();
    expect((await call).content).toEqual([{ type: 'text', text: 'finished' }]);
    await closed;
    await expect(client.request('ping')).rejects.toThrow('closed');
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

      @Tool({ name })
      tool() {
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

  it('that are still starting when the server closes keep transports from opening', async () => {
    let go: () => void = () => {};
    const started = new Promise<void>((resolve) => {
      go = resolve;
    });
    class Slow {
      onStart() {
        return started;
      }

      @Tool()
      tool() {}
    }
    const server = new McpServer({ name: 'test', version: '1', providers: [Slow] });
    const connecting = connect(server);
    const closed = server.close();
    go();
    await expect(connecting).rejects.toMatchObject({ code: 'DECORUM_SERVER_CLOSED' });
    await closed;
  });

  it('all run, even when one of them fails', async () => {
    const events: string[] = [];
    const providers = [hooked('a', events), hooked('b', events, true), hooked('c', events)];
    const server = new McpServer({ name: 'test', version: '1', providers });
    await connect(server);
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
