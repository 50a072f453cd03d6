import dns from 'node:dns/promises';
import { once } from 'node:events';
import { connect } from 'node:net';

import { describe, expect, it, jest } from '@jest/globals';
import { listen } from '@decorum/http';

import { EventReader, getStream } from './events.js';
import {
  afterwards,
  call,
  createServer,
  json,
  modernCall,
  modernHeaders,
  openSession,
  post,
  Probe,
  request,
  serve,
} from './fixture.js';

const WAIT = [modernCall(1, 'wait'), modernHeaders('tools/call', 'wait')] as const;

describe('close', () => {
  it('ends open streams at once and waits for requests in flight', async () => {
    const { url, probe, close } = await serve();
    const session = await openSession(url);
    const listening = await getStream(url, session);
    const began = once(probe, 'began');
    const pending = post(url, call(1, 'wait'), session);
    await began;
    const closing = close();
    await listening.rest();
    expect(listening.ended).toBe(true);
    probe.emit('go');
    expect((await json(await pending)).result?.content?.[0]?.text).toBe('let go');
    await closing;
    await expect(post(url, request(1, 'ping'), session)).rejects.toThrow('fetch failed');
  });

  it('cancels requests still in flight at the deadline and answers 503', async () => {
    const { url, probe, close } = await serve({ closeDeadlineMs: 20 });
    const session = await openSession(url);
    const requests = [];
    for (const [message, headers] of [
      WAIT,
      [call(1, 'obey'), session],
      [call(1, 'wait'), await openSession(url)],
    ] as const) {
      const began = once(probe, 'began');
      requests.push(post(url, message, headers));
      await began;
    }
    await close();
    for (const response of await Promise.all(requests)) {
      expect([response.status, (await json(response)).id]).toEqual([503, 1]);
    }
    expect(probe.aborted).toBe(2);
  });

  it('closes the connection of a body that it cannot read', async () => {
    const { url, probe, close } = await serve();
    const began = once(probe, 'began');
    const pending = post(url, ...WAIT);
    await began;
    const { port, host } = new URL(url);
    const socket = connect(Number(port), '127.0.0.1');
    await once(socket, 'connect');
    const closing = close();
    const head = `POST /mcp HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json`;
    socket.write(`${head}\r\ncontent-length: 2\r\n\r\n{x`);
    const answer = String(Buffer.concat((await socket.toArray()) as Buffer[]));
    expect(answer).toMatch(/^HTTP\/1\.1 400 [^]*\r\nconnection: close\r\n/i);
    probe.emit('go');
    await Promise.all([pending, closing]);
  });

  it('of the server closes the transport once requests in flight have ended', async () => {
    const { url, probe, server } = await serve();
    const listening = await getStream(url, await openSession(url));
    const began = once(probe, 'began');
    const pending = post(url, ...WAIT);
    await began;
    const closing = server.close();
    probe.emit('go');
    expect((await pending).status).toBe(200);
    await closing;
    await listening.rest();
    await expect(post(url, ...WAIT)).rejects.toThrow('fetch failed');
  });

  it('of the server waits only one deadline for requests that never end', async () => {
    const { url, probe, server } = await serve();
    const session = await openSession(url);
    const requests = [];
    for (const [message, headers] of [
      WAIT,
      [call(1, 'obey'), session],
      [call(1, 'wait'), await openSession(url)],
    ] as const) {
      const began = once(probe, 'began');
      requests.push(post(url, message, headers));
      await began;
    }
    await server.close({ deadlineMs: 20 });
    for (const response of await Promise.all(requests))
      expect([response.status, (await json(response)).id]).toEqual([503, 1]);
    expect(probe.aborted).toBe(2);
  });

  it('of the transport leaves the server open for others', async () => {
    const { server, close } = await serve();
    await close();
    await close();
    const again = await listen(server, { port: 0 });
    expect(
      (await post(again.url, modernCall(1, 'add', { a: 1, b: 2 }), modernHeaders('tools/call', 'add'))).status,
    ).toBe(200);
    await again.close();
  });

  it('does not wait for idle connections', async () => {
    const { port, close } = await serve();
    const silent = connect(port, '127.0.0.1');
    afterwards(() => silent.destroy());
    await once(silent, 'connect');
    await fetch(`http://127.0.0.1:${port}/`);
    const gone = once(silent, 'close');
    await close();
    await gone;
  });

  it('is final: a closed server does not listen again', async () => {
    const { server } = createServer(new Probe());
    await server.close();
    await expect(listen(server, { port: 0 })).rejects.toMatchObject({ code: 'DECORUM_SERVER_CLOSED' });
  });

  it.each(['before', 'while'])('ends `listen` %s it looks up its host', async (when) => {
    const { server } = createServer(new Probe());
    let begun = () => {};
    const begins = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const lookup = jest.spyOn(dns, 'lookup').mockImplementation((() => {
      begun();
      return new Promise(() => {});
    }) as never);
    try {
      const listening = listen(server, { port: 0, host: 'localhost' });
      const closing = when === 'before' ? server.close() : begins.then(() => server.close());
      await expect(listening).rejects.toMatchObject({ code: 'DECORUM_SERVER_CLOSED' });
      await closing;
    } finally {
      lookup.mockRestore();
    }
  });
});

describe('the process', () => {
  it('survives uncaught errors of user code, and reports them', async () => {
    const { url, errors, close } = await serve();
    // call only the listeners that listen() has added, not those of jest
    const added = process.listeners('uncaughtException').at(-1);
    added?.(new Error('in a timer'), 'uncaughtException');
    expect(errors).toEqual([new Error('in a timer')]);
    expect((await post(url, modernCall(1, 'add', { a: 1, b: 2 }), modernHeaders('tools/call', 'add'))).status).toBe(
      200,
    );
    await close();
    expect(process.listeners('uncaughtException')).not.toContain(added);
  });
});

describe('a client that does not finish its request', () => {
  it('is disconnected, whether it trickles headers or the body', async () => {
    const { port } = await serve({ limits: { requestTimeoutMs: 200 } });
    const head = `POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n`;
    for (const text of [head, `${head}content-type: application/json\r\ncontent-length: 1000\r\n\r\n{`]) {
      const socket = connect(port, '127.0.0.1');
      afterwards(() => socket.destroy());
      const trickle = setInterval(() => socket.write('x'), 20);
      socket.on('error', () => {});
      const chunks: Buffer[] = [];
      socket.on('data', (chunk: Buffer) => chunks.push(chunk));
      socket.write(text);
      await once(socket, 'close');
      clearInterval(trickle);
      const answer = Buffer.concat(chunks).toString();
      if (answer !== '') expect(answer).toMatch(/^HTTP\/1\.1 (408|400)/);
    }
  });

  it('is rejected if two headers give different lengths', async () => {
    const { port } = await serve();
    const socket = connect(port, '127.0.0.1');
    afterwards(() => socket.destroy());
    socket.write(
      `POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\ncontent-length: 5\r\n` +
        'transfer-encoding: chunked\r\n\r\n0\r\n\r\nGET /evil HTTP/1.1\r\n\r\n',
    );
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 400/);
  });
});

describe('a stream that ends with the server', () => {
  it('lets a request in flight finish', async () => {
    const { url, probe, close } = await serve();
    const began = once(probe, 'began');
    const reader = new EventReader(
      await post(url, modernCall(1, 'stream', {}, { progressToken: 1 }), modernHeaders('tools/call', 'stream')),
    );
    await began;
    const closing = close();
    probe.emit('go');
    expect((await reader.rest()).at(-1)?.message).toMatchObject({ id: 1, result: { content: [{ text: 'let go' }] } });
    await closing;
  });
});
