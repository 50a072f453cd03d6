import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';

import {
  connectMemory,
  Context,
  McpServer,
  type McpServerOptions,
  NoInput,
  serveStdio,
  type StdioOptions,
  Tool,
} from '@decorum/core';
import { guardProcess } from '@decorum/core/internal';
import { HOST, type Host } from '@decorum/core/transport';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { IsString } from 'class-validator';

import { Sharing } from '../../src/kernel/cluster.js';
import { reporting } from '../kernel/serving.js';
import { ENVELOPE, openPipe, PipeClient } from './pipe-client.js';
import { serveTcp } from './tcp-transport.js';

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
  const { server, errors } = reporting({ providers: [provider], ...options });
  servers.push(server);
  return { server, provider, errors };
}

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close({ deadlineMs: 1 })));
});

const ping = (id: string | number) => ({ id, method: 'ping' });

it('A stdio server reads from a stream of strings', async () => {
  const [input, output] = [new PassThrough({ encoding: 'utf8' }), new PassThrough()];
  await serveStdio(serverOf().server, { input, output });
  input.write('{"jsonrpc":"2.0","id":"ü","method":"ping"}\n');
  const [chunk] = (await output.take(1).toArray()) as Buffer[];
  expect(JSON.parse(String(chunk))).toEqual({ jsonrpc: '2.0', id: 'ü', result: {} });
});

/** A server with a session over pipes, and with a call of `wait` in flight. */
async function openWaiting(options: StdioOptions = {}, meta: object = {}) {
  const made = serverOf();
  const opened = await openPipe(made.server, options);
  await opened.client.initialize();
  opened.client.send({ id: 1, method: 'tools/call', params: { name: 'wait', ...meta } }, ping(2));
  await opened.client.response(2);
  return { ...made, ...opened };
}

const CLOSING = { code: -32603, message: 'The server is closing.' };

describe('The end of a conversation over stdio', () => {
  it('answers requests in flight when the input ends, even the last line without a newline', async () => {
    const { provider, client, connection, input } = await openWaiting({ drainMs: 60_000 });
    input.end('{"jsonrpc":"2.0","id":3,"method":"ping"}');
    await client.response(3);
    provider.waiting.shift()?.();
    await connection.closed;
    expect(client.received.map(({ id }) => id).filter(Boolean)).toEqual(['initialize', 2, 3, 1]);
  });

  it('cancels requests that take too long when the input ends', async () => {
    const { provider, client, connection, input } = await openWaiting({ drainMs: 20 });
    client.send({ id: 3, method: 'tools/call', params: { name: 'hang' } });
    input.end();
    await connection.closed;
    expect(provider.aborted).toBe(1);
    expect(client.received.slice(2)).toEqual([1, 3].map((id) => ({ jsonrpc: '2.0', id, error: CLOSING })));
  });

  it('ends quietly and at once when its reader disconnects', async () => {
    const { provider, errors, client, connection, output } = await openWaiting({ drainMs: 60_000 });
    output.destroy(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
    await connection.closed;
    client.send(ping(3));
    expect(provider.aborted).toBe(1);
    expect(errors).toEqual([]);
  });

  it('comes with an input that is destroyed, and a failure other than a disconnect is reported', async () => {
    const failure = Object.assign(new Error('disk on fire'), { code: 'EIO' });
    for (const reason of [failure, undefined]) {
      const { server, errors } = serverOf();
      const { connection, input } = await openPipe(server);
      input.destroy(reason);
      await connection.closed;
      expect(errors).toEqual(reason ? [failure] : []);
    }
  });

  it('ends when the server closes, after the calls in flight', async () => {
    const { server, provider, client, connection } = await openWaiting();
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
    const { server, provider, client, connection } = await openWaiting({}, meta);
    await server.close({ deadlineMs: 1 });
    await connection.closed;
    expect(client.received.at(-1)).toEqual({ jsonrpc: '2.0', id: 1, error: CLOSING });
    expect(provider.aborted).toBe(1);
  });

  it('answers each request of a batch that outlasts the deadline of server.close()', async () => {
    const { server } = serverOf();
    const { client, connection } = await openPipe(server);
    const hello = { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: {} };
    client.send({ id: 0, method: 'initialize', params: hello });
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
    const answers = [{ error: CLOSING }, { result: {} }, { error: CLOSING }];
    expect(client.received.at(-1)).toMatchObject(answers.map((answer, id) => ({ id, ...answer })));
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

class Clock {
  closed = 0;

  @Tool({ description: 'Tells the time' }) now() {
    return 'noon';
  }

  async onStart() {
    await undefined;
  }

  onClose() {
    this.closed += 1;
  }
}

const OPENED: Readonly<Record<string, (server: McpServer) => Promise<unknown>>> = {
  async stdio(server) {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const { closed } = await serveStdio(server, { input, output });
    await closed;
    if (input.listenerCount('data') > 0) throw new Error('It still reads.');
  },
  async memory(server) {
    const connection = await connectMemory(server, { receive: () => {} });
    await new Promise(setImmediate);
    const sent = connection.send({ jsonrpc: '2.0', id: 1, method: 'ping' });
    await expect(sent).rejects.toThrow('The connection is closed.');
  },
};

it.each(Object.entries(OPENED))(
  'A server that is closed while %s opens closes it, or does not open it',
  async (_name, open) => {
    // microtasks between starting a transport and closing its server
    for (let turns = 0; turns < 13; turns += 1) {
      const clock = new Clock();
      const server = new McpServer({ name: 'clock', version: '1.0.0', providers: [clock] });
      const opened = open(server).catch((error: { code?: string }) => {
        if (error.code !== 'DECORUM_SERVER_CLOSED') throw error;
      });
      for (let count = 0; count < turns; count += 1) await undefined;
      await expect(server.close()).resolves.toBeUndefined();
      await opened;
      expect([turns, clock.closed]).toEqual([turns, 1]);
    }
  },
);

it('serves a session over a transport that uses only the public entries', async () => {
  const source = readFileSync(new URL('tcp-transport.ts', import.meta.url), 'utf8');
  const imported = [...source.matchAll(/from '(@decorum[^']*)'/g)].map(([, specifier]) => specifier);
  expect(imported).toEqual(['@decorum/core', '@decorum/core/transport']);

  const server = new McpServer({ name: 'clock', version: '1.0.0', providers: [Clock] });
  const listener = await serveTcp(server);
  const socket = connect((listener.address() as AddressInfo).port, '127.0.0.1');
  const client = new PipeClient(socket, socket);
  await client.initialize();
  expect(await client.call(1, 'now')).toMatchObject({ result: { content: [{ text: 'noon' }] } });
  client.write('{"jsonrpc": \n');
  client.send({ id: 2, method: 'tools/call', params: { name: 'later' } });
  expect(await client.response(2)).toMatchObject({ error: { code: -32602 } });
  expect(client.received.map(({ error }) => error?.code)).toContain(-32700);

  server.addTool({ name: 'later', input: NoInput }, () => 'soon');
  expect(await client.call(3, 'later')).toMatchObject({ result: { content: [{ text: 'soon' }] } });
  await client.find(({ method }) => method === 'notifications/tools/list_changed');

  const closed = once(socket, 'close');
  listener.close();
  await server.close();
  await closed;
});

const EVENTS = ['uncaughtException', 'unhandledRejection'] as const;
const listeners = () => EVENTS.map((event) => process.listenerCount(event));

function hostOf(report: (error: unknown) => void): Host {
  const open = () => Promise.reject(new Error('not served'));
  return {
    [HOST]: {
      open,
      info: { name: 'none', version: '1.0.0' },
      routes: [],
      detach() {},
      hit() {},
      report,
      warn() {},
      follow() {},
      instruct() {},
      sharing: new Sharing(undefined, []),
    },
  };
}

describe('The guard of the process', () => {
  const releases: (() => void)[] = [];
  const guard = (host: Host) => {
    const release = guardProcess(host);
    releases.push(release);
    return release;
  };

  afterEach(() => {
    for (const release of releases.splice(0)) release();
  });

  it('adds its listeners only once, and removes them with the last release', () => {
    const before = listeners();
    const hosts = [hostOf(() => {}), hostOf(() => {})] as const;
    const guards = [guard(hosts[0]), guard(hosts[0]), guard(hosts[1])];
    const during = before.map((count) => count + 1);
    expect(listeners()).toEqual(during);
    guards[0]?.();
    guards[0]?.();
    guards[2]?.();
    expect(listeners()).toEqual(during);
    guards[1]?.();
    expect(listeners()).toEqual(before);
  });

  it('reports to every server, even if the logger of one throws', () => {
    const heard: unknown[] = [];
    const stderr = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
    const broken = () => {
      throw new Error('logger');
    };
    const host = hostOf((error) => heard.push(error));
    for (const each of [hostOf(broken), host, host]) guard(each);
    const [thrown, rejected] = [new Error('thrown'), new Error('rejected')];
    const own = EVENTS.map((event) => process.listeners(event as 'uncaughtException').at(-1));
    own[0]?.(thrown, 'uncaughtException');
    own[1]?.(rejected, 'unhandledRejection' as 'uncaughtException');
    expect(heard).toEqual([thrown, rejected]);
    expect(stderr.mock.calls.flat()).toEqual(EVENTS.map(() => 'The error could not be reported: Error: logger\n'));
    stderr.mockRestore();
  });

  it('reports a broken pipe once: a logger that writes to it would raise it again for each report', () => {
    const heard: unknown[] = [];
    guard(hostOf((error) => heard.push(error)));
    const own = process.listeners('uncaughtException').at(-1);
    const broken = () => Object.assign(new Error('write EPIPE'), { code: 'EPIPE' });
    for (let round = 0; round < 3; round += 1) own?.(broken(), 'uncaughtException');
    expect(heard).toHaveLength(1);
  });
});
