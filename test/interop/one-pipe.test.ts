// Both eras over one pipe: session and stateless requests are interleaved, and each is answered in the format of its
// revision.
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import type { Message } from '../support/raw-client.js';
import { type Revision, SESSION_REVISIONS, type SessionRevision, STATELESS } from '../support/requirements.js';
import { judge } from '../support/schemas.js';
import { STORY_SERVER } from './example-process.js';
import { progressOf } from './overhear.js';

type Json = Readonly<Record<string, unknown>>;

const CAPABILITIES = { sampling: {}, roots: {} };
const META = {
  'io.modelcontextprotocol/protocolVersion': STATELESS,
  'io.modelcontextprotocol/clientCapabilities': CAPABILITIES,
};

/** A request in flight: its revision and its method. */
interface Sent {
  readonly revision: Revision;
  readonly method: string;
}

/** A client that sends session and stateless requests to one process. */
class InterleavingClient {
  readonly notified: Message[] = [];
  /** Messages that are invalid in their revision. */
  readonly problems: string[] = [];
  private readonly arrivals = new EventEmitter().setMaxListeners(0);
  private readonly sent = new Map<string, Sent>();
  private count = 0;

  constructor(
    private readonly child: ChildProcessByStdio<Writable, Readable, null>,
    readonly session: SessionRevision,
  ) {
    createInterface({ input: child.stdout }).on('line', (line) => this.receive(JSON.parse(line) as Message));
  }

  /** Sends several requests as one text, and returns their responses in the same order. */
  async request(requests: readonly (readonly [revision: Revision, method: string, params?: Json])[]) {
    const messages = requests.map(([revision, method, params = {}]) => {
      const id = `${revision} ${++this.count}`;
      this.sent.set(id, { revision, method });
      // a token that identifies the request
      const meta = { progressToken: id, ...(revision === STATELESS && META) };
      return { jsonrpc: '2.0', id, method, params: { ...params, _meta: meta } };
    });
    const responses = Promise.all(
      messages.map(async ({ id }) => (await once(this.arrivals, id)) as unknown as [Message]),
    );
    this.write(...messages);
    return (await responses).map(([response]) => response);
  }

  write(...messages: object[]): void {
    this.child.stdin.write(messages.map((message) => `${JSON.stringify(message)}\n`).join(''));
  }

  private receive(message: Message): void {
    const { id, method, params = {} } = message;
    if (method === undefined) {
      const sent = this.sent.get(String(id));
      this.judge(message, sent?.revision, sent?.method);
      // a second response would match no request
      this.sent.delete(String(id));
      this.arrivals.emit(String(id), message);
    } else if (id === undefined) {
      this.judge(message, this.sent.get(String(params['progressToken']))?.revision);
      this.notified.push(message);
    } else {
      // only sessions get questions as requests
      this.judge(message, this.session);
      this.write({ jsonrpc: '2.0', id, result: answerTo(method, this.session) });
    }
  }

  private judge(message: Message, revision: Revision = this.session, method?: string): void {
    const wrong = judge(revision, method === 'initialize' ? withoutExtensions(message) : message, method);
    if (wrong.length > 0) this.problems.push(`${wrong.join('\n')}\n  in ${JSON.stringify(message)}`);
  }
}

/** The schemas of sessions have no extensions, which servers declare there, too. */
function withoutExtensions(message: Message): Message {
  const { capabilities, ...hello } = { ...message.result } as { readonly capabilities?: Message };
  const { extensions: _extensions, ...others } = { ...capabilities } as { readonly extensions?: unknown };
  return { ...message, result: { ...hello, capabilities: others } } as Message;
}

/** The answer to a question depends on how it was asked. */
function answerTo(method: string, revision: Revision): object {
  if (method === 'roots/list') return { roots: [{ uri: `file:///${revision}` }] };
  return { role: 'assistant', model: 'm', content: { type: 'text', text: `I speak ${revision}` } };
}

/** A request in both eras. */
interface Deed {
  readonly method: string;
  readonly params?: Json;
  /** Expected members of the response. */
  readonly gives: (revision: Revision) => Json;
}

const call = (name: string, args: Json = {}) => ({ name, arguments: args });
const says = (text: unknown) => ({ result: { content: [{ type: 'text', text }] } });

const DEEDS: readonly Deed[] = [
  { method: 'tools/list', gives: () => ({ result: { tools: expect.any(Array) } }) },
  {
    method: 'resources/read',
    params: { uri: 'test://static-text' },
    gives: () => ({ result: { contents: [{ text: 'This is the content of the static text resource.' }] } }),
  },
  {
    method: 'resources/read',
    params: { uri: 'test://nothing' },
    gives: (revision) => ({ error: { code: revision === STATELESS ? -32602 : -32002 } }),
  },
  {
    method: 'prompts/get',
    params: { name: 'test_simple_prompt' },
    gives: () => ({ result: { messages: [{ content: { text: 'This is a simple prompt for testing.' } }] } }),
  },
  {
    method: 'tools/call',
    params: call('test_sampling', { prompt: 'Hello' }),
    gives: (revision) => says(`LLM response: I speak ${revision}`),
  },
  { method: 'tools/call', params: call('test_tool_with_progress'), gives: () => says('Progress was reported.') },
  // each era has a method that the other lacks
  { method: 'ping', gives: (revision) => (revision === STATELESS ? { error: { code: -32601 } } : { result: {} }) },
  {
    method: 'server/discover',
    gives: (revision) =>
      revision === STATELESS ? { result: { resultType: 'complete' } } : { error: { code: -32601 } },
  },
];

/** Sends a request and answers its questions. */
async function perform(
  client: InterleavingClient,
  revision: Revision,
  { method, params = {}, gives }: Deed,
): Promise<void> {
  let [response] = (await client.request([[revision, method, params]])) as [Message];
  const { resultType, inputRequests, requestState } = response.result ?? {};
  if (resultType === 'input_required') {
    const questions = Object.entries(inputRequests as Record<string, Message>);
    const answers = questions.map(([key, question]) => [key, answerTo(String(question.method), revision)]);
    const given = { inputResponses: Object.fromEntries(answers), requestState };
    [response] = (await client.request([[revision, method, { ...params, ...given }]])) as [Message];
  }
  expect(response).toMatchObject(gives(revision));
}

const performAll = (client: InterleavingClient, revision: Revision) =>
  DEEDS.map((deed) => perform(client, revision, deed));

/** Calls of both eras wait for each other inside the server, so that all are in flight at once. */
async function meet(client: InterleavingClient, place: string): Promise<void> {
  const eras = [client.session, STATELESS, client.session, STATELESS] as const;
  const responses = await client.request(
    eras.map((revision, name) => [
      revision,
      'tools/call',
      call('meet', { place, name: `${name}`, count: eras.length }),
    ]),
  );
  expect(responses).toMatchObject(eras.map((_revision, name) => says(`${name} has met ${eras.length}`)));
}

describe.each(SESSION_REVISIONS)('one pipe with a session of %s and stateless requests', (revision) => {
  let child: ChildProcessByStdio<Writable, Readable, null>;
  let client: InterleavingClient;

  beforeEach(() => {
    child = spawn(process.execPath, [STORY_SERVER, '--stdio'], { stdio: ['pipe', 'pipe', 'inherit'] });
    client = new InterleavingClient(child, revision);
  });

  afterEach(async () => {
    const ended = once(child, 'exit');
    child.stdin.end();
    await ended;
  });

  const begin = async () => {
    const hello = { protocolVersion: revision, capabilities: CAPABILITIES, clientInfo: { name: 'two', version: '1' } };
    const [{ result }] = (await client.request([[revision, 'initialize', hello]])) as [Message];
    expect(result?.['protocolVersion']).toBe(revision);
    client.write({ jsonrpc: '2.0', method: 'notifications/initialized' });
  };

  it('answers each request in the format of its revision, in any order', async () => {
    await begin();
    const eras: readonly Revision[] = [revision, STATELESS];
    const all = eras.flatMap((era) => DEEDS.map((deed) => () => perform(client, era, deed)));
    let runs = 0;
    const property = fc.asyncProperty(fc.shuffledSubarray(all, { minLength: all.length }), async (order) => {
      await Promise.all([...order.map((start) => start()), meet(client, `${++runs}`)]);
    });
    await fc.assert(property, { seed: 20_260_728, numRuns: 5 });
    expect(progressOf(client.notified)).toEqual(Array.from({ length: 2 * runs }, () => [0, 50, 100]));
    expect(client.problems).toEqual([]);
  });

  it('serves stateless requests before and during the initialization of the session', async () => {
    await Promise.all([...performAll(client, STATELESS), begin(), ...performAll(client, STATELESS)]);
    await Promise.all(performAll(client, revision));
    expect(client.problems).toEqual([]);
  });
});
