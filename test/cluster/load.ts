import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';

import type { Message } from '../support/raw-client.js';
import { statelessHeaders } from '../support/http-transports.js';
import { ANSWERS } from './actor.js';

const JSON_TYPE = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const META = 'io.modelcontextprotocol/';
const CLIENT = { clientInfo: { name: 'load', version: '1' }, capabilities: { elicitation: {} } };

const ENVELOPE = {
  [`${META}protocolVersion`]: '2026-07-28',
  [`${META}clientInfo`]: CLIENT.clientInfo,
  [`${META}clientCapabilities`]: CLIENT.capabilities,
};

/** An effect and how often it may have run. */
interface Flow {
  readonly name: string;
  /** How often the request was repeated whose answer seals the effect. */
  readonly repeated: number;
}

/** Clients that call without a break, until they are stopped. They repeat a request that failed, but only once. */
export class Load {
  /** Requests that were answered. */
  answered = 0;
  /** Requests that were repeated. */
  repeated = 0;
  /** What answers were lost or wrong. */
  readonly problems: string[] = [];
  /** The requests with an effect that have ended. */
  readonly flows: Flow[] = [];
  private isOver = false;
  private readonly loops: Promise<void>[] = [];
  private last = 0;

  constructor(private readonly url: URL) {}

  start(): void {
    for (let count = 0; count < 3; count += 1) {
      this.loops.push(
        this.repeat(() => this.add(ENVELOPE)),
        this.repeat(() => this.twice()),
      );
      this.loops.push(this.inSession());
    }
  }

  /** Lets all requests end. */
  async stop(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.loops);
  }

  /** Waits for this many more answers. */
  async more(count: number): Promise<void> {
    const goal = this.answered + count;
    while (this.answered < goal && this.problems.length === 0) await wait(5);
  }

  private async repeat(act: () => Promise<void>): Promise<void> {
    while (!this.isOver) {
      try {
        await act();
        // leave the nodes some time for the other clients
        await wait(2);
      } catch (error) {
        this.problems.push(String(error));
      }
    }
  }

  private async inSession(): Promise<void> {
    const params = { protocolVersion: '2025-11-25', ...CLIENT };
    const { response } = await this.request({ method: 'initialize', params });
    const session = { 'mcp-session-id': response.headers.get('mcp-session-id') ?? '' };
    await this.repeat(() => this.add(undefined, { ...session, 'mcp-protocol-version': '2025-11-25' }));
  }

  private async add(meta?: object, headers?: Record<string, string>): Promise<void> {
    const [a, b] = [(this.last += 1), 1];
    const params = { name: 'later', arguments: { a, b }, ...(meta && { _meta: meta }) };
    const { message } = await this.request({ method: 'tools/call', params }, headers);
    if (text(message) !== String(a + b)) this.problems.push(`${a} + 1 is ${JSON.stringify(message)}`);
  }

  /** A request with an effect and two questions, so in three rounds. The first answer seals the effect. */
  private async twice(): Promise<void> {
    const name = randomUUID();
    const params = { name: 'twice', arguments: { name }, _meta: ENVELOPE };
    let { message, repeated } = await this.request({ method: 'tools/call', params });
    this.flows.push({ name, repeated });
    while (message.result?.['resultType'] === 'input_required') {
      const { inputRequests, requestState } = message.result;
      const answers = Object.entries(inputRequests as Record<string, Message>).map(([key, question]) => [
        key,
        ANSWERS['elicitation/create'](question.params),
      ]);
      const next = { ...params, requestState, inputResponses: Object.fromEntries(answers) };
      ({ message, repeated } = await this.request({ method: 'tools/call', params: next }));
    }
    if (text(message) !== 'true true') this.problems.push(`an effect ended with ${JSON.stringify(message)}`);
  }

  private async request(asked: Pick<Message, 'method' | 'params'>, headers?: Record<string, string>) {
    for (let repeated = 0; ; repeated += 1) {
      const message = { jsonrpc: '2.0' as const, id: (this.last += 1), ...asked };
      const own = headers ?? (asked.method === 'initialize' ? {} : statelessHeaders(message));
      const body = JSON.stringify(message);
      const response = await fetch(this.url, { method: 'POST', headers: { ...JSON_TYPE, ...own }, body }).catch(String);
      if (typeof response !== 'string' && response.ok) {
        const answer = await response.text().catch(() => '');
        if (answer !== '') {
          this.answered += 1;
          return { response, message: JSON.parse(answer) as Message, repeated };
        }
      }
      if (typeof response !== 'string' && response.status === 503) repeated -= 1;
      else this.repeated += 1;
      const what =
        typeof response === 'string' ? response : `${response.status} ${await response.text().catch(String)}`;
      if (repeated === 1) throw new Error(`${asked.method} failed twice: ${what}`);
      await wait(20);
    }
  }
}

const text = ({ result }: Message): string | undefined =>
  (result?.['content'] as { text?: string }[] | undefined)?.[0]?.text;
