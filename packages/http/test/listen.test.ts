// `listen`: its paths, its addresses, and the process that it serves.
import { AsyncLocalStorage } from 'node:async_hooks';
import { spawn } from 'node:child_process';
import dns from 'node:dns/promises';
import { once } from 'node:events';
import { type IncomingMessage, Server } from 'node:http';
import { type AddressInfo, connect, createServer as createNetServer } from 'node:net';
import { fileURLToPath } from 'node:url';

import { describe, expect, it, jest } from '@jest/globals';
import { hostRequest, listen, type ListenOptions } from '@decorum/http';

import { EventReader } from './events.js';
import { afterwards, createServer, pipelined, Probe, serve } from './fixture.js';
import { ADD, calling, type Fields, json, modernCall, modernHeaders } from './messages.js';
import { post, postParts, raw } from './sending.js';

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
    const answer = await post(url, ...ADD);
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
    async function withAll<T>(found: readonly string[], begin: () => Promise<T>): Promise<T> {
      const lookup = jest.spyOn(dns, 'lookup');
      lookup.mockResolvedValue(found.map((address) => ({ address, family: 4 })) as never);
      return await begin().finally(() => lookup.mockRestore());
    }

    const serveBoth = (options: ListenOptions = {}) =>
      withAll(addresses, () => serve({ host: 'localhost', ...options }));

    it.each([
      ['', {}],
      [', and ignores an upgrade that it offers', { connection: 'Upgrade', upgrade: 'h2c' }],
    ])('answers a request%s', async (_what, more: Fields) => {
      const { port } = await serveBoth();
      for (const host of addresses) {
        const [message, headers] = ADD;
        const all = { ...headers, ...more, host: `localhost:${port}`, 'content-type': 'application/json' };
        const [, text] = await raw(`http://${host}:${port}/mcp`, 'POST', all, JSON.stringify(message));
        expect(text).toContain('"text":"3"');
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
      const { port, hits } = await serveBoth({ limits: { [limit]: value } });
      const first = connect(port, host);
      afterwards(() => first.destroy());
      first.write('POST /mcp HTTP/1.1\r\n');
      await once(first, 'connect');
      const refused = limit === 'requestTimeoutMs' ? first : connect(port, host);
      await once(refused.on('error', () => {}).resume(), 'close');
      expect(hits.map((hit) => hit.limit)).toEqual([limit]);
    });

    it('fails if another program has the port of one', async () => {
      const other = createNetServer();
      afterwards(() => void other.close());
      await once(other.listen(0, addresses[1]), 'listening');
      const { port } = other.address() as AddressInfo;
      const { server } = createServer(new Probe());
      const started = withAll(addresses, () => listen(server, { port, host: 'localhost' }));
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
    const answer = await post(url, ...calling('port'));
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
      const begun = new Promise<void>((resolve) => (entered = resolve));
      const headers = modernHeaders('tools/call', 'user');
      expect(await postParts(url, { headers, begun }, parts)).toContain('"text":"ann"');
    }
  });
});

describe('listen, for other paths', () => {
  it.each(['GET', 'PUT', 'PROPFIND'])('answers %s with 404, without authentication', async (method) => {
    const { url } = await serve({ auth: { authenticate: () => ({ status: 401 }) } });
    const answer = await fetch(new URL('/elsewhere', url), { method });
    const error = { message: 'There is no endpoint at this path.' };
    expect([answer.status, await answer.json()]).toMatchObject([404, { error }]);
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

const FIXTURE = fileURLToPath(new URL('fixtures/server.mjs', import.meta.url));

/** Starts the fixture, a program that uses the built packages. */
async function start(mode = 'plain') {
  const child = spawn(process.execPath, [FIXTURE, mode], { stdio: 'pipe' });
  afterwards(() => child.kill('SIGKILL'));
  const closed = once(child, 'close') as Promise<[code: number | null, signal: string | null]>;
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += String(chunk);
  });
  const said = async (text: string) => {
    while (!stderr.includes(text) && child.exitCode === null) await Promise.race([once(child.stderr, 'data'), closed]);
    return stderr;
  };
  const url = /^url (.+)$/m.exec(await said('/mcp\n'))?.[1] ?? '';
  return { child, url, closed, said };
}

const work = (url: string) => post(url, ...calling('work'));

describe('A process that is served over HTTP', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'waits for requests in flight, closes the server and exits with 0 on %s',
    async (signal) => {
      const { child, url, closed, said } = await start();
      const pending = work(url);
      await said('working');
      child.kill(signal);
      expect(await json(await pending)).toMatchObject({ result: { content: [{ text: 'worked' }] } });
      expect(await closed).toEqual([0, null]);
      expect(await said('')).toContain('closed\n');
    },
  );

  it('exits within one `closeDeadlineMs` even if a call never ends', async () => {
    const { child, url, closed, said } = await start('hangs');
    const pending = work(url);
    await said('working');
    const began = performance.now();
    child.kill('SIGTERM');
    expect((await pending).status).toBe(503);
    expect(await closed).toEqual([0, null]);
    // the fixture sets `closeDeadlineMs` to 3000
    expect(performance.now() - began).toBeLessThan(5800);
  });

  it('exits at once on a second signal', async () => {
    const { child, url, closed, said } = await start('works-long');
    const pending = work(url).catch(() => 'cut off');
    await said('working');
    child.kill('SIGTERM');
    await said('signalled');
    child.kill('SIGINT');
    expect(await closed).toEqual([null, 'SIGINT']);
    expect(await pending).toBe('cut off');
  });

  it.each([
    ['exits with 1 if an onClose hook fails, and logs the error', 'fails-to-close', 1, 'no goodbye'],
    ['waits for all its servers, including those over stdio', 'two-servers', 0, 'closed\n'],
    ['leaves signals to the program with `signals: false`', 'own-signals', 7, ''],
  ])('%s', async (_what, mode, code, text) => {
    const { child, closed, said } = await start(mode);
    child.kill('SIGTERM');
    expect(await closed).toEqual([code, null]);
    expect(await said('')).toContain(text);
    if (mode === 'own-signals') expect(await said('')).not.toContain('onClose');
  });

  it('exits when its stdin ends if it also serves stdio, after waiting for the rest', async () => {
    const { child, closed, said } = await start('two-servers');
    child.stdin.end();
    expect(await closed).toEqual([0, null]);
    expect(await said('')).toContain('closed\n');
  });

  it.each(['logs', 'throws'])('exits when its stdout and stderr are closed while it %s', async (mode) => {
    const { child } = await start(mode);
    const exit = once(child, 'exit');
    child.stdout.destroy();
    child.stderr.destroy();
    expect(await exit).toEqual([0, null]);
  });

  it('stops handling signals once it is closed', async () => {
    const { child, closed, said } = await start('closes-itself');
    expect(await said('listeners')).toContain('listeners 0\n');
    child.kill('SIGTERM');
    expect(await closed).toEqual([null, 'SIGTERM']);
  });
});
