import { EventEmitter, once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';

import { describe, expect, it } from '@jest/globals';
import fastify from 'fastify';
import { mcp } from '@decorum/http';

import {
  afterwards,
  createServer,
  kernelOf,
  modern,
  modernCall,
  modernHeaders,
  post,
  Probe,
  serve,
  type Fields,
} from './fixture.js';

/** Open subscriptions. */
interface Insides {
  readonly parts: { readonly events: { readonly listeners: { readonly size: number } } };
}

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
