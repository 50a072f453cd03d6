export type Json = Record<string, unknown>;

interface Waiting {
  readonly wants: (message: Json) => boolean;
  readonly take: (message: Json) => void;
}

/** A client, independent of the transport. */
export class Client {
  #asked = 0;
  readonly #heard: Json[] = [];
  readonly #waiting = new Set<Waiting>();

  constructor(
    private readonly send: (message: Json) => Promise<void>,
    readonly close: () => Promise<void>,
  ) {}

  /** Handles a message from the server. */
  receive(message: Json): void {
    this.#heard.push(message);
    for (const waiting of this.#waiting) {
      if (!waiting.wants(message)) continue;
      this.#waiting.delete(waiting);
      waiting.take(message);
    }
  }

  async request(method: string, params: Json = {}): Promise<Json> {
    const id = ++this.#asked;
    const answer = this.#next((message) => message['id'] === id && !('method' in message));
    await this.send({ jsonrpc: '2.0', id, method, params });
    const { result, error } = await answer;
    return (error ?? result) as Json;
  }

  async notify(method: string): Promise<void> {
    await this.send({ jsonrpc: '2.0', method });
  }

  /** Waits for the first notification with this method. */
  async heard(method: string): Promise<Json | undefined> {
    const { params } = await this.#next((message) => message['method'] === method);
    return params as Json | undefined;
  }

  async begin(): Promise<Json> {
    const clientInfo = { name: 'test', version: '0' };
    const result = await this.request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
    await this.notify('notifications/initialized');
    return result;
  }

  #next(wants: (message: Json) => boolean): Promise<Json> {
    const past = this.#heard.find(wants);
    return past ? Promise.resolve(past) : new Promise((take) => this.#waiting.add({ wants, take }));
  }
}
