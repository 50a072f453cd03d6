import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';

import { afterEach, describe, expect } from '@jest/globals';
import { type Host, type JsonObject, type McpServer, serveStdio } from '@decorum/core';
import { type Kernel, parseMessage } from '@decorum/core/transport';

import { type Carrier, type Message, overStdio, RawClient, textOf } from '../support/raw-client.js';
import { eachRevision, type SessionRevision } from '../support/requirements.js';
import { deferred, serverWith } from './servers.js';

const PROGRAM = fileURLToPath(new URL('../../packages/core/test/transports/fixtures/server.mjs', import.meta.url));

const children: ReturnType<typeof spawn>[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

/** A program that is served over its own stdio, in a session. */
async function run(revision: SessionRevision) {
  const child = spawn(process.execPath, [PROGRAM], { stdio: 'pipe' });
  children.push(child);
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => void (stdout += String(chunk)));
  child.stderr.on('data', (chunk: Buffer) => void (stderr += String(chunk)));
  const closed = once(child, 'close') as Promise<[code: number | null, signal: string | null]>;
  const overProcess: Carrier = async (_server, receive) => {
    let rest = '';
    child.stdout.on('data', (chunk: Buffer) => {
      const lines = (rest + String(chunk)).split('\n');
      rest = lines.pop() as string;
      for (const line of lines) receive(line);
    });
    return { send: (text) => void child.stdin.write(`${text}\n`), close: () => void child.stdin.end() };
  };
  const client = await RawClient.connect(undefined as unknown as McpServer, { revision }, overProcess);
  const said = async (words: string) => {
    while (!stderr.includes(words)) await Promise.race([once(child.stderr, 'data'), closed]);
  };
  return { child, client, closed, said, stdout: () => stdout, stderr: () => stderr };
}

const LINES = { lines: () => 'one\ntwo\r\nthree\u2028four' };

/** A pipe in this process, with what came out of it as text. */
async function pipe(server: McpServer) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const connection = await serveStdio(server, { input, output });
  const chunks: string[] = [];
  output.setEncoding('utf8').on('data', (chunk: string) => void chunks.push(chunk));
  const until = async (words: string) => {
    while (!chunks.join('').includes(words)) await once(output, 'data');
    return chunks.join('');
  };
  return { input, connection, until };
}

const hello = (revision: SessionRevision) => ({
  jsonrpc: '2.0',
  id: 'hello',
  method: 'initialize',
  params: { protocolVersion: revision, capabilities: {}, clientInfo: { name: 'pipe', version: '1' } },
});
const call = (id: string, name: string) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name } });

describe('a line', () => {
  eachRevision('STDIO-01', 'is one message, whatever its text holds', async (revision) => {
    const { input, until } = await pipe(serverWith(LINES));
    input.write(`${JSON.stringify(hello(revision))}\n${JSON.stringify(call('call', 'lines'))}\n`);
    const lines = (await until('four')).trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as Message).id)).toEqual(['hello', 'call']);
    input.end();
  });

  eachRevision('STDIO-04', 'may come in pieces, with others, and with a carriage return', async (revision) => {
    const { input, until } = await pipe(serverWith({ owl: () => '🦉' }));
    const text = [hello(revision), call('ünï', 'owl'), call('last', 'owl')]
      .map((message) => `${JSON.stringify(message)}\r\n`)
      .join('');
    const bytes = Buffer.from(text);
    const half = bytes.length - 60;
    for (const byte of bytes.subarray(0, half)) input.write(Buffer.of(byte));
    input.write(bytes.subarray(half));
    const lines = (await until('"last"')).trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as Message).id)).toEqual(['hello', 'ünï', 'last']);
    input.end();
  });

  eachRevision('STDIO-05', 'may be a batch', async (revision) => {
    const client = await RawClient.connect(serverWith(LINES), { revision }, overStdio);
    await client.send([call('a', 'lines'), { jsonrpc: '2.0', id: 'b', method: 'ping' }]);
    await Promise.all([client.response('a'), client.response('b')]);
    expect((JSON.parse(client.texts.at(-1) as string) as Message[]).map(({ id }) => id)).toEqual(['a', 'b']);
  });
});

describe('a process', () => {
  eachRevision('STDIO-02', 'has nothing but messages on stdout, whatever handlers print', async (revision) => {
    const { child, client, closed, said, stdout } = await run(revision);
    expect(textOf(await client.call('print'))).toBe('printed');
    await said('noise of a timer');
    child.stdin.end();
    await closed;
    const ids = stdout()
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as Message).id);
    expect(ids).toEqual(['r1', 'r2']);
  });

  eachRevision('STDIO-03', 'logs to stderr', async (revision) => {
    const { client, said, stderr } = await run(revision);
    await client.call('print');
    await said('noise of console.log');
    expect(stderr()).toContain('noise of console.log { deep: [ 1 ] }');
  });

  eachRevision('STDIO-08', 'drains and ends on SIGTERM', async (revision) => {
    const { child, client, closed, said } = await run(revision);
    const answer = client.call('wait', { ms: 50 });
    await said('waiting');
    child.kill('SIGTERM');
    expect(textOf(await answer)).toBe('waited');
    expect(await closed).toEqual([0, null]);
  });
});

describe('a pipe', () => {
  eachRevision('STDIO-07', 'can be closed by the server', async (revision) => {
    const { input, connection, until } = await pipe(serverWith(LINES));
    input.write(`${JSON.stringify(hello(revision))}\n`);
    await until('"hello"');
    await connection.close();
    await connection.closed;
    expect(input.listenerCount('data')).toBe(0);
  });

  eachRevision('STDIO-12', 'knows no caller, whatever the client says of itself', async (revision) => {
    const server = serverWith({ who: ({ principal }) => String(principal?.subject) });
    const client = await RawClient.connect(server, { revision }, overStdio);
    const meta = { authorization: 'Bearer token', principal: { subject: 'ada' } };
    expect(textOf(await client.result('tools/call', { name: 'who', _meta: meta }))).toBe('undefined');
  });

  eachRevision('STDIO-15', 'answers a ping while a slow tool runs', async (revision) => {
    const done = deferred();
    const server = serverWith({ slow: () => done.promise.then(() => 'slow') });
    const client = await RawClient.connect(server, { revision }, overStdio);
    const slow = client.call('slow');
    await client.result('ping');
    done.resolve();
    await slow;
    expect(client.received.slice(1).map(({ id }) => id)).toEqual(['r3', 'r2']);
  });

  eachRevision('STDIO-16', 'survives long answers and handlers that throw', async (revision) => {
    const server = serverWith({
      big: () => 'x'.repeat(3_000_000),
      broken() {
        throw new Error('broken');
      },
    });
    const client = await RawClient.connect(server, { revision }, overStdio);
    const [big, broken] = await Promise.all([client.call('big'), client.call('broken')]);
    expect(textOf(big)).toHaveLength(3_000_000);
    expect(broken).toMatchObject({ isError: true });
    expect(await client.result('ping')).toEqual({});
  });
});

/** A transport of our own: two queues of text. It uses what authors of transports have. */
async function overQueue(host: Host, receive: (text: string) => void) {
  const kernel: Kernel = await host.open(() => {});
  const session = kernel.openSession({ push: receive });
  return {
    async send(text: string) {
      const answer = await kernel.handle(
        parseMessage(text),
        { transport: { kind: 'memory' }, principal: undefined, send: receive },
        session,
      );
      if (answer !== undefined) receive(answer);
    },
    close: () => kernel.closeSession(session),
  };
}

describe('a transport of an author', () => {
  eachRevision('STDIO-13', 'carries the same messages through the same life', async (revision) => {
    const server = serverWith({
      async ask(context, input) {
        context.log.error(input);
        return (await context.sample({ messages: 'Hi', maxTokens: 1 })).text;
      },
    });
    const sampled = { role: 'assistant', model: 'm', content: { type: 'text', text: 'Ho' } };
    const client = await RawClient.connect(
      server,
      {
        revision,
        capabilities: { sampling: {} },
        answers: { 'sampling/createMessage': () => ({ result: sampled }) },
        begins: false,
      },
      overQueue,
    );
    expect(await client.error('tools/list')).toMatchObject({ code: -32600 });
    await client.begin();
    expect(textOf(await client.call('ask', { a: 1 } as JsonObject))).toBe('Ho');
    server.notify.toolsChanged();
    await client.find(({ method }) => method === 'notifications/tools/list_changed');
    const methods = client.received.map(({ method }) => method).filter((method) => method !== undefined);
    expect(methods).toEqual(['notifications/message', 'sampling/createMessage', 'notifications/tools/list_changed']);
  });
});
