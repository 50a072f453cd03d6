import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';

import { afterEach, describe, expect, it, jest } from '@jest/globals';

import { Context, McpServer, type McpServerOptions, NoInput, serveStdio, Tool } from '@decorum/core';
import { HOST } from '@decorum/core/transport';
import { IsString } from 'class-validator';

import { ENVELOPE, openPipe } from './pipe-client.js';

class Text {
  @IsString() text!: string;
}

class Provider {
  /** Functions that end the pending calls of `wait`. */
  readonly waiting: (() => void)[] = [];
  aborted = 0;

  @Tool({ description: 'Returns what it gets' }) echo({ text }: Text) {
    return text;
  }

  @Tool({ description: 'Ends when the test says so, or when it is cancelled' })
  async wait(_input: NoInput, ctx: Context) {
    ctx.progress(1);
    await new Promise<void>((resolve) => {
      this.waiting.push(resolve);
      ctx.signal.addEventListener('abort', () => {
        this.aborted += 1;
        resolve();
      });
    });
    ctx.log.error('too late if cancelled');
    ctx.progress(2);
    return 'waited';
  }

  @Tool({ description: 'Never ends' }) async hang() {
    await new Promise(() => {});
  }
}

const servers: McpServer[] = [];

function serverOf(options: Partial<McpServerOptions> = {}) {
  const provider = new Provider();
  const errors: unknown[] = [];
  const silent = { warn: () => {}, error: () => {} };
  const server = new McpServer({
    name: 'stdio',
    version: '1.0.0',
    providers: [provider],
    logger: silent,
    onError: (error) => errors.push(error),
    ...options,
  });
  servers.push(server);
  return { server, provider, errors };
}

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close({ deadlineMs: 1 })));
});

const ping = (id: string | number) => ({ id, method: 'ping' });

describe('Framing over stdio', () => {
  it('reads from a stream of strings', async () => {
    const [input, output] = [new PassThrough({ encoding: 'utf8' }), new PassThrough()];
    await serveStdio(serverOf().server, { input, output });
    input.write('{"jsonrpc":"2.0","id":"ü","method":"ping"}\n');
    const [chunk] = (await output.take(1).toArray()) as Buffer[];
    expect(JSON.parse(String(chunk))).toEqual({ jsonrpc: '2.0', id: 'ü', result: {} });
  });
});

describe('The end of a conversation over stdio', () => {
  it('answers requests in flight when the input ends, even the last line without a newline', async () => {
    const { server, provider } = serverOf();
    const { client, connection, input } = await openPipe(server, { drainMs: 60_000 });
    await client.initialize();
    client.send({ id: 1, method: 'tools/call', params: { name: 'wait' } });
    await turn();
    input.end('{"jsonrpc":"2.0","id":2,"method":"ping"}');
    await client.response(2);
    provider.waiting.shift()?.();
    await connection.closed;
    expect(client.received.map(({ id }) => id).filter(Boolean)).toEqual(['initialize', 2, 1]);
  });

  it('cancels requests that take too long when the input ends', async () => {
    const { server, provider } = serverOf();
    const { client, connection, input } = await openPipe(server, { drainMs: 20 });
    await client.initialize();
    client.send({ id: 1, method: 'tools/call', params: { name: 'wait' } });
    client.send({ id: 2, method: 'tools/call', params: { name: 'hang' } });
    input.end();
    await connection.closed;
    expect(provider.aborted).toBe(1);
    const error = { code: -32603, message: 'The server is closing.' };
    expect(client.received.slice(1)).toEqual([1, 2].map((id) => ({ jsonrpc: '2.0', id, error })));
  });

  it('ends quietly and at once when its reader disconnects', async () => {
    const { server, provider, errors } = serverOf();
    const { client, connection, output } = await openPipe(server, { drainMs: 60_000 });
    await client.initialize();
    client.send({ id: 1, method: 'tools/call', params: { name: 'wait' } }, ping(2));
    await client.response(2);
    output.destroy(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
    await connection.closed;
    client.send(ping(3));
    expect(provider.aborted).toBe(1);
    expect(errors).toEqual([]);
  });

  it('reports a failure of its streams other than a disconnect', async () => {
    const { server, errors } = serverOf();
    const { connection, input } = await openPipe(server);
    const failure = Object.assign(new Error('disk on fire'), { code: 'EIO' });
    input.destroy(failure);
    await connection.closed;
    expect(errors).toEqual([failure]);
  });

  it('ends with an input that is destroyed', async () => {
    const { server, errors } = serverOf();
    const { connection, input } = await openPipe(server);
    input.destroy();
    await connection.closed;
    expect(errors).toEqual([]);
  });

  it('ends when the server closes, after the calls in flight', async () => {
    const { server, provider } = serverOf();
    const { client, connection } = await openPipe(server);
    await client.initialize();
    client.send({ id: 1, method: 'tools/call', params: { name: 'wait' } }, ping(2));
    await client.response(2);
    const closed = server.close();
    provider.waiting.shift()?.();
    await Promise.all([closed, connection.closed]);
    expect((await client.response(1)).result).toMatchObject({ content: [{ text: 'waited' }] });
    await expect(openPipe(server)).rejects.toMatchObject({ code: 'DECORUM_SERVER_CLOSED' });
  });

  it.each([
    ['a session', {}],
    ['the stateless era', { _meta: { ...ENVELOPE, progressToken: 1 } }],
  ])('answers calls of %s that outlast the deadline of server.close() with an error', async (_era, meta) => {
    const { server, provider } = serverOf();
    const { client, connection } = await openPipe(server);
    await client.initialize();
    client.send({ id: 1, method: 'tools/call', params: { name: 'wait', ...meta } }, ping(2));
    await client.response(2);
    await server.close({ deadlineMs: 1 });
    await connection.closed;
    const error = { code: -32603, message: 'The server is closing.' };
    expect(client.received.at(-1)).toEqual({ jsonrpc: '2.0', id: 1, error });
    expect(provider.aborted).toBe(1);
  });

  it('answers each request of a batch that outlasts the deadline of server.close()', async () => {
    const { server } = serverOf();
    const { client, connection } = await openPipe(server);
    const protocolVersion = '2025-03-26';
    client.send({ id: 0, method: 'initialize', params: { protocolVersion, capabilities: {}, clientInfo: {} } });
    await client.response(0);
    const batch = ['wait', 'echo', 'hang'].map((name, id) => {
      const params = { name, arguments: name === 'echo' ? { text: 'hi' } : {} };
      return { jsonrpc: '2.0', id, method: 'tools/call', params };
    });
    client.write(`${JSON.stringify(batch)}\n`);
    client.send(ping('seen'));
    await client.response('seen');
    await server.close({ deadlineMs: 1 });
    await connection.closed;
    const error = { code: -32603 };
    expect(client.received.at(-1)).toMatchObject([
      { id: 0, error },
      { id: 1, result: {} },
      { id: 2, error },
    ]);
  });

  it('can be closed without closing the server', async () => {
    const { server } = serverOf();
    const [first, second] = [await openPipe(server), await openPipe(server)];
    const detach = jest.spyOn(server[HOST], 'detach');
    await first.connection.close();
    await first.connection.close();
    expect(detach).toHaveBeenCalledTimes(1);
    first.client.send(ping(1));
    second.client.send(ping(1));
    await second.client.response(1);
    expect(first.client.received).toEqual([]);
    expect(first.input.listenerCount('data')).toBe(0);
  });

  it('guards the process as long as it is served', async () => {
    const { server } = serverOf();
    const before = process.listenerCount('unhandledRejection');
    const { connection } = await openPipe(server);
    expect(process.listenerCount('unhandledRejection')).toBe(before + 1);
    await connection.close();
    expect(process.listenerCount('unhandledRejection')).toBe(before);
    await server.close();
    await expect(openPipe(server)).rejects.toMatchObject({ code: 'DECORUM_SERVER_CLOSED' });
    expect(process.listenerCount('unhandledRejection')).toBe(before);
  });

  it('does not wait forever for a stalled reader', async () => {
    const { server } = serverOf();
    const [input, output] = [new PassThrough(), new PassThrough({ highWaterMark: 10 })];
    const connection = await serveStdio(server, { input, output, drainMs: 20 });
    for (let id = 0; id < 10; id += 1) input.write(`${JSON.stringify({ jsonrpc: '2.0', ...ping(id) })}\n`);
    await turn();
    await expect(connection.close()).resolves.toBeUndefined();
  });
});
