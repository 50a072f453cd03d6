import { once } from 'node:events';
import { Agent, type IncomingMessage, request as httpRequest } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ClosableHost } from '@decorum/core/transport';
import { newestOf } from '@decorum/core/internal';
import { HOST, type Kernel } from '@decorum/core/transport';
import { listen, MemoryEventStore } from '@decorum/http';
import fc from 'fast-check';

import { malformedMessages } from '../../../test/support/malformed.js';
import { malformedTarget, SESSION_MESSAGES, STATELESS_MESSAGES } from '../../../test/support/malformed-target.js';
import type { ExchangeParts } from '../src/exchange/exchange-parts.js';
import { afterwards } from './fixture.js';
import { ADD, call, type Fields, INITIALIZED, json, modernHeaders, request, SUM } from './messages.js';
import { post, statusOf } from './sending.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Internal state of an endpoint and its kernel, to test that nothing leaks. */
interface Insides {
  readonly inFlight: { readonly exchanges: { readonly size: number } };
  readonly parts: { readonly events: { readonly listeners: { readonly size: number } } };
}
interface SessionsInsides {
  readonly byId: ReadonlyMap<string, { readonly streams: { readonly length: number } | undefined }>;
}

/** A server with access to its internal state. */
async function openTarget() {
  const errors: unknown[] = [];
  const log = { warn: () => {}, error: (details: object) => errors.push(details) };
  const server = malformedTarget({ logger: log });
  const seen: { kernel?: Kernel; parts?: ExchangeParts } = {};
  const host: ClosableHost = {
    [HOST]: {
      open: (create) =>
        server[HOST].open((kernel) => {
          const handle = kernel.handle.bind(kernel);
          kernel.handle = (message, wire, session) => {
            seen.parts = wire.owner as ExchangeParts;
            return handle(message, wire, session);
          };
          return create((seen.kernel = kernel));
        }),
      info: server.info,
      routes: [],
      detach: (transport) => server[HOST].detach(transport),
      follow() {},
      instruct() {},
      report: (error) => server[HOST].report(error),
      hit: (hit) => server[HOST].hit(hit),
      warn: (message) => server[HOST].warn(message),
      sharing: server[HOST].sharing,
    },
    close: (options) => server.close(options),
  };
  const { url, close } = await listen(host, { port: 0, events: new MemoryEventStore({ maxEvents: 100 }) });
  afterwards(close);
  const held = () => {
    const { byId } = (seen.parts as ExchangeParts).sessions as unknown as SessionsInsides;
    const kernel = seen.kernel as unknown as Insides;
    return {
      running: kernel.inFlight.exchanges.size,
      listeners: kernel.parts.events.listeners.size,
      sessions: byId.size,
      streams: [...byId.values()].reduce((sum, { streams }) => sum + (streams?.length ?? 0), 0),
      open: seen.parts?.streams.open.size,
      ending: seen.parts?.streams.ending.size,
    };
  };
  return { url, errors, held };
}

interface Answer {
  readonly status: number;
  /** The error codes in the response. */
  readonly codes: unknown[];
}

/** A client that sends arbitrary messages, reads every response to its end, and answers questions. */
class Client {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 16 });
  private readonly answers: Promise<number>[] = [];
  session: Fields = {};

  constructor(private readonly url: string) {
    afterwards(() => this.agent.destroy());
  }

  /** Initializes a session. */
  async open(): Promise<void> {
    const version = newestOf('stateful').id;
    const clientInfo = { name: 'c', version: '1' };
    const params = { protocolVersion: version, capabilities: { sampling: {}, roots: {} }, clientInfo };
    const response = await post(this.url, request(0, 'initialize', params));
    await response.text();
    const id = response.headers.get('mcp-session-id') as string;
    this.session = { 'mcp-session-id': id, 'mcp-protocol-version': version };
    await post(this.url, INITIALIZED, this.session);
  }

  // without `fetch`, which takes twice as long
  async send(body: Uint8Array, headers: Fields): Promise<Answer> {
    const all = { 'content-type': 'application/json', 'content-length': String(body.length), ...headers };
    const sent = httpRequest(this.url, { method: 'POST', agent: this.agent, headers: all }).end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const codes: unknown[] = [];
    let text = '';
    for await (const chunk of response.setEncoding('utf8')) {
      text += chunk as string;
      if (response.headers['content-type'] === 'text/event-stream') text = this.readEvents(text, codes);
    }
    if (text !== '') codes.push((JSON.parse(text) as { error?: { code: number } }).error?.code);
    const begun = response.headers['mcp-session-id'];
    // "initialize" may still be valid after the mutation; end its session
    if (begun) await fetch(this.url, { method: 'DELETE', headers: { 'mcp-session-id': String(begun) } });
    return { status: response.statusCode as number, codes };
  }

  private readEvents(text: string, codes: unknown[]): string {
    const blocks = text.split('\n\n');
    for (const block of blocks.slice(0, -1)) {
      const data = /^data: ([^\n]+)$/m.exec(block)?.[1];
      // other blocks are comments, which keep a quiet stream open
      if (data === undefined) continue;
      const { id, method, error } = JSON.parse(data) as { id?: string; method?: string; error?: { code: number } };
      const result = { role: 'assistant', content: { type: 'text', text: 'Hi' }, model: 'm' };
      const answer = { jsonrpc: '2.0', id, result };
      if (method === 'sampling/createMessage') this.answers.push(statusOf(this.url, this.session, answer));
      else if (method === undefined) codes.push(error?.code);
    }
    return blocks.at(-1) as string;
  }

  /** Resolves when all questions are answered. */
  async settle(): Promise<void> {
    await Promise.all(this.answers.splice(0));
  }
}

/** Text that is valid in a header without encoding. */
const plain = (value: unknown) => typeof value === 'string' && /^[\x21-\x7e]+$/.test(value);

/** The headers that match a stateless message, so that it gets far into the server. */
function copiedHeaders(body: Uint8Array): Fields {
  try {
    const { method, params } = JSON.parse(Buffer.from(body).toString()) as {
      method: string;
      params: Record<string, unknown>;
    };
    const subject = params['name'] ?? params['uri'];
    const name = plain(subject) && (subject as string).length < 1000 ? (subject as string) : undefined;
    const headers = modernHeaders(plain(method) && method.length < 1000 ? method : 'x', name);
    const version = (params['_meta'] as Fields)['io.modelcontextprotocol/protocolVersion'];
    return plain(version) && (version as string).length < 1000
      ? { ...headers, 'mcp-protocol-version': version as string }
      : headers;
  } catch {
    return modernHeaders('tools/call', 'add');
  }
}

/** Checks that the server still answers a valid request of each era. */
async function probe(url: string, session: Fields): Promise<void> {
  const result = { content: [{ type: 'text', text: '3' }] };
  expect(await json(await post(url, call('good', 'add', SUM), session))).toMatchObject({ result });
  expect(await json(await post(url, ...ADD))).toMatchObject({ result });
}

const BATCH = 100;
const ROUNDS = 40;
const KINDS = ['session', 'stateless', 'none'] as const;

describe('Malformed messages over HTTP', () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => void unhandled.push(reason);
  beforeAll(() => void process.on('unhandledRejection', note));
  afterAll(() => void process.off('unhandledRejection', note));

  it('[RPC-13] 4,000 of them neither stop the server nor leak state', async () => {
    const { url, errors, held } = await openTarget();
    const client = new Client(url);
    await client.open();
    await probe(url, client.session);
    const before = held();
    const statuses = new Set<number>();
    const codes = new Set<unknown>();
    const heap: number[] = [];
    let round = 0;
    const message = fc.tuple(
      malformedMessages([...SESSION_MESSAGES, ...STATELESS_MESSAGES]),
      fc.constantFrom(...KINDS, 'stateless', 'session'),
    );
    const property = fc.asyncProperty(fc.array(message, { minLength: BATCH, maxLength: BATCH }), async (messages) => {
      round += 1;
      const answers = await Promise.all(
        messages.map(([body, kind]) => {
          if (kind === 'stateless') return client.send(body, copiedHeaders(body));
          return client.send(body, kind === 'session' ? client.session : {});
        }),
      );
      for (const answer of answers) {
        statuses.add(answer.status);
        for (const code of answer.codes) codes.add(code);
      }
      await client.settle();
      await probe(url, client.session);
      expect(held()).toEqual(before);
      if (round % 5 === 0) {
        collectGarbage();
        heap.push(process.memoryUsage().heapUsed);
      }
    });
    await fc.assert(property, { numRuns: ROUNDS, endOnFailure: true });

    expect([errors, unhandled]).toEqual([[], []]);
    expect([...statuses].sort()).toEqual([200, 202, 400, 404]);
    expect([...codes]).toEqual(expect.arrayContaining([-32700, -32600, -32601, -32602, -32020, undefined]));
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    const [first = 0] = heap.slice(2);
    expect((heap.at(-1) ?? 0) - first).toBeLessThan(8 * 1024 * 1024);
  }, 180_000);
});
