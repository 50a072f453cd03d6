import { EventEmitter, once } from 'node:events';
import { PassThrough } from 'node:stream';

import { type JsonObject, serveStdio, type StdioConnection, type StdioOptions } from '@decorum/core';
import type { ClosableHost } from '@decorum/core/transport';
import { newestOf } from '@decorum/core/internal';

/** A received message. */
export interface Received extends JsonObject {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: JsonObject;
  readonly result?: JsonObject;
  readonly error?: { readonly code: number; readonly message: string };
}

/** The client's end of two streams. It keeps all messages. A line that isn't JSON causes an uncaught error. */
export class PipeClient {
  readonly received: Received[] = [];
  private rest = '';
  private readonly arrivals = new EventEmitter();

  /**
   * @param input the server's stdin
   * @param output the server's stdout
   */
  constructor(
    readonly input: NodeJS.WritableStream,
    readonly output: NodeJS.ReadableStream,
  ) {
    output.setEncoding('utf8');
    output.on('data', this.read);
  }

  write(bytes: string | Uint8Array): void {
    this.input.write(bytes);
  }

  /** Sends messages in one chunk, one per line. */
  send(...messages: object[]): void {
    this.write(messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join(''));
  }

  /** Initializes a session. */
  async initialize(capabilities: object = {}): Promise<void> {
    const protocolVersion = newestOf('stateful').id;
    const clientInfo = { name: 'pipe', version: '1' };
    this.send({ id: 'initialize', method: 'initialize', params: { protocolVersion, capabilities, clientInfo } });
    await this.response('initialize');
    this.send({ method: 'notifications/initialized' });
  }

  /** Calls a tool and waits for the response. */
  async call(id: string | number, name: string, args: object = {}): Promise<Received> {
    this.send({ id, method: 'tools/call', params: { name, arguments: args } });
    return await this.response(id);
  }

  /** Waits for the response to a request. */
  async response(id: string | number): Promise<Received> {
    return await this.find((message) => message.id === id && message.method === undefined);
  }

  /** Waits for the first message that fits. */
  async find(fits: (message: Received) => boolean): Promise<Received> {
    for (;;) {
      const found = this.received.find(fits);
      if (found) return found;
      await once(this.arrivals, 'message');
    }
  }

  private readonly read = (chunk: string): void => {
    const lines = (this.rest + chunk).split('\n');
    this.rest = lines.pop() ?? '';
    for (const line of lines) this.received.push(JSON.parse(line) as Received);
    this.arrivals.emit('message');
  };
}

/** The `_meta` of a stateless request. */
export const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': newestOf('stateless').id,
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** Serves over streams in this process. */
export async function openPipe(
  server: ClosableHost,
  options: StdioOptions = {},
): Promise<{ client: PipeClient; connection: StdioConnection; input: PassThrough; output: PassThrough }> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const connection = await serveStdio(server, { input, output, ...options });
  return { client: new PipeClient(input, output), connection, input, output };
}
