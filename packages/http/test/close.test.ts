import dns from 'node:dns/promises';
import { once } from 'node:events';
import { connect } from 'node:net';

import { describe, expect, it, jest } from '@jest/globals';
import { listen } from '@decorum/http';

import { afterwards, whenBegun, createServer, modernCall, modernHeaders, post, Probe, serve } from './fixture.js';

const WAIT = [modernCall(1, 'wait'), modernHeaders('tools/call', 'wait')] as const;

describe('close', () => {
  it('closes the connection of a body that it cannot read', async () => {
    const { url, probe, close } = await serve();
    const [pending] = await whenBegun(probe, post(url, ...WAIT));
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
