import { Client, INITIALIZE, META, type Message, type Received, SESSION_REVISION, stateless } from './client.js';
import { type Json, type Random } from './mutate.js';
import { Sampler, wordsOf } from './sample.js';
import { ATTACKED } from './target.js';

/** A place in a request where a client can put any value. */
export interface Slot {
  readonly name: string;
  readonly seeds: readonly Json[];
  /** Names and values to try, in addition to those of the seeds. */
  readonly keys?: readonly string[];
  readonly atoms?: readonly Json[];
  /** Cap on the value, in bytes of JSON. */
  readonly limit: number;
  /** Sends the value, and waits for the answer. */
  readonly send: (value: Json) => Promise<unknown>;
}

/** Maximum size of the values, in bytes. */
export const ATTACK_BYTES = 30 * 1024;
/** Node.js accepts 16 KiB of headers. */
const HEADER_BYTES = 14 * 1024;

interface ToolEntry {
  readonly name: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

/** Creates the slots of a target, and the sessions that some of them need. */
export class Slots {
  private constructor(
    private readonly client: Client,
    private readonly random: Random,
    /** The headers of two sessions; only the second one supports batches. */
    private readonly sessions: readonly [usual: Record<string, string>, batches: Record<string, string>],
  ) {}

  private get session(): Record<string, string> {
    return this.sessions[0];
  }

  static async open(client: Client, random: Random): Promise<Slots> {
    return new Slots(client, random, [await client.session(), await client.session('2025-03-26')]);
  }

  async all(): Promise<Slot[]> {
    const { methods, messages, headers } = this;
    return [...(await this.tools()), ...methods(), ...(await this.answers()), ...messages(), ...headers()];
  }

  private call(method: string, params: Readonly<Record<string, unknown>>): Promise<Received> {
    return this.client.send(stateless(method, params));
  }

  /** Sends a message in the session. */
  private inSession(message: Json, headers = this.session): Promise<Received> {
    return this.client.send({ headers, body: JSON.stringify(message) });
  }

  private async tools(): Promise<Slot[]> {
    const tools: ToolEntry[] = [];
    let cursor: Json = null;
    do {
      const { text } = await this.call('tools/list', cursor === null ? {} : { cursor });
      const { result } = JSON.parse(text) as { result: { tools: ToolEntry[]; nextCursor?: string } };
      tools.push(...result.tools);
      cursor = result.nextCursor ?? null;
    } while (cursor !== null);
    return tools
      .filter(({ name }) => ATTACKED.includes(name))
      .flatMap(({ name, inputSchema }) => this.arguments(name, inputSchema));
  }

  /** One slot for all arguments of a tool, and one for each argument alone. */
  private arguments(name: string, schema: ToolEntry['inputSchema']): Slot[] {
    const words = wordsOf(schema);
    const sampler = new Sampler(schema, this.random);
    const fields = Object.entries(sampler.fields);
    const seeds = Array.from({ length: 5 }, () => sampler.draw());
    const whole = { seeds, keys: words.keys, atoms: [...words.values, ...seeds], limit: ATTACK_BYTES };
    const send = (args: Json) => this.call('tools/call', { name, arguments: args });
    const alone = fields.map(([field, inner]) => {
      const samples = Array.from({ length: 5 }, () => sampler.draw(inner));
      return {
        ...whole,
        name: `arguments ${name}.${field}`,
        seeds: samples,
        atoms: [...words.values, ...samples],
        send: (value: Json) => send({ [field]: value }),
      };
    });
    return [{ ...whole, name: `arguments ${name}`, send }, ...alone];
  }

  private readonly methods = (): Slot[] => {
    const slot = (name: string, seeds: readonly Json[], send: Slot['send']): Slot => ({
      name,
      seeds,
      limit: ATTACK_BYTES,
      send,
    });
    const uri = (value: Json) => ({ uri: value });
    const uris = [
      'docs://readme',
      'files://a/b/c',
      'pages://example.com/a?q=b',
      'lists://oslo/metric/a-b',
      'items://a/b/edit1?q=2',
      'x://%41',
    ];
    const completion = { ref: { type: 'ref/prompt', name: 'pack' }, argument: { name: 'city', value: 'O' } };
    const listen = { toolsListChanged: true, resourceSubscriptions: ['docs://readme', 'files://a'] };
    const inSession = (method: string, params: Json) => this.inSession({ jsonrpc: '2.0', id: 1, method, params });
    return [
      slot('uri of resources/read', uris, (value) => this.call('resources/read', uri(value))),
      slot('uri of resources/subscribe', uris, (value) => inSession('resources/subscribe', uri(value))),
      slot('arguments of prompts/get', [{ city: 'Oslo', units: 'metric', slug: 'a-b' }], (value) =>
        this.call('prompts/get', { name: 'pack', arguments: value }),
      ),
      slot('params of completion/complete', [completion], (value) =>
        this.call('completion/complete', typeof value === 'object' && !Array.isArray(value) ? { ...value } : {}),
      ),
      slot('uri of completion/complete', uris, (value) =>
        this.call('completion/complete', { ...completion, ref: { type: 'ref/resource', ...uri(value) } }),
      ),
      slot('cursor', ['AAAA', 'MTAgdG9vbA'], (cursor) => this.call('tools/list', { cursor })),
      slot('name of tools/call', ['ask'], (name) => this.call('tools/call', { name, arguments: {} })),
      slot('text of a log message', ['a'], (path) => this.call('tools/call', { name: 'log', arguments: { path } })),
      slot('level', ['info'], (level) => inSession('logging/setLevel', { level })),
      slot('_meta', [{ ...META, progressToken: 1 }], (value) =>
        this.call('tools/list', {
          _meta: typeof value === 'object' && !Array.isArray(value) ? { ...META, ...value } : value,
        }),
      ),
      slot('params of initialize', [{ ...INITIALIZE.params }], (params) =>
        this.inSession({ ...INITIALIZE, params }, { ...this.session, 'mcp-session-id': '' }),
      ),
      slot('notifications of subscriptions/listen', [listen], (notifications) =>
        this.client.send({ ...stateless('subscriptions/listen', { notifications }), leaves: true }),
      ),
    ];
  };

  private async answers(): Promise<Slot[]> {
    const form = {
      action: 'accept',
      content: { name: 'Ada', email: 'a@example.com', count: 1, color: 'red', tags: ['a'] },
    };
    const sample = { role: 'assistant', model: 'm', content: [{ type: 'text', text: 'Hello' }], stopReason: 'end' };
    const roots = { roots: [{ uri: 'file:///home/ada', name: 'ada' }] };
    const seeds = { ask: form, sample, roots, where: { roots } };
    const keys = { ask: 'who', sample: 'hello', roots: 'roots', where: 'roots' } as const;
    const slots: Slot[] = [];
    for (const [name, seed] of Object.entries(seeds)) {
      const { text } = await this.call('tools/call', { name, arguments: {} });
      const { requestState } = (JSON.parse(text) as Required<Message>).result;
      const retry = (params: object) => this.call('tools/call', { name, arguments: {}, requestState, ...params });
      const key = keys[name as keyof typeof keys];
      const slot = { seeds: [seed], limit: ATTACK_BYTES };
      slots.push({ ...slot, name: `answer to ${name}`, send: (value) => retry({ inputResponses: { [key]: value } }) });
      if (name !== 'where')
        slots.push({ ...slot, name: `session's answer to ${name}`, send: (value) => this.answer(name, value) });
      if (name !== 'ask') continue;
      slots.push(
        { ...slot, name: 'inputResponses', seeds: [{ who: form }], send: (value) => retry({ inputResponses: value }) },
        {
          ...slot,
          name: 'requestState',
          seeds: [requestState as string],
          send: (value) => retry({ requestState: value }),
        },
      );
    }
    return slots;
  }

  /** Answers a question on the stream of its call. */
  private async answer(name: string, result: Json): Promise<void> {
    const sent: Promise<unknown>[] = [];
    const onMessage = ({ id, method }: Message) => {
      if (method !== undefined && id !== undefined) sent.push(this.inSession({ jsonrpc: '2.0', id, result }));
      // the server rejects an answer that isn't an object, and keeps waiting
      if (typeof result !== 'object' || result === null || Array.isArray(result))
        sent.push(this.inSession({ jsonrpc: '2.0', id: id ?? 0, result: {} }));
    };
    const call = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name, arguments: {} } };
    await this.client.send({ headers: this.session, body: JSON.stringify(call), onMessage });
    await Promise.all(sent);
  }

  private readonly messages = (): Slot[] => {
    const request = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'ask', arguments: {} } };
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1, reason: 'r' } };
    const response = { jsonrpc: '2.0', id: 's1', result: {}, error: { code: 1, message: 'm' } };
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
    const text = (body: Json) => (typeof body === 'string' ? body : JSON.stringify(body));
    const limit = ATTACK_BYTES;
    return [
      { name: 'message', limit, seeds: [cancelled, response, list], send: (value) => this.inSession(value) },
      { name: 'stateless message', limit, seeds: [request, list], send: (value) => this.bare(JSON.stringify(value)) },
      { name: 'batch', limit, seeds: [[list, cancelled]], send: (value) => this.inSession(value, this.sessions[1]) },
      { name: 'body', limit, seeds: ['{"jsonrpc":"2.0"', '[[', ' '], send: (value) => this.bare(text(value)) },
    ];
  };

  private bare(body: string): Promise<Received> {
    return this.client.send({ headers: stateless('tools/list', {}).headers, body });
  }

  private readonly headers = (): Slot[] => {
    const valid: Readonly<Record<string, string>> = {
      accept: 'application/json;q=0.5, text/*',
      'content-type': 'application/json; charset=utf-8',
      host: '127.0.0.1:80',
      origin: 'http://localhost:80',
      'mcp-session-id': 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6',
      'mcp-protocol-version': SESSION_REVISION,
      'mcp-method': 'tools/list',
      'mcp-name': '=?base64?YQ==?=',
      authorization: 'Bearer a.b.c',
      'last-event-id': 'g01234567-1',
      'access-control-request-headers': 'content-type, mcp-name',
    };
    const list = stateless('tools/list', {});
    const send = (name: string, value: Json): Promise<Received> => {
      const text = [...(typeof value === 'string' ? value : JSON.stringify(value))]
        .filter((it) => it >= ' ' && it <= '~')
        .join('');
      const method = name === 'last-event-id' ? 'GET' : name.startsWith('access') ? 'OPTIONS' : 'POST';
      const others = name === 'mcp-session-id' || method === 'GET' ? this.session : list.headers;
      const sent = { headers: { ...others, [name]: text }, method, leaves: method === 'GET' };
      return this.client.send(method === 'POST' ? { ...sent, body: list.body } : sent);
    };
    return Object.entries(valid).map(([name, seed]) => ({
      name: `header ${name}`,
      seeds: [seed],
      limit: HEADER_BYTES,
      send: (value) => send(name, value),
    }));
  };
}
