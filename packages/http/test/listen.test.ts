import { AsyncLocalStorage } from 'node:async_hooks';
import dns from 'node:dns/promises';
import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest, Server } from 'node:http';
import { type AddressInfo, connect, createServer as createNetServer } from 'node:net';

import { describe, expect, it, jest } from '@jest/globals';
import { hostRequest, listen, type ListenOptions } from '@decorum/http';

import { EventReader } from './events.js';
import {
  afterwards,
  createServer,
  type Fields,
  json,
  modernCall,
  modernHeaders,
  pipelined,
  post,
  postParts,
  Probe,
  raw,
  serve,
} from './fixture.js';

const CALL_ADD = modernHeaders('tools/call', 'add');

describe('listen, at its path', () => {
  it.each([
    ['', 'is empty'],
    ['/:tenant/mcp', 'is "/:tenant/mcp"'],
    ['/mcp/*', 'is "/mcp/*"'],
  ])('rejects the path "%s"', async (path, problem) => {
    const started = listen(createServer(new Probe()).server, { port: 0, path });
    await expect(started).rejects.toMatchObject({ code: 'DECORUM_INVALID_OPTION' });
    await expect(started).rejects.toThrow(`\`path\` ${problem}`);
    for (const name of ['path', 'messagesPath']) {
      const old = listen(createServer(new Probe()).server, { port: 0, legacySse: { [name]: path } });
      await expect(old).rejects.toThrow(`\`legacySse.${name}\` ${problem}`);
    }
  });

  const add = async (url: string) => {
    const answer = await post(url, modernCall(1, 'add', { a: 1, b: 2 }), CALL_ADD);
    return [answer.status, (await json(answer)).result?.content?.[0]?.text];
  };

  it('serves all spellings of a path that URLs encode', async () => {
    const { port } = await serve({ path: '/caf%C3%A9/%2F' });
    for (const path of ['/café/%2F', '/caf%C3%A9/%2f', '/%63af%c3%a9/%2F?x=%2f#'])
      expect([path, await add(`http://127.0.0.1:${port}${path}`)]).toEqual([path, [200, '3']]);
    // other resources (RFC 3986, section 2.2)
    for (const path of ['/café//', '/café/%252F', '/cafe%CC%81/%2F', '/caf%C3%A9/%2F/'])
      expect([path, (await raw(`http://127.0.0.1:${port}${path}`, 'POST', {}))[0].statusCode]).toEqual([path, 404]);
  });

  it('gives requests as long as its limit says, even more than the 5 minutes of Node.js', async () => {
    const { url } = await serve({ limits: { requestTimeoutMs: 400_000 } });
    expect(await add(url)).toEqual([200, '3']);
  });

  it('serves HTTP+SSE at a path that URLs encode', async () => {
    const { port } = await serve({ legacySse: { path: '/%C3%A9v%C3%A9n', messagesPath: '/messag%C3%A9s' } });
    const stream = new EventReader(await fetch(`http://127.0.0.1:${port}/évén`));
    expect((await stream.next())?.data).toContain('messag%C3%A9s?');
    await stream.cancel();
  });

  describe('on both addresses of `localhost`', () => {
    const addresses = ['127.0.0.1', '127.0.0.2'];

    /** Reserved for documentation (RFC 5737). */
    const MISSING_ADDRESS = '192.0.2.1';

    /** Starts something while `localhost` has these addresses. */
    async function withAll<T>(found: readonly string[], start: () => Promise<T>): Promise<T> {
      const lookup = jest.spyOn(dns, 'lookup');
      lookup.mockResolvedValue(found.map((address) => ({ address, family: 4 })) as never);
      try {
        return await start();
      } finally {
        lookup.mockRestore();
      }
    }

    const withBoth = <T>(start: () => Promise<T>) => withAll(addresses, start);

    const serveBoth = () => withBoth(() => serve({ host: 'localhost' }));

    it.each([
      ['', {}],
      [', and ignores an upgrade that it offers', { connection: 'Upgrade', upgrade: 'h2c' }],
    ])('answers a request%s', async (_what, more: Fields) => {
      const { port } = await serveBoth();
      for (const host of addresses) {
        const headers = { ...CALL_ADD, ...more, host: `localhost:${port}`, 'content-type': 'application/json' };
        const sent = httpRequest({ host, port, path: '/mcp', method: 'POST', headers, agent: false });
        sent.end(JSON.stringify(modernCall(1, 'add', { a: 1, b: 2 })));
        const [answer] = (await once(sent, 'response')) as [IncomingMessage];
        expect(String(Buffer.concat((await answer.toArray()) as Buffer[]))).toContain('"text":"3"');
        const elsewhere = await fetch(`http://${host}:${port}/elsewhere`, { method: 'PROPFIND' });
        expect([host, elsewhere.status]).toEqual([host, 404]);
      }
    });

    it.each(
      addresses.flatMap((host) => [
        ['maxConnectionsPerAddress', host, 1] as const,
        ['requestTimeoutMs', host, 40] as const,
      ]),
    )('has `%s` at %s', async (limit, host, value) => {
      const { server } = createServer(new Probe(), { onLimit: (hit) => hits.push(hit.limit) });
      const hits: string[] = [];
      const limits = { [limit]: value };
      const { port, close } = await withBoth(() => listen(server, { port: 0, host: 'localhost', limits }));
      afterwards(close);
      const first = connect(port, host);
      afterwards(() => first.destroy());
      first.write('POST /mcp HTTP/1.1\r\n');
      await once(first, 'connect');
      const refused = limit === 'requestTimeoutMs' ? first : connect(port, host);
      await once(refused.on('error', () => {}).resume(), 'close');
      expect(hits).toEqual([limit]);
    });

    it('fails if another program has the port of one', async () => {
      const other = createNetServer();
      afterwards(() => void other.close());
      await once(other.listen(0, addresses[1]), 'listening');
      const { port } = other.address() as AddressInfo;
      const { server } = createServer(new Probe());
      const started = withBoth(() => listen(server, { port, host: 'localhost' }));
      await expect(started).rejects.toThrow(/EADDRINUSE.*Another program listens on port/);
      const [failed] = await once(connect(port, addresses[0]), 'error');
      expect(failed).toMatchObject({ code: 'ECONNREFUSED' });
    });

    it.each([
      [MISSING_ADDRESS, '127.0.0.1'],
      ['127.0.0.1', MISSING_ADDRESS],
    ])('leaves out those that the system does not have: %s and %s', async (...found) => {
      const { port } = await withAll(found, () => serve({ host: 'localhost' }));
      expect((await fetch(`http://127.0.0.1:${port}/elsewhere`)).status).toBe(404);
    });

    it('fails if the system has none', async () => {
      const { server } = createServer(new Probe());
      const started = withAll([MISSING_ADDRESS], () => listen(server, { port: 0, host: 'localhost' }));
      await expect(started).rejects.toMatchObject({ code: 'EADDRNOTAVAIL' });
    });

    it('closes both', async () => {
      const { port, close } = await serveBoth();
      for (const address of addresses) await fetch(`http://${address}:${port}/elsewhere`);
      await close();
      for (const address of addresses) {
        const [failed] = await once(connect(port, address), 'error');
        expect(failed).toMatchObject({ code: 'ECONNREFUSED' });
      }
    });
  });

  const auth: ListenOptions['auth'] = { authenticate: () => ({ subject: 'ann' }) };
  it.each([
    ['', {}],
    [', with `auth`', { auth }],
    [', with `principal`', { principal: () => undefined }],
  ])("gives Node's request%s", async (_name, options: ListenOptions) => {
    const { server, url } = await serve(options);
    server.addTool({ name: 'port', description: 'Tells the port' }, (_input, { transport }) =>
      String((hostRequest(transport) as IncomingMessage).socket.localPort),
    );
    const answer = await post(url, modernCall(1, 'port'), modernHeaders('tools/call', 'port'));
    expect(await json(answer)).toMatchObject({ result: { content: [{ text: new URL(url).port }] } });
  });

  it('runs handlers in the `AsyncLocalStorage` of instrumentation, which wraps the event of a request', async () => {
    const storage = new AsyncLocalStorage<string>();
    const emitter = Server.prototype as unknown as { emit(...args: unknown[]): boolean };
    const { emit } = emitter;
    let entered = () => {};
    emitter.emit = function (...args) {
      if (args[0] !== 'request') return emit.apply(this, args);
      const isHeard = storage.run('ann', () => emit.apply(this, args));
      entered();
      return isHeard;
    };
    afterwards(() => void (emitter.emit = emit));
    const { server, url } = await serve();
    server.addTool({ name: 'user', description: 'Tells who calls' }, () => storage.getStore() ?? 'nobody');
    const text = JSON.stringify(modernCall(1, 'user'));
    for (const parts of [[text], [text.slice(0, 9), text.slice(9)], ['', text.padEnd(90_000)]]) {
      const begun = new Promise<void>((resolve) => {
        entered = resolve;
      });
      const headers = modernHeaders('tools/call', 'user');
      expect(await postParts(url, { headers, begun }, parts)).toContain('"text":"ann"');
    }
  });
});

describe('listen, for other paths', () => {
  it.each(['GET', 'PUT', 'PROPFIND'])('answers %s with 404, without authentication', async (method) => {
    const { url } = await serve({ auth: { authenticate: () => ({ status: 401 }) } });
    const answer = await fetch(new URL('/elsewhere', url), { method });
    expect([answer.status, await answer.json()]).toMatchObject([
      404,
      { error: { message: 'There is no endpoint at this path.' } },
    ]);
  });

  it('rejects paths that are not valid percent-encoding', async () => {
    const { url } = await serve();
    const [answer] = await raw(new URL('/%zz', url).href, 'POST', {});
    expect(answer.statusCode).toBe(400);
  });

  it('answers at most 17 requests in a packet', async () => {
    const { url } = await serve();
    expect(await pipelined('GET /elsewhere', url, 17)).toHaveLength(17);
    expect((await pipelined('GET /elsewhere', url, 18)).length).toBeLessThan(2);
  });
});
