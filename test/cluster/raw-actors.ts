import { overUrl } from '../support/http-transports.js';
import { type Answer, type Line, type Message, RawClient, textOf } from '../support/raw-client.js';
import { type Revision, STATELESS } from '../support/requirements.js';
import { type Actor, ANSWERS, type Door, type Kind, Notes, type Running, ended } from './actor.js';

const answers: Readonly<Record<string, Answer>> = Object.fromEntries(
  Object.entries(ANSWERS).map(([method, answer]) => [method, (params) => ({ result: answer(params) })]),
);

class RawActor implements Actor {
  readonly notes = new Notes();
  private client!: RawClient;
  private line!: Line;
  private begun = 0;

  constructor(
    private readonly door: Door,
    private readonly revision: Revision,
  ) {}

  async connect(): Promise<this> {
    const { revision } = this;
    const elicits = revision >= '2025-06-18';
    const capabilities = { sampling: {}, roots: {}, ...(elicits && { elicitation: {} }) };
    this.client = await RawClient.connect(
      // the server is in other processes
      undefined as never,
      { revision, capabilities, answers },
      async (server, receive, options) => {
        const hear = Object.assign((text: string) => this.hear(text, receive), { report: receive.report });
        return (this.line = await overUrl(this.door.url)(server, hear, options));
      },
    );
    return this;
  }

  async call(name: string, args: Message['params'] = {}): Promise<string> {
    return textOf(await this.client.call(name, args)) ?? '';
  }

  async begin(name: string, args: Message['params'] = {}): Promise<Running> {
    const id = `b${(this.begun += 1)}`;
    const params = { name, arguments: args, _meta: { progressToken: id } };
    await this.client.send(this.client.buildMessage(id, 'tools/call', params));
    const result = this.client.response(id).then((answer) => {
      if (answer.result === undefined) throw new Error(JSON.stringify(answer.error));
      return textOf(answer.result) ?? '';
    });
    // nobody waits for a call that is cancelled
    result.catch(() => {});
    const ofCall = () =>
      this.client.of('notifications/progress').filter(({ params: p }) => p?.['progressToken'] === id);
    const stepped = (count: number) => this.notes.until(() => ofCall().length >= count);
    await stepped(1);
    return {
      result,
      get steps() {
        return ofCall().map(({ params: p }) => p?.['progress'] as number);
      },
      stepped,
      cancel: () => this.client.cancel(id),
      cut: () => this.client.resume(id, async () => {}),
    };
  }

  async follow(uri: string): Promise<void> {
    if (!this.client.stateless) return void (await this.client.result('resources/subscribe', { uri }));
    const notifications = { toolsListChanged: true, resourceSubscriptions: [uri] };
    const id = `f${(this.begun += 1)}`;
    await this.client.send(this.client.buildMessage(id, 'subscriptions/listen', { notifications }));
    // what changes before this acknowledgment isn't sent
    await this.notes.until(() => this.notes.acknowledges(id));
  }

  async setLevel(level: 'debug' | 'error'): Promise<void> {
    await this.client.result('logging/setLevel', { level });
  }

  async cutStream(): Promise<void> {
    await this.client.resume(undefined as never, async () => {});
  }

  async end(): Promise<void> {
    const { sessionId = '' } = this.line;
    await this.client.close();
    await ended(this.door.url, sessionId, this.revision);
  }

  async close(): Promise<void> {
    await this.client.close();
  }

  private hear(text: string, receive: (text: string) => void): void {
    receive(text);
    for (const message of [JSON.parse(text) as Message | Message[]].flat()) this.notes.add(message);
  }
}

const REVISIONS: readonly Revision[] = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', STATELESS];

/** Raw clients of all revisions. They validate everything that they receive. */
export const RAW_KINDS: readonly Kind[] = REVISIONS.map((revision) => ({
  name: 'a raw client',
  revision,
  connect: (door) => new RawActor(door, revision).connect(),
}));
