// Connection handling of HTTP/1.1 and older clients.
import { once } from 'node:events';

import { expect, it } from '@jest/globals';

import { ADD, HttpClient, initialize, TOKEN } from '../support/http-client.js';
import { Connection } from './connection.js';
import { connectTo, inEveryRevision, overEveryHost, serveOn } from './contract.js';

/** A call as text, from a client with an old or unusual HTTP implementation. */
function callText(
  client: HttpClient,
  name: string,
  { version = '1.1', ...headers }: Record<string, string> = {},
): string {
  const message = client.buildMessage(name, 'tools/call', { name, arguments: name === 'add' ? ADD : {}, _meta: TOKEN });
  const body = JSON.stringify(message);
  const all = {
    host: new URL(client.url).host,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    ...client.headersOf(message),
    ...headers,
  };
  const lines = Object.entries(all).map(([header, value]) => `${header}: ${value}\r\n`);
  return `POST /mcp HTTP/${version}\r\n${lines.join('')}\r\n${body}`;
}

overEveryHost('a connection', (host) => {
  inEveryRevision('supports pipelining, and responses keep the order of requests', async (revision) => {
    const { client, probe } = await connectTo(host, revision);
    const connection = await Connection.open(client.url);
    const began = once(probe, 'began');
    connection.socket.write(
      callText(client, 'wait') + callText(client, 'add') + callText(client, 'steps') + callText(client, 'fail'),
    );
    await began;
    // the second request would have been answered by now
    expect(await client.status()).toBe(200);
    expect(connection.text).toBe('');
    probe.emit('go');
    const text = await connection.until(/"isError":true/);
    const ids = [...text.matchAll(/"id":"(wait|add|steps|fail)"/g)].map(([, id]) => id);
    expect(ids).toEqual(['wait', 'add', 'steps', 'fail']);
    expect(text.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(4);
  });

  inEveryRevision('closes after the response if the client asks for it', async (revision) => {
    const { client } = await connectTo(host, revision);
    for (const name of ['add', 'steps']) {
      const connection = await Connection.open(client.url);
      connection.socket.write(callText(client, name, { connection: 'close' }));
      const text = await connection.closed();
      expect(text).toMatch(/^HTTP\/1\.1 200 [^]*\r\nconnection: close\r\n/i);
      expect(text).toContain(`"id":"${name}"`);
    }
  });

  inEveryRevision('may use HTTP/1.0, which has no chunks', async (revision) => {
    const { client } = await connectTo(host, revision);
    for (const name of ['add', 'steps']) {
      const connection = await Connection.open(client.url);
      connection.socket.write(callText(client, name, { version: '1.0' }));
      const [head = '', body = ''] = (await connection.closed()).split('\r\n\r\n');
      expect(head).toMatch(/^HTTP\/1\.1 200 /);
      expect(head).not.toMatch(/transfer-encoding/i);
      expect(body).toMatch(name === 'add' ? /^\{.*\}$/ : /^(id|data): [^]*"result"[^]*\n\n$/);
    }
  });
});

overEveryHost('a body in several chunks', (host) => {
  it('is one message', async () => {
    const { url } = await serveOn(host);
    const connection = await Connection.open(url);
    const bytes = Buffer.from(JSON.stringify({ ...initialize('2025-11-25'), id: 'é€😀' }));
    connection.head('POST', { 'content-type': 'application/json' }, bytes.length);
    for (const byte of bytes) {
      connection.socket.write(Buffer.of(byte));
      if (byte > 127) await new Promise(setImmediate);
    }
    expect(await connection.until(/"result"/)).toMatch(/^HTTP\/1\.1 200 [^]*"id":"é€😀"/);
  });
});
