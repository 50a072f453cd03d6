import { describe, expect, it } from '@jest/globals';
import { Context, McpError, McpServer, NoInput, Tool } from '@decorum/core';
import { connect } from '@decorum/testing';
import { IsBoolean, IsInt, IsOptional, IsString, Min } from 'class-validator';

class Trip {
  @IsString()
  city!: string;

  @IsInt()
  @Min(1)
  days!: number;

  @IsOptional()
  @IsBoolean()
  pets?: boolean = false;
}

class Asker {
  @Tool()
  async plan(_input: NoInput, ctx: Context) {
    const answer = await ctx.elicit(Trip, { message: 'Where to?' });
    if (answer.action !== 'accept') return answer.action;
    return `${answer.content.days} days in ${answer.content.city}, ${answer.content instanceof Trip}`;
  }

  @Tool()
  async poem(_input: NoInput, ctx: Context) {
    const { text, model } = await ctx.sample({ messages: 'A poem', maxTokens: 10 });
    return `${model}: ${text}`;
  }

  @Tool()
  async where(_input: NoInput, ctx: Context) {
    return (await ctx.roots()).map(({ uri }) => uri).join();
  }

  @Tool()
  async patient(_input: NoInput, ctx: Context) {
    await ctx.sample({ messages: 'Anybody?', maxTokens: 1, timeoutMs: 20 });
  }

  @Tool()
  async careful(_input: NoInput, ctx: Context) {
    try {
      await ctx.sample({ messages: 'Anybody?', maxTokens: 1 });
      return 'answered';
    } catch (error) {
      return error instanceof McpError ? `${error.kind}` : 'something else';
    }
  }

  @Tool()
  async alive(_input: NoInput, ctx: Context) {
    await ctx.ping();
    return 'alive';
  }

  @Tool()
  chatter(_input: NoInput, ctx: Context) {
    ctx.log.debug('detail');
    ctx.log.info({ step: 1 }, 'chatter');
    ctx.log.error('trouble');
  }

  late: Context | undefined;

  @Tool()
  progress(_input: NoInput, ctx: Context) {
    this.late = ctx;
    ctx.progress(1, 4);
    ctx.progress(1, 4);
    ctx.progress(0.5, 4);
    ctx.progress(Number.NaN);
    ctx.progress(2.5, 4, 'half');
  }

  started: (() => void) | undefined;
  aborted: ((reason: string) => void) | undefined;

  @Tool()
  wait_unaware(_input: NoInput, ctx: Context) {
    this.late = ctx;
    return new Promise(() => {});
  }

  @Tool()
  async wait(_input: NoInput, ctx: Context) {
    const aborted = new Promise((resolve) => ctx.signal.addEventListener('abort', resolve));
    this.started?.();
    await aborted;
    this.aborted?.((ctx.signal.reason as Error).message);
    return 'cancelled';
  }
}

const SILENT = { warn: () => {}, error: () => {} };
const serverOf = (asker = new Asker()) =>
  new McpServer({ name: 'test', version: '1', providers: [asker], logger: SILENT });
const textOf = ({ content }: { content: readonly object[] }) => (content[0] as { text?: string } | undefined)?.text;

describe('ctx.elicit', () => {
  it('sends a flat form of the DTO, and returns a validated instance with defaults [ELIC-05]', async () => {
    let form: unknown;
    const client = await connect(serverOf(), {
      onElicit: (params) => {
        form = params;
        return { action: 'accept', content: { city: 'Oslo', days: 3 } };
      },
    });
    expect(textOf(await client.callTool('plan'))).toBe('3 days in Oslo, true');
    expect(form).toEqual({
      mode: 'form',
      message: 'Where to?',
      requestedSchema: {
        type: 'object',
        properties: {
          city: { type: 'string' },
          days: { type: 'integer', minimum: 1 },
          pets: expect.objectContaining({ default: false }),
        },
        required: ['city', 'days'],
      },
    });
  });

  it.each(['decline', 'cancel'] as const)('distinguishes %s [ELIC-08]', async (action) => {
    const client = await connect(serverOf(), { onElicit: () => ({ action }) });
    expect(textOf(await client.callTool('plan'))).toBe(action);
  });

  it('rejects an invalid answer [ELIC-09]', async () => {
    const client = await connect(serverOf(), {
      onElicit: () => ({ action: 'accept', content: { city: 'Oslo', days: 0 } }),
    });
    const result = await client.callTool('plan');
    expect(result.isError).toBe(true);
    expect(textOf(result)).toContain('days');
  });

  it('fails without sending anything if the client has no elicitation [ELIC-01]', async () => {
    const client = await connect(serverOf());
    const result = await client.callTool('plan');
    expect(result).toMatchObject({ isError: true });
    expect(textOf(result)).toContain('elicitation');
  });
});

describe('ctx.sample', () => {
  it('returns the text of the answer', async () => {
    const client = await connect(serverOf(), {
      onSample: () => ({ role: 'assistant', model: 'm1', content: { type: 'text', text: 'Roses' } }),
    });
    expect(textOf(await client.callTool('poem'))).toBe('m1: Roses');
  });

  it('fails with the message of the client, not with its code [SAMP-11]', async () => {
    const client = await connect(serverOf(), {
      onSample: () => {
        throw new McpError(-1, 'User rejected');
      },
    });
    const result = await client.callTool('poem');
    expect(result.isError).toBe(true);
    expect(textOf(result)).toBe('The client answered with an error: User rejected');
  });

  it('throws a catchable error if the client cannot sample [SAMP-01]', async () => {
    const client = await connect(serverOf());
    expect(textOf(await client.callTool('careful'))).toBe('missing-capability');
  });

  it('times out and cancels the question [LIFE-14]', async () => {
    const client = await connect(serverOf(), { onSample: () => new Promise<never>(() => {}) });
    const cancelled = client.nextNotification('notifications/cancelled');
    expect(textOf(await client.callTool('patient'))).toBe('The client did not answer within 20 ms.');
    expect((await cancelled).params).toMatchObject({ requestId: expect.any(String) });
  });
});

describe('ctx.roots', () => {
  it('asks once, and again when the client reports a change [ROOT-03]', async () => {
    let asked = 0;
    const client = await connect(serverOf(), { onRoots: () => [{ uri: `file:///${++asked}` }] });
    expect(textOf(await client.callTool('where'))).toBe('file:///1');
    expect(textOf(await client.callTool('where'))).toBe('file:///1');
    await client.notify('notifications/roots/list_changed');
    expect(textOf(await client.callTool('where'))).toBe('file:///2');
  });
});

describe('ctx.ping', () => {
  it('reaches the client', async () => {
    const client = await connect(serverOf());
    expect(textOf(await client.callTool('alive'))).toBe('alive');
  });
});

describe('ctx.log', () => {
  it('sends messages at or above the level of the session [LOG-02] [LOG-05]', async () => {
    const client = await connect(serverOf());
    await client.callTool('chatter');
    await client.setLogLevel('error');
    await client.callTool('chatter');
    const messages = client.notifications.filter(({ method }) => method === 'notifications/message');
    expect(messages.map(({ params }) => params)).toEqual([
      { level: 'info', logger: 'chatter', data: { step: 1 } },
      { level: 'error', data: 'trouble' },
      { level: 'error', data: 'trouble' },
    ]);
  });

  it('rejects an unknown level [LOG-03]', async () => {
    const client = await connect(serverOf());
    await expect(client.request('logging/setLevel', { level: 'loud' })).rejects.toMatchObject({ code: -32602 });
  });
});

describe('ctx.progress', () => {
  it('grows, and keeps the token [PROG-02] [PROG-04]', async () => {
    const client = await connect(serverOf());
    await client.request('tools/call', { name: 'progress', _meta: { progressToken: 0 } });
    const seen = client.notifications.filter(({ method }) => method === 'notifications/progress');
    expect(seen.map(({ params }) => params)).toEqual([
      { progressToken: 0, progress: 1, total: 4 },
      { progressToken: 0, progress: 2.5, total: 4, message: 'half' },
    ]);
  });

  it('is silent without a token [PROG-01], and after the end [PROG-03]', async () => {
    const asker = new Asker();
    const client = await connect(serverOf(asker));
    await client.request('tools/call', { name: 'progress' });
    await client.request('tools/call', { name: 'progress', _meta: { progressToken: 'a' } });
    asker.late?.progress(4, 4);
    expect(client.notifications.filter(({ method }) => method === 'notifications/progress')).toHaveLength(2);
  });

  it('rejects a token that is neither a string nor an integer', async () => {
    const client = await connect(serverOf());
    const call = client.request('tools/call', { name: 'progress', _meta: { progressToken: {} } });
    await expect(call).rejects.toMatchObject({ code: -32602 });
  });
});

describe('cancellation', () => {
  it('aborts the signal and sends no response [CANC-02]', async () => {
    const asker = new Asker();
    const client = await connect(serverOf(asker));
    const began = new Promise<void>((resolve) => {
      asker.started = resolve;
    });
    const aborted = new Promise<string>((resolve) => {
      asker.aborted = resolve;
    });
    const call = client.callTool('wait');
    await began;
    await client.notify('notifications/cancelled', { requestId: 2, reason: 'changed my mind' });
    expect(await aborted).toBe('changed my mind');
    // the client settles a request whose handling has ended without a response
    await expect(call).rejects.toThrow('without a response');
    expect(await client.request('ping')).toEqual({});
  });

  it('by an aborted request of the client reaches the handler (#22)', async () => {
    const asker = new Asker();
    const client = await connect(serverOf(asker));
    const controller = new AbortController();
    asker.started = () => controller.abort();
    const aborted = new Promise<string>((resolve) => {
      asker.aborted = resolve;
    });
    await expect(client.callTool('wait', {}, { signal: controller.signal })).rejects.toMatchObject({
      name: 'AbortError',
    });
    expect(await aborted).toContain('AbortError');
  });

  it('has its reason even if the handler reads the signal only afterwards', async () => {
    const asker = new Asker();
    const server = serverOf(asker);
    const client = await connect(server);
    const call = client.callTool('wait_unaware').catch((error: Error) => error.message);
    await server.close({ deadlineMs: 1 });
    expect(await call).toBe('The server is closing.');
    expect(asker.late?.signal.reason).toMatchObject({ name: 'AbortError', message: 'The server is closing.' });
  });

  it('of an unknown request, or a malformed one, is ignored [CANC-03] [CANC-05]', async () => {
    const client = await connect(serverOf());
    await client.notify('notifications/cancelled', { requestId: 'nothing' });
    await client.notify('notifications/cancelled', {});
    await client.notify('notifications/cancelled');
    expect(await client.request('ping')).toEqual({});
  });

  it('applies on close to calls that miss the deadline', async () => {
    const asker = new Asker();
    const server = serverOf(asker);
    const client = await connect(server);
    const started = new Promise<void>((resolve) => {
      asker.started = resolve;
    });
    const aborted = new Promise<string>((resolve) => {
      asker.aborted = resolve;
    });
    const call = client.callTool('wait').catch((error: Error) => error.message);
    await started;
    await server.close({ deadlineMs: 1 });
    expect([await aborted, await call]).toEqual(['The server is closing.', 'The server is closing.']);
    await expect(connect(server)).rejects.toMatchObject({ code: 'DECORUM_SERVER_CLOSED' });
  });
});
