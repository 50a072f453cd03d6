import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterEach, describe, expect, it } from '@jest/globals';
import { connect, type Program } from '@decorum/testing';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** A program in one line of JavaScript. */
const program = (script: string, env: Record<string, string> = {}): Program => ({
  command: process.execPath,
  args: ['--input-type=module', '-e', script],
  env,
});

/** Answers `initialize`, and then runs `script` for each further message with an id. */
const serving = (script: string) => `
  process.stdin.setEncoding('utf8').on('data', (chunk) => {
    for (const line of chunk.split('\\n').filter(Boolean)) {
      const { id, method, params } = JSON.parse(line);
      const answer = (result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
      const serverInfo = { name: 'x', version: '1' };
      if (method === 'initialize') answer({ protocolVersion: params.protocolVersion, capabilities: {}, serverInfo });
      else if (id !== undefined) { ${script} }
    }
  });
`;

let watch: Server | undefined;
afterEach(() => {
  watch?.close();
  watch = undefined;
});

/** Lets programs show that they live: each connects to a socket, which closes when the program ends. */
async function lifeLine() {
  const path = join(tmpdir(), `decorum-${process.pid}-${Math.random().toString(36).slice(2)}.sock`);
  const listener = createServer();
  watch = listener;
  listener.listen(path);
  await once(listener, 'listening');
  return {
    env: { LIFE_LINE: path },
    /** Resolves with the connection of the next program. */
    async next() {
      const [socket] = (await once(listener, 'connection')) as [Socket];
      socket.on('error', () => {}).resume();
      return { ended: once(socket, 'close') };
    },
  };
}

const CONNECT = `import { connect } from 'node:net'; connect(process.env.LIFE_LINE);`;
/** Ends neither at the end of stdin nor by SIGTERM. */
const STUBBORN = `${CONNECT} process.on('SIGTERM', () => {}); setInterval(() => {}, 1000);`;

const STRAY = '{"jsonrpc":"2.0","id":"7","result":{}}';

const messageOf = (attempt: Promise<unknown>) =>
  attempt.then(() => 'It did not fail.').catch((error: Error) => error.message);

describe('a program that', () => {
  it('cannot be started is named', async () => {
    expect(await messageOf(connect({ command: 'no-such-program' }))).toBe(
      'Cannot start "no-such-program": there is no such command. Install it, or pass its path.',
    );
    expect(await messageOf(connect({ command: 'node server.js' }))).toContain('Pass its arguments as `args`');
    expect(await messageOf(connect({ command: 'node', cwd: '/no/such/folder' }))).toBe(
      'Cannot start "node": the folder /no/such/folder does not exist.',
    );
  });

  it('ends at once shows its exit code and the end of its stderr', async () => {
    const script = `console.error('line 1'); console.error('Cannot read config.json'); process.exit(3);`;
    const message = await messageOf(connect(program(script)));
    expect(message).toContain('ended with exit code 3. It never wrote a message to stdout. Does it call `serveStdio`?');
    expect(message).toContain('The last lines of its stderr:\n\n  line 1\n  Cannot read config.json\n');
  });

  it.each(['stateful', 'stateless'] as const)('ends at once fails to connect, with a %s client', async (era) => {
    expect(await messageOf(connect(program('process.exit(0)'), { era }))).toContain('ended with exit code 0');
  });

  it('dies during a call rejects it, and everything later', async () => {
    const client = await connect(program(serving(`console.error('out of memory'); process.exit(70);`)));
    const notification = messageOf(client.nextNotification('notifications/never'));
    const message = await messageOf(client.callTool('x'));
    expect(message).toMatch(/ended with exit code 70\. The last lines of its stderr:\n\n {2}out of memory\n$/);
    expect(await notification).toBe(message);
    expect(await messageOf(client.listTools())).toBe(message);
    await client.close();
  });

  it.each([
    ['is killed', `process.kill(process.pid, 'SIGKILL');`, /ended by SIGKILL\. It wrote nothing to stderr\.$/],
    ['prints to stdout', `console.log('Listening');`, /The server sent what is not an MCP message: "Listening"/],
    [
      'closes its stdout',
      `process.stdout.end(); setInterval(() => {}, 1000);`,
      /has closed its stdout, and goes on run/,
    ],
    [
      'answers what nobody asked',
      `console.log('${STRAY}');`,
      /^The server answered "7", which the client did not ask\.$/,
    ],
  ])('%s rejects what waits', async (_what, script, message) => {
    const client = await connect(program(serving(script)));
    expect(await messageOf(client.callTool('x'))).toMatch(message);
    await client.close();
  });

  it('gets its arguments, environment and folder', async () => {
    const script = serving(
      `answer({ content: [{ type: 'text', text: [process.argv[1], process.env.CITY, process.cwd()].join() }] });`,
    );
    const { args = [], ...rest } = program(script, { CITY: 'Oslo' });
    const client = await connect({ ...rest, args: [...args, 'one'], cwd: here('.') });
    const { content } = await client.callTool('x');
    expect(content).toEqual([{ type: 'text', text: `one,Oslo,${here('.').replace(/\/$/, '')}` }]);
    await client.close();
  });
});

describe('no program outlives', () => {
  it.each([
    ['even if it ignores the end of stdin and SIGTERM', STUBBORN],
    [
      'with the processes that it has started itself',
      `import { spawn } from 'node:child_process';
      spawn(process.execPath, ['--input-type=module', '-e', ${JSON.stringify(STUBBORN)}], { stdio: 'ignore' });`,
    ],
  ])('its client, %s', async (_how, start) => {
    const { env, next } = await lifeLine();
    const life = next();
    const client = await connect(program(`${start} ${serving('')}`, env));
    const { ended } = await life;
    await client.close();
    await ended;
  });

  it('a connection that fails', async () => {
    const { env, next } = await lifeLine();
    const life = next();
    const failed = messageOf(connect(program(`${STUBBORN} console.log('Hello');`, env)));
    const { ended } = await life;
    expect(await failed).toContain('what is not an MCP message: "Hello"');
    await ended;
  });

  /** A test process that connects to a stubborn program, and then runs `then`. */
  async function tester(then: string) {
    const { env, next } = await lifeLine();
    const life = next();
    const script = `
      import { connect } from '@decorum/testing';
      const client = await connect(${JSON.stringify(program(`${STUBBORN} ${serving('')}`))});
      ${then}
    `;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      cwd: here('..'),
      env: { ...process.env, ...env },
      stdio: 'inherit',
    });
    const exited = once(child, 'exit');
    const { ended } = await life;
    return { child, exited, ended };
  }

  it('a test process that is killed', async () => {
    const { child, exited, ended } = await tester('await client.callTool("x");');
    child.kill('SIGKILL');
    await exited;
    await ended;
  });

  it('a test process that forgets to close its client, and ends all the same', async () => {
    const { exited, ended } = await tester('');
    expect(await exited).toEqual([0, null]);
    await ended;
  });
});

it.each(['memory', 'stdio', 'http'])('a client that is forgotten keeps no process alive over %s', async (via) => {
  const script = `
      import { connect } from '@decorum/testing';
      import { createServer } from './servers/weather.js';
      const client = await connect(createServer(), { via: '${via}' });
      await client.callTool('caller');
    `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { cwd: here('.'), stdio: 'inherit' });
  expect(await once(child, 'exit')).toEqual([0, null]);
});
