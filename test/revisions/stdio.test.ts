import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';

import { afterEach, describe, expect } from '@jest/globals';
import {
  Completion,
  type Context,
  type JsonObject,
  McpError,
  type McpServer,
  NoInput,
  Prompt,
  Resource,
  serveStdio,
  Tool,
} from '@decorum/core';

import { type Message, overStdio, RawClient, type RawTransport, textOf } from '../support/raw-client.js';
import { eachRevision, inStateless, type Revision, STATELESS } from '../support/requirements.js';
import { membersOf, RUNNING } from './members.js';
import { listen } from './neutral.js';
import { deferred, serverOf, serverWith } from './servers.js';

const PROGRAM = fileURLToPath(new URL('../../packages/core/test/transports/fixtures/server.mjs', import.meta.url));

const children: ReturnType<typeof spawn>[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

/** Starts a program that serves its stdio, and initializes a session. */
async function run(revision: Revision) {
  const child = spawn(process.execPath, [PROGRAM], { stdio: 'pipe' });
  children.push(child);
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => void (stdout += String(chunk)));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => void (stderr += chunk));
  const closed = once(child, 'close') as Promise<[code: number | null, signal: string | null]>;
  const overProcess: RawTransport = async (_server, receive) => {
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

/** Serves a pipe in this process, and collects its output. */
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

/** The first message and the calls of a client in the format of the revision. */
function messagesOf(revision: Revision) {
  const message = (id: string, method: string, params: JsonObject) => ({ jsonrpc: '2.0', id, method, params });
  const envelope = {
    'io.modelcontextprotocol/protocolVersion': revision,
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const stateless = revision === STATELESS;
  const hello = { protocolVersion: revision, capabilities: {}, clientInfo: { name: 'pipe', version: '1' } };
  return {
    hello: stateless ? message('hello', 'server/discover', { _meta: envelope }) : message('hello', 'initialize', hello),
    call: (id: string, name: string) => message(id, 'tools/call', { name, ...(stateless && { _meta: envelope }) }),
  };
}

describe('a line', () => {
  eachRevision('STDIO-01', 'is one message, wherever a text with line breaks is', async (revision) => {
    const text = 'one\ntwo\r\nthree\rfour\u2028five';
    const input = { type: 'object', properties: { x: { type: 'string', description: text } } };
    class Breaking {
      @Tool({ description: text, title: text, input, output: { type: 'object' } })
      tool() {
        return { [text]: text };
      }

      @Tool()
      tell(_input: NoInput, context: Context) {
        context.progress(1, 2, text);
        context.log.error({ [text]: [text] }, text);
        return text;
      }

      @Tool()
      fail() {
        throw new McpError('invalid-params', text, { [text]: text });
      }

      @Prompt({ description: text, input })
      prompt(_input: object) {
        return text;
      }

      @Resource('break://{x}', { description: text, input })
      resource(_input: object) {
        return text;
      }

      @Completion({ for: 'prompt', argument: 'x' })
      complete() {
        return [text];
      }
    }
    const server = serverOf({ providers: [Breaking], instructions: text });
    const client = await RawClient.connect(server, { revision, logLevel: 'debug' }, overStdio);
    for (const [method, params] of [
      ['tools/list', {}],
      ['prompts/list', {}],
      ['resources/templates/list', {}],
      ['tools/call', { name: 'tool' }],
      ['tools/call', { name: 'tell', _meta: { progressToken: text } }],
      ['tools/call', { name: 'fail' }],
      ['prompts/get', { name: 'prompt' }],
      ['resources/read', { uri: 'break://any' }],
      ['completion/complete', { ref: { type: 'ref/prompt', name: 'prompt' }, argument: { name: 'x', value: text } }],
    ] as const) {
      const { result, error } = await client.request(method, params, `${method} ${JSON.stringify(params)}\n${text}`);
      expect(JSON.stringify(result ?? error)).toMatch(/one\\+ntwo/);
    }
    expect(client.of('notifications/message')).toHaveLength(1);
    const message = revision === '2024-11-05' ? undefined : text;
    expect(client.of('notifications/progress').map(({ params }) => params?.['message'])).toEqual([message]);
    for (const line of client.texts) expect(line).not.toMatch(/[\r\n]/);
  });

  eachRevision('STDIO-04', 'may be cut anywhere, with the end of one and the start of another', async (revision) => {
    const { input, until } = await pipe(serverWith({ owl: () => '🦉' }));
    const { hello, call } = messagesOf(revision);
    input.write(`${JSON.stringify(hello)}\n`);
    const ids: string[] = [];
    const lines = (round: number) =>
      Buffer.from(
        ['ü', 'b', 'c', 'd']
          .map((name) => `${name}${round}`)
          .map((id) => (ids.push(id), `${JSON.stringify(call(id, 'owl'))}${round % 2 ? '\r\n' : '\n'}`))
          .join(''),
      );
    const line = lines(0).length / 4;
    input.write(lines(1000));
    // a piece has the end of a line, whole lines, and the start of another
    for (let cut = 1; cut <= line; cut += 2) {
      const bytes = lines(cut);
      for (const [from, to] of [
        [0, cut],
        [cut, cut + Math.ceil(1.5 * line)],
        [cut + Math.ceil(1.5 * line), bytes.length],
      ]) {
        input.write(bytes.subarray(from, to));
      }
    }
    const answered = (await until(`"${ids.at(-1)}"`)).trimEnd().split('\n');
    expect(answered.map((text) => (JSON.parse(text) as Message).id)).toEqual(['hello', ...ids.slice(4)]);
    input.end();
  });
});

describe('a process', () => {
  eachRevision(['STDIO-02', 'STDIO-03', 'STDIO-08'], 'has only messages on stdout, and drains', async (revision) => {
    const { child, client, closed, said, stdout, stderr } = await run(revision);
    expect(textOf(await client.call('print'))).toBe('printed');
    await said('noise of a timer');
    expect(stderr()).toContain('noise of console.log { deep: [ 1 ] }');
    const texts = ['für 100 €', '天気 🌤️'];
    for (const text of texts) expect(await client.call('fail', { text })).toMatchObject({ isError: true });
    const answer = client.call('wait', { ms: 50 });
    await said('waiting');
    if (client.stateless) child.stdin.end();
    else child.kill('SIGTERM');
    expect(textOf(await answer)).toBe('waited');
    expect(await closed).toEqual([0, null]);
    for (const text of texts) {
      expect(stderr()).toContain(`\n${text}\n`);
      expect(stderr()).toContain(`Error: ${text}\\n`);
    }
    const ids = stdout()
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as Message).id);
    expect(ids).toEqual(['r1', 'r2', 'r3', 'r4', ...(client.stateless ? [] : ['r5'])]);
  });

  inStateless('STDIO-06', 'exits when its stdin ends, even if a call or a subscription never does', async () => {
    const { child, client, closed, said } = await run(STATELESS);
    await listen(client, { toolsListChanged: true });
    void client.send(client.buildMessage('waits', 'tools/call', { name: 'wait', arguments: { ms: 60_000 } }));
    await said('waiting');
    child.stdin.end();
    expect(await closed).toEqual([0, null]);
  });

  inStateless('STDIO-06', 'exits when its stdin ends, even if nobody reads its answers (#22)', async () => {
    const { child, client } = await run(STATELESS);
    const exited = once(child, 'exit');
    child.stdout.pause();
    // more than the pipe takes
    void client.send(client.buildMessage('big', 'tools/call', { name: 'big', arguments: { characters: 3_000_000 } }));
    child.stdin.end();
    expect(await exited).toEqual([0, null]);
  });
});

describe('a pipe', () => {
  eachRevision('STDIO-07', 'can be closed by the server', async (revision) => {
    const { input, connection, until } = await pipe(serverWith({ work: () => 'done' }));
    input.write(`${JSON.stringify(messagesOf(revision).hello)}\n`);
    await until('"hello"');
    await connection.close();
    await connection.closed;
    expect(input.listenerCount('data')).toBe(0);
    // after it has answered what it had begun, and taken nothing more
    const [began, go] = [deferred(), deferred()];
    const slow = () => {
      began.resolve();
      return go.promise.then(() => 'the end');
    };
    const other = await pipe(serverWith({ slow }));
    const { hello, call } = messagesOf(revision);
    other.input.write(`${JSON.stringify(hello)}\n${JSON.stringify(call('last', 'slow'))}\n`);
    await began.promise;
    const closing = other.connection.close();
    other.input.write(`${JSON.stringify(call('late', 'slow'))}\n`);
    go.resolve();
    await closing;
    const lines = (await other.until('"last"')).trimEnd().split('\n');
    const answers = lines.map((line) => JSON.parse(line) as Message);
    expect(answers.find(({ id }) => id === 'last')).toMatchObject({ result: { content: [{ text: 'the end' }] } });
    expect(answers.find(({ id }) => id === 'late')?.result).toBeUndefined();
  });

  eachRevision('STDIO-15', 'answers a ping while a slow tool runs', async (revision) => {
    const done = deferred();
    const server = serverWith({
      slow: () => done.promise.then(() => 'slow'),
      quick: async () => await Promise.resolve('quick'),
    });
    const client = await RawClient.connect(server, { revision }, overStdio);
    const slow = client.call('slow');
    await client.settled();
    for (const name of ['quick', 'quick']) expect(textOf(await client.call(name))).toBe('quick');
    done.resolve();
    await slow;
    expect(client.received.slice(-2).map(({ id }) => id)).toEqual(client.stateless ? ['r4', 'r1'] : ['r5', 'r2']);
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
    await client.settled();
  });
});

describe('a pipe of stateless requests', () => {
  const revision = STATELESS;

  inStateless('STDIO-10', 'sends nothing more for a cancelled request of any method', async () => {
    let [began, go] = [deferred<Context>(), deferred()];
    const work = async (context: Context) => {
      context.progress(1);
      began.resolve(context);
      await go.promise;
      context.progress(2);
      context.log.error('still here');
      if (context.requestId === 'fails') throw new Error('too late');
      return 'late';
    };
    const server = serverOf({ providers: [membersOf(work)] });
    const client = await RawClient.connect(server, { revision, logLevel: 'debug' }, overStdio);
    for (const [method, params] of RUNNING) {
      for (const id of ['x', 'fails', 0, '']) {
        [began, go] = [deferred<Context>(), deferred()];
        void client.send(client.buildMessage(id, method, { ...params, _meta: { progressToken: 'token' } }));
        const { signal } = await began.promise;
        await client.settled();
        const before = client.received.length;
        await client.notify('notifications/cancelled', { requestId: id });
        await client.settled();
        expect(signal.aborted).toBe(true);
        go.resolve();
        await client.settled();
        expect([method, id, client.received.length - before]).toEqual([method, id, 2]);
      }
    }
  });

  inStateless('STDIO-10', 'sends nothing more for a subscription, not even as the server closes', async () => {
    const server = serverWith({ tool: () => 'anything' });
    const client = await RawClient.connect(server, { revision }, overStdio);
    for (const id of ['sub', 0, '']) {
      await listen(client, { toolsListChanged: true }, id as string);
      await client.notify('notifications/cancelled', { requestId: id, reason: 'enough' });
      await client.settled();
      const before = client.received.length;
      server.notify.toolsChanged();
      await client.settled();
      expect([id, client.received.slice(before).map(({ method }) => method)]).toEqual([id, [undefined]]);
    }
    await server.close();
    expect(client.received.filter(({ id }) => ['sub', 0, ''].includes(id as string))).toEqual([]);
  });

  inStateless(['STDIO-11', 'RPC-31'], 'ignores responses, because the server asked nothing', async () => {
    const done = deferred();
    const server = serverWith({ work: () => done.promise.then(() => 'done') });
    const client = await RawClient.connect(server, { revision }, overStdio);
    void client.send(client.buildMessage('x', 'tools/call', { name: 'work' }));
    const errors = [-32603, -32000, -32002, -32010, -32019, 1].map((code) => ({ error: { code, message: 'No' } }));
    const invalid = [{ result: {}, ...errors[0] }, { result: null }, { result: 7 }, { error: 'No' }, { result: [] }];
    for (const answer of [{ result: { action: 'accept' } }, ...errors, ...invalid]) {
      for (const id of ['x', 1, 's1', null, {}, undefined]) await client.send({ jsonrpc: '2.0', id, ...answer });
      await client.send({ jsonrpc: '1.0', id: 1, ...answer });
    }
    await client.settled();
    expect(client.received).toHaveLength(1);
    done.resolve();
    expect(await client.response('x')).toMatchObject({ result: { content: [{ text: 'done' }] } });
  });
});
