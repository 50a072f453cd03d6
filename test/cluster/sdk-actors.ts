import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';

import { type Actor, ANSWERS, type Door, type Kind, type Note, Notes, type Running, ended } from './actor.js';

const INFO = { name: 'cluster', version: '1.0.0' };
const CAPABILITIES = { sampling: {}, elicitation: {}, roots: {} };

/** Clients come back soon, so that the tests are quick, and go on while no node takes them. */
const reconnectionOptions = {
  initialReconnectionDelay: 50,
  maxReconnectionDelay: 200,
  reconnectionDelayGrowFactor: 1.5,
  maxRetries: 10_000,
};

/** The members that the clients of both versions share. */
interface Sdk {
  readonly client: ClientV1 | ClientV2;
  readonly transport: HttpV1 | HttpV2;
  call(params: { name: string; arguments: object }, options: object): Promise<unknown>;
}

function sdkV1(url: URL, fetching: typeof fetch): Sdk {
  const client = new ClientV1(INFO, { capabilities: CAPABILITIES });
  client.setRequestHandler(ElicitRequestSchema, async ({ params }) => ANSWERS['elicitation/create'](params));
  client.setRequestHandler(CreateMessageRequestSchema, async () => ANSWERS['sampling/createMessage']());
  client.setRequestHandler(ListRootsRequestSchema, async () => ANSWERS['roots/list']());
  const transport = new HttpV1(url, { reconnectionOptions, fetch: fetching });
  return { client, transport, call: (params, options) => client.callTool(params as never, undefined, options) };
}

const sdkV2 =
  (mode: 'legacy' | { pin: string }) =>
  (url: URL, fetching: typeof fetch): Sdk => {
    const client = new ClientV2(INFO, { capabilities: CAPABILITIES, versionNegotiation: { mode } });
    client.setRequestHandler('elicitation/create', async ({ params }) => ANSWERS['elicitation/create'](params));
    client.setRequestHandler('sampling/createMessage', async () => ANSWERS['sampling/createMessage']());
    client.setRequestHandler('roots/list', async () => ANSWERS['roots/list']());
    const transport = new HttpV2(url, { reconnectionOptions, fetch: fetching });
    return { client, transport, call: (params, options) => client.callTool(params as never, options) };
  };

const textIn = (result: unknown): string => (result as { content: { text?: string }[] }).content[0]?.text ?? '';

class SdkActor implements Actor {
  readonly notes = new Notes();
  /** GET streams that were opened. */
  private streams = 0;
  private readonly sdk: Sdk;

  constructor(
    make: (url: URL, fetching: typeof fetch) => Sdk,
    private readonly door: Door,
    private readonly revision: string,
  ) {
    this.sdk = make(door.url, async (to, init) => {
      const response = await fetch(to, init);
      if ((init?.method ?? 'GET') === 'GET' && response.ok) {
        this.streams += 1;
        this.notes.add({ method: 'opened' });
      }
      return response;
    });
    this.sdk.client.fallbackNotificationHandler = async (note: unknown) => this.notes.add(note as Note);
  }

  async connect(): Promise<this> {
    await (this.sdk.client as ClientV1).connect(this.sdk.transport as never);
    return this;
  }

  async call(name: string, args: object = {}): Promise<string> {
    return textIn(await this.sdk.call({ name, arguments: args }, {}));
  }

  async begin(name: string, args: object = {}): Promise<Running> {
    const controller = new AbortController();
    const steps: number[] = [];
    const onprogress = ({ progress }: { progress: number }) => {
      steps.push(progress);
      this.notes.add({ method: 'stepped' });
    };
    const options = { signal: controller.signal, onprogress, resetTimeoutOnProgress: true };
    const result = this.sdk.call({ name, arguments: args }, options).then(textIn);
    // the calls that are cancelled reject
    result.catch(() => {});
    const stepped = (count: number) => this.notes.until(() => steps.length >= count);
    await stepped(1);
    const cut = async () => void this.door.cut(this.session, 'POST');
    return { result, steps, stepped, cut, cancel: async () => controller.abort('enough') };
  }

  async follow(uri: string): Promise<void> {
    const { client } = this.sdk;
    if (this.revision === '2026-07-28') {
      await (client as ClientV2).listen({ toolsListChanged: true, resourceSubscriptions: [uri] });
      return;
    }
    await this.notes.until(() => this.streams > 0);
    await client.subscribeResource({ uri });
  }

  async setLevel(level: 'debug' | 'error'): Promise<void> {
    await this.sdk.client.setLoggingLevel(level);
  }

  async cutStream(): Promise<void> {
    const before = this.streams;
    this.door.cut(this.session, 'GET');
    await this.notes.until(() => this.streams > before);
  }

  async end(): Promise<void> {
    const { session } = this;
    await this.sdk.transport.terminateSession();
    await ended(this.door.url, session, this.revision);
  }

  async close(): Promise<void> {
    await this.sdk.client.close();
  }

  private get session(): string {
    return this.sdk.transport.sessionId ?? '';
  }
}

const kindOf = (name: string, revision: string, make: ConstructorParameters<typeof SdkActor>[0]): Kind => ({
  name,
  revision,
  connect: (door) => new SdkActor(make, door, revision).connect(),
});

/** The official clients. */
export const SDK_KINDS: readonly Kind[] = [
  kindOf('SDK 1', '2025-11-25', sdkV1),
  kindOf('SDK 2', '2025-11-25', sdkV2('legacy')),
  kindOf('SDK 2', '2026-07-28', sdkV2({ pin: '2026-07-28' })),
];
