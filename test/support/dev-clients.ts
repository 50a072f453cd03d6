import type { DevRun } from './dev-project.js';

type Json = Record<string, unknown>;

/** Delivers items to callers that wait for them. Items that arrive while no caller waits are kept. */
export class Inbox<T> {
  private readonly items: T[] = [];
  private readonly waiting: { wants: (item: T) => boolean; resolve: (item: T) => void }[] = [];
  readonly all: T[] = [];

  readonly put = (item: T): void => {
    this.all.push(item);
    const index = this.waiting.findIndex(({ wants }) => wants(item));
    if (index === -1) return void this.items.push(item);
    const [waiter] = this.waiting.splice(index, 1);
    waiter?.resolve(item);
  };

  next(wants: (item: T) => boolean = () => true): Promise<T> {
    const index = this.items.findIndex(wants);
    const [found] = index === -1 ? [] : this.items.splice(index, 1);
    if (found !== undefined) return Promise.resolve(found);
    return new Promise((resolve) => this.waiting.push({ wants, resolve }));
  }
}

const HANDSHAKE = {
  protocolVersion: '2025-06-18',
  capabilities: { elicitation: {} },
  clientInfo: { name: 'raw', version: '1.0.0' },
};

/** A client of `decorum dev --stdio`. */
export class PipeClient {
  /** The messages that aren't responses. */
  readonly inbox = new Inbox<Json>();
  private readonly responses = new Inbox<Json>();
  private count = 0;

  constructor(readonly run: DevRun) {
    let rest = '';
    run.child.stdout?.on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() as string;
      for (const line of lines) {
        const message = JSON.parse(line) as Json;
        if (message['method'] === undefined) this.responses.put(message);
        else this.inbox.put(message);
      }
    });
  }

  send(message: Json): void {
    this.run.child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  async request(method: string, params: Json = {}): Promise<Json> {
    const id = ++this.count;
    this.send({ id, method, params });
    return this.responses.next((response) => response['id'] === id);
  }

  /** Resolves with a response that no request waits for. */
  responds(wants: (response: Json) => boolean): Promise<Json> {
    return this.responses.next(wants);
  }

  async connect(): Promise<Json> {
    const response = await this.request('initialize', HANDSHAKE);
    this.send({ method: 'notifications/initialized' });
    return response;
  }

  hears(method: string): Promise<Json> {
    return this.inbox.next((message) => message['method'] === method);
  }
}

/** A client of `decorum dev` over HTTP, in a session. */
export class HttpClient {
  readonly inbox = new Inbox<Json>();
  session: string | undefined;
  private count = 0;
  private readonly open = new AbortController();

  constructor(
    private readonly url: string,
    private readonly headers: Record<string, string> = {},
  ) {}

  post(message: Json, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(this.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(this.session !== undefined && { 'mcp-session-id': this.session }),
        ...this.headers,
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
      signal: this.open.signal,
    });
  }

  /** Resolves with what the message is answered with. */
  async send(message: Json): Promise<string> {
    return (await this.post(message)).text();
  }

  /** Resolves with the response. Other messages on its stream go to the inbox. */
  async request(method: string, params: Json = {}): Promise<Json> {
    const id = ++this.count;
    const response = await this.post({ id, method, params });
    this.session ??= response.headers.get('mcp-session-id') ?? undefined;
    if (!response.headers.get('content-type')?.includes('event-stream')) return (await response.json()) as Json;
    let found: Json | undefined;
    await this.read(response, (message) => {
      if (message['method'] === undefined) found = message;
      else this.inbox.put(message);
    });
    if (!found) throw new Error(`The stream ended without the response to ${method}.`);
    return found;
  }

  async connect(): Promise<Json> {
    const response = await this.request('initialize', HANDSHAKE);
    await this.post({ method: 'notifications/initialized' });
    return response;
  }

  /** Opens the GET stream. Resolves when it is open. */
  async listen(): Promise<void> {
    const response = await fetch(this.url, {
      headers: { accept: 'text/event-stream', 'mcp-session-id': this.session ?? '', ...this.headers },
      signal: this.open.signal,
    });
    if (response.status !== 200) throw new Error(`GET was answered with ${response.status}.`);
    this.read(response, this.inbox.put).catch(() => {});
  }

  hears(method: string): Promise<Json> {
    return this.inbox.next((message) => message['method'] === method);
  }

  /** Ends the session. */
  async end(): Promise<void> {
    const headers = { 'mcp-session-id': this.session ?? '', ...this.headers };
    await fetch(this.url, { method: 'DELETE', headers });
  }

  close(): void {
    this.open.abort();
  }

  private async read(response: Response, see: (message: Json) => void): Promise<void> {
    let rest = '';
    for await (const chunk of (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
      const blocks = (rest + chunk).split('\n\n');
      rest = blocks.pop() as string;
      for (const block of blocks) {
        const data = block.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : []));
        if (data.join('') !== '') see(JSON.parse(data.join('\n')) as Json);
      }
    }
  }
}
