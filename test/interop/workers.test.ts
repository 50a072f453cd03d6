// `decorum start --workers`: the official SDK clients of both major versions, with a new connection for each request, so
// that the requests of a session reach all workers in turn.
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  ElicitRequestSchema,
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';

import { createProject, type Project, type Running } from '../../packages/cli/test/project.js';

const SERVER = `
import { appendFileSync } from 'node:fs';
import { Context, McpServer, NoInput, Resource, Tool } from '@decorum/core';
import { IsString } from 'class-validator';

class Person {
  @IsString() name!: string;
}

export class Notes extends McpServer {
  constructor() {
    super({ name: 'notes', version: '1.0.0' });
  }

  @Tool({ description: 'Tells the process' })
  pid() {
    return String(process.pid);
  }

  @Tool({ description: 'Asks for a name' })
  async ask(_: NoInput, ctx: Context) {
    return JSON.stringify(await ctx.elicit(Person, { message: 'Who are you?' }));
  }

  @Tool({ description: 'Ends when it is cancelled, or when the server closes' })
  async wait(_: NoInput, ctx: Context) {
    console.log('waiting in ' + process.pid);
    await new Promise((resolve) => {
      ctx.signal.addEventListener('abort', resolve);
      process.once('SIGUSR2', resolve);
    });
    console.log((ctx.signal.aborted ? 'cancelled in ' : 'done in ') + process.pid);
    return 'done';
  }

  @Tool({ description: 'Logs a detail' })
  detail(_: NoInput, ctx: Context) {
    ctx.log.debug('a detail');
    return String(process.pid);
  }

  @Tool({ description: 'Changes a note' })
  change() {
    this.notify.resourceUpdated('note://1');
    return String(process.pid);
  }

  @Resource('note://1')
  note() {
    return 'text';
  }
}

export default Notes;
`;

/** A fetch that keeps no connection: the primary gives each new one to the next worker. */
const nextWorker = (url: string | URL, init: RequestInit = {}): Promise<Response> => {
  const headers = new Headers(init.headers);
  headers.set('connection', 'close');
  return fetch(url, { ...init, headers });
};

interface Told {
  updates: number;
  logs: number;
}

/** The members that both versions share. */
interface Client {
  callTool(params: { name: string; arguments: object }, ...options: unknown[]): Promise<unknown>;
  setLoggingLevel(level: 'debug'): Promise<unknown>;
  subscribeResource(params: { uri: string }): Promise<unknown>;
  close(): Promise<void>;
}

interface Connected {
  readonly client: Client;
  readonly told: Told;
  readonly end: () => Promise<void>;
  readonly sessionId: () => string | undefined;
}

type Connect = (url: string) => Promise<Connected>;

const INFO = { name: 'workers', version: '1.0.0' };
const CAPABILITIES = { elicitation: {} };
const ANSWER = { action: 'accept', content: { name: 'ada' } } as const;

const connectV1: Connect = async (url) => {
  const told = { updates: 0, logs: 0 };
  const client = new ClientV1(INFO, { capabilities: CAPABILITIES });
  client.setRequestHandler(ElicitRequestSchema, async () => ANSWER);
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, () => void (told.updates += 1));
  client.setNotificationHandler(LoggingMessageNotificationSchema, () => void (told.logs += 1));
  const transport = new HttpV1(new URL(url), { fetch: nextWorker });
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  const sessionId = () => transport.sessionId;
  return { client: client as unknown as Client, told, sessionId, end: () => transport.terminateSession() };
};

const connectV2: Connect = async (url) => {
  const told = { updates: 0, logs: 0 };
  const client = new ClientV2(INFO, { capabilities: CAPABILITIES, versionNegotiation: { mode: 'legacy' } });
  client.setRequestHandler('elicitation/create', async () => ANSWER);
  client.setNotificationHandler('notifications/resources/updated', () => void (told.updates += 1));
  client.setNotificationHandler('notifications/message', () => void (told.logs += 1));
  const transport = new HttpV2(new URL(url), { fetch: nextWorker });
  await client.connect(transport);
  const sessionId = () => transport.sessionId;
  return { client: client as unknown as Client, told, sessionId, end: () => transport.terminateSession() };
};

const call = (client: Client, name: string, ...options: unknown[]) =>
  client.callTool({ name, arguments: {} }, ...options);

const textOf = (result: unknown): string => (result as { content: { text: string }[] }).content[0]?.text ?? '';

/** Whether a server answers that it closes. */
async function isClosing(response: Response): Promise<boolean> {
  await response.text();
  return response.status === 503;
}

async function until(isMet: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isMet())) await sleep(20);
}

const WORKERS = 3;
const FILES = { 'package.json': { type: 'module' }, 'main.ts': SERVER };

/** Starts the program, and waits for all of its workers. */
async function startWorkers(project: Project, count = WORKERS): Promise<{ running: Running; url: string }> {
  const running = project.start(['start', '--workers', String(count), 'main.ts']);
  let url = '';
  for (let number = 1; number <= count; number += 1)
    [, url = ''] = await running.printed(new RegExp(`\\[${number}\\] notes 1\\.0\\.0 {3}(http\\S+)`));
  return { running, url };
}

describe.each<[string, Connect]>([
  ['1.x', connectV1],
  ['2.x', connectV2],
])('the SDK client %s of three workers', (_version, connect) => {
  let project: Project;
  let running: Running;
  let url: string;
  const open: Client[] = [];
  beforeAll(async () => {
    project = createProject(FILES);
    ({ running, url } = await startWorkers(project));
  });
  afterEach(async () => {
    for (const client of open.splice(0)) await client.close();
  });
  afterAll(() => project.remove());

  const connected = async () => {
    const made = await connect(url);
    open.push(made.client);
    return made;
  };

  it('is served by all of them in one session', async () => {
    const { client } = await connected();
    const pids = new Set<string>();
    for (let count = 0; count < 9; count += 1) pids.add(textOf(await call(client, 'pid')));
    expect(pids.size).toBe(WORKERS);
  });

  it('answers questions of any worker', async () => {
    const { client } = await connected();
    const answers = await Promise.all([0, 1, 2, 3, 4, 5].map(async () => textOf(await call(client, 'ask'))));
    expect(answers.map((each) => JSON.parse(each))).toEqual(answers.map(() => ANSWER));
  });

  it('cancels a call in any worker', async () => {
    const { client } = await connected();
    for (let count = 0; count < 3; count += 1) {
      const cancelled = new AbortController();
      const options = [...(connect === connectV1 ? [undefined] : []), { signal: cancelled.signal }];
      const before = running.printed(/waiting in (\d+)(?![^]*waiting in)/);
      const ended = call(client, 'wait', ...options).catch(() => 'cancelled');
      const [, pid] = await before;
      cancelled.abort();
      expect(await ended).toBe('cancelled');
      await running.printed(new RegExp(`cancelled in ${pid}`));
    }
  });

  it('sets its log level for all of them', async () => {
    const { client, told } = await connected();
    await client.setLoggingLevel('debug');
    for (let count = 0; count < 6; count += 1) await call(client, 'detail');
    await until(() => told.logs === 6);
  });

  it('hears of a change in any worker', async () => {
    const { client, told } = await connected();
    await client.subscribeResource({ uri: 'note://1' });
    for (let count = 1; count <= 6; count += 1) {
      await call(client, 'change');
      await until(() => told.updates >= count);
    }
    expect(told.updates).toBe(6);
  });

  it('ends its session in all of them', async () => {
    const { client, end, sessionId } = await connected();
    const id = sessionId() as string;
    await call(client, 'pid');
    await end();
    const headers = {
      'mcp-session-id': id,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
    const statuses = async () => {
      const answers = [0, 1, 2].map(() => nextWorker(url, { method: 'POST', headers, body }));
      return (await Promise.all(answers)).map(({ status }) => status);
    };
    // one that knew the session hears of its end a moment later
    await until(async () => (await statuses()).every((status) => status === 404));
  });
});

describe('decorum start --workers', () => {
  let project: Project;
  afterEach(() => project.remove());

  it('lets a client resume its GET stream at any worker, with what it has missed', async () => {
    project = createProject(FILES);
    const { url } = await startWorkers(project, 2);
    const session: Record<string, string> = {};
    const post = async (method: string, params: object, id?: number) => {
      const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...session };
      const body = JSON.stringify({ jsonrpc: '2.0', id, method, params });
      const response = await nextWorker(url, { method: 'POST', headers, body });
      await response.text();
      return response.headers;
    };
    const client = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: INFO };
    session['mcp-session-id'] = (await post('initialize', client, 1)).get('mcp-session-id') as string;
    await post('notifications/initialized', {});
    await post('resources/subscribe', { uri: 'note://1' }, 2);
    const change = () => post('tools/call', { name: 'change', arguments: {} }, 3);
    const seen: number[] = [];
    const nodes = new Set<string>();
    let last: string | undefined;
    while (nodes.size < 2) {
      const stop = new AbortController();
      const headers = { accept: 'text/event-stream', ...session, ...(last !== undefined && { 'last-event-id': last }) };
      const { body } = await nextWorker(url, { headers, signal: stop.signal });
      await change();
      let text = '';
      // the first stream has one change. Those that are resumed begin with the one that was missed
      for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
        text += new TextDecoder().decode(chunk);
        const events = [...text.matchAll(/^id: (\S+\.(\w+)-(\d+))\ndata: \{.*\n\n/gm)];
        if (events.length < (last === undefined ? 1 : 2)) continue;
        for (const [, , node, sequence] of events) {
          seen.push(Number(sequence));
          nodes.add(node as string);
        }
        last = events.at(-1)?.[1];
        break;
      }
      stop.abort();
      await change();
    }
    expect(seen).toEqual(seen.map((_sequence, index) => index + 1));
  });

  it('replaces a worker that is killed: its calls fail, its sessions go on, and listeners still hear', async () => {
    project = createProject(FILES);
    const { running, url } = await startWorkers(project, 2);
    const { client, told } = await connectV2(url);
    await client.subscribeResource({ uri: 'note://1' });
    const lost = call(client, 'wait').catch(() => 'failed');
    const [, pid] = await running.printed(/waiting in (\d+)/);
    process.kill(Number(pid), 'SIGKILL');
    expect(await lost).toBe('failed');
    await running.printed(/Worker \d was ended by SIGKILL\. Another one starts in \d+ ms\./);
    const other = textOf(await call(client, 'pid'));
    expect(other).not.toBe(pid);
    // until the replacement serves, too
    const pids = new Set([other]);
    await until(async () => pids.add(textOf(await call(client, 'pid'))).size === 2);
    await until(async () => {
      await call(client, 'change');
      return told.updates > 0;
    });
    const { updates } = told;
    for (let count = 1; count <= 4; count += 1) {
      await call(client, 'change');
      await until(() => told.updates >= updates + count);
    }
    await client.close();
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('lets calls finish in all workers on %s', async (signal) => {
    project = createProject(FILES);
    const { running, url } = await startWorkers(project, 2);
    const { client } = await connectV2(url);
    const waiting: number[] = [];
    running.child.stdout.on('data', (text: string) => {
      waiting.push(...[...text.matchAll(/waiting in (\d+)/g)].map(([, pid]) => Number(pid)));
    });
    const calls: Promise<unknown>[] = [];
    while (new Set(waiting).size < 2) {
      calls.push(call(client, 'wait'));
      await until(() => waiting.length === calls.length);
    }
    running.child.kill(signal);
    // a terminal signals all processes itself
    for (const pid of new Set(waiting)) process.kill(pid, signal);
    for (const pid of new Set(waiting)) process.kill(pid, 'SIGUSR2');
    expect((await Promise.all(calls)).map(textOf)).toEqual(calls.map(() => 'done'));
    await client.close();
    expect((await running.ended).code).toBe(0);
  });

  it('ends at once on a second signal', async () => {
    project = createProject(FILES);
    const { running, url } = await startWorkers(project, 2);
    const { client } = await connectV2(url);
    const lost = call(client, 'wait').catch(() => 'failed');
    await running.printed(/waiting/);
    running.child.kill('SIGTERM');
    // a second signal that follows at once may be one with the first
    await until(async () => await fetch(url).then(isClosing, () => true));
    running.child.kill('SIGTERM');
    expect(await lost).toBe('failed');
    await running.ended;
    expect(running.child.signalCode).toBe('SIGTERM');
    await client.close();
  });
});
