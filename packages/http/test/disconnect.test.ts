import { EventEmitter, once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';

import { describe, expect, it } from '@jest/globals';
import fastify from 'fastify';
import { mcp } from '@decorum/http';

import { EventReader } from './events.js';
import {
  afterwards,
  call,
  createServer,
  kernelOf,
  modern,
  modernCall,
  modernHeaders,
  openSession,
  post,
  Probe,
  request,
  serve,
  type Fields,
} from './fixture.js';

/** Open subscriptions. */
interface Insides {
  readonly parts: { readonly events: { readonly listeners: { readonly size: number } } };
}

const TOKEN = { progressToken: 1 };

/** A raw connection, so that the test decides when it closes. */
async function connection(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  afterwards(() => socket.destroy());
  await once(socket, 'connect');
  return socket;
}

function write(socket: Socket, port: number, [message, headers]: [unknown, Fields]): void {
  const body = JSON.stringify(message);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(
    `POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\n${lines.join('')}` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

describe('a disconnect in the stateless era', () => {
  it('cancels the request, whether it streams already or not [HTTP-22] [HTTP-24]', async () => {
    const { port, probe } = await serve();
    for (const name of ['wait', 'stream']) {
      const began = once(probe, 'began');
      const socket = await connection(port);
      write(socket, port, [modernCall(1, name, {}, TOKEN), modernHeaders('tools/call', name)]);
      await began;
      const aborted = once(probe, 'aborted');
      socket.destroy();
      await aborted;
      expect(probe.contexts.at(-1)?.signal.reason).toMatchObject({
        name: 'AbortError',
        message: 'The client disconnected.',
      });
      probe.emit('go');
    }
  });

  it('is final: later output of the handler is dropped [HTTP-23]', async () => {
    const { port, probe, errors } = await serve();
    const began = once(probe, 'began');
    const socket = await connection(port);
    write(socket, port, [modernCall(1, 'stream', {}, TOKEN), modernHeaders('tools/call', 'stream')]);
    await began;
    const aborted = once(probe, 'aborted');
    socket.destroy();
    await aborted;
    for (const step of [2, 3]) probe.contexts[0]?.progress(step);
    probe.emit('go');
    expect(errors).toEqual([]);
  });

  it('cancels the request on the connection and no others, and the next one on it never begins [HTTP-22]', async () => {
    const { url, port, probe } = await serve();
    const other = once(probe, 'began');
    const pending = post(url, modernCall(1, 'wait'), modernHeaders('tools/call', 'wait'));
    await other;
    const socket = await connection(port);
    const began = once(probe, 'began');
    for (const id of [1, 2]) write(socket, port, [modernCall(id, 'wait'), modernHeaders('tools/call', 'wait')]);
    await began;
    const aborted = once(probe, 'aborted');
    socket.destroy();
    await aborted;
    expect(probe.contexts.map(({ signal }) => signal.aborted)).toEqual([false, true]);
    probe.emit('go');
    expect((await pending).status).toBe(200);
    expect(probe.contexts).toHaveLength(2);
  });

  it('does not cancel requests that were already answered', async () => {
    const { port, probe } = await serve();
    const socket = await connection(port);
    const began = once(probe, 'began');
    write(socket, port, [modernCall(1, 'wait'), modernHeaders('tools/call', 'wait')]);
    await began;
    probe.emit('go');
    await once(socket, 'data');
    socket.destroy();
    await once(socket, 'close');
    expect(probe.aborted).toBe(0);
  });
});

describe('a disconnect before the handler, while a hook of the application runs', () => {
  /** An application whose hook holds each request until the client has disconnected. */
  async function hooked() {
    const probe = new Probe();
    const { server, errors } = createServer(probe);
    const app = fastify();
    const hook = new EventEmitter();
    app.addHook('preHandler', async ({ raw: { socket } }) => {
      hook.emit('runs');
      if (!socket.destroyed) await once(socket, 'close');
      setImmediate(() => hook.emit('over'));
    });
    await app.register(mcp, { server });
    await app.listen({ port: 0, host: '127.0.0.1' });
    afterwards(async () => {
      probe.emit('go');
      await app.close();
      await server.close();
    });
    const { port } = app.server.address() as AddressInfo;
    /** Sends a request and disconnects. Resolves when the hook has let the request through. */
    const leave = async (sent: [unknown, Fields]) => {
      const socket = await connection(port);
      const runs = once(hook, 'runs');
      write(socket, port, sent);
      await runs;
      const over = once(hook, 'over');
      socket.destroy();
      await over;
    };
    return { leave, probe, server, errors };
  }

  it('leaves no subscription behind [HTTP-22]', async () => {
    const { leave, server, errors } = await hooked();
    const { listeners } = ((await kernelOf(server)) as unknown as Insides).parts.events;
    const params = { notifications: { toolsListChanged: true } };
    for (let id = 1; id <= 3; id++) {
      await leave([modern(id, 'subscriptions/listen', params), modernHeaders('subscriptions/listen')]);
    }
    expect([listeners.size, errors]).toEqual([0, []]);
  });

  it('runs no handler [HTTP-22]', async () => {
    const { leave, probe, errors } = await hooked();
    await leave([modernCall(1, 'wait'), modernHeaders('tools/call', 'wait')]);
    expect([probe.contexts, errors]).toEqual([[], []]);
  });
});

describe('a disconnect in a session', () => {
  it('does not cancel: the handler completes normally [HTTP-21]', async () => {
    const { url, port, probe } = await serve();
    const session = await openSession(url);
    for (const name of ['wait', 'stream']) {
      const began = once(probe, 'began');
      const socket = await connection(port);
      write(socket, port, [call(name, name, {}, TOKEN), session]);
      await began;
      socket.destroy();
      await once(socket, 'close');
      expect((await post(url, request(2, 'ping'), session)).status).toBe(200);
      expect(probe.contexts.at(-1)?.signal.aborted).toBe(false);
      probe.emit('go');
    }
    const reader = new EventReader(await post(url, call(3, 'steps', {}, TOKEN), session));
    expect(await reader.rest()).toHaveLength(5);
  });
});
