import type { Readable, Writable } from 'node:stream';

import { CALLS, CLIENT, type Message, SESSION_REVISION, type Style } from './calls.js';
import { countOf } from './connection.js';
import { costOf, type Entrant, type Measured } from './entrant.js';
import { bodyOf } from './requests.js';

/** Number of lines in a batch. The next batch follows when all of them are answered. */
const LINES = 64;
const NEWLINE = Buffer.from('\n');
const HELLO = [
  {
    id: 1,
    method: 'initialize',
    params: { protocolVersion: SESSION_REVISION, capabilities: {}, clientInfo: CLIENT },
  },
  { method: 'notifications/initialized' },
];

/** The client's ends of two pipes. */
export interface Pipes {
  readonly input: Readable;
  readonly output: Writable;
}

/** Calls `add` over pipes, in batches of lines. */
export class LinesEntrant implements Entrant {
  private readonly batch: string;
  private expected: Buffer | undefined;
  private chunks: Buffer[] = [];
  private missing = 0;
  private arrived: (answers: Buffer) => void = () => {};

  constructor(
    private readonly measured: Measured,
    private readonly pipes: Pipes,
    private readonly style: Style,
  ) {
    const clients = Array.from({ length: LINES }, (_, client) => client);
    this.batch = clients.map((client) => `${bodyOf({ call: CALLS.add, style, client })}\n`).join('');
  }

  async prepare(): Promise<void> {
    this.pipes.input.on('data', this.receive);
    const hello = HELLO.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join('');
    if (this.style === 'session') await this.send(hello, 1);
    const answers = await this.send(this.batch, LINES);
    const messages = answers.toString().trimEnd().split('\n');
    for (const [client, line] of messages.entries()) CALLS.add.verify([JSON.parse(line) as Message], client);
    this.expected = answers;
  }

  async slice(calls: number): Promise<number> {
    const batches = Math.ceil(calls / LINES);
    const micros = await costOf(this.measured, async () => {
      for (let batch = 0; batch < batches; batch += 1) this.check(await this.send(this.batch, LINES));
    });
    return (micros * calls) / (batches * LINES);
  }

  async finish(): Promise<void> {
    this.pipes.input.off('data', this.receive);
  }

  private async send(lines: string, answers: number): Promise<Buffer> {
    this.missing = answers;
    this.chunks = [];
    const all = new Promise<Buffer>((resolve) => {
      this.arrived = resolve;
    });
    this.pipes.output.write(lines);
    return await all;
  }

  private readonly receive = (chunk: Buffer): void => {
    this.chunks.push(chunk);
    this.missing -= countOf(NEWLINE, chunk);
    if (this.missing === 0) this.arrived(Buffer.concat(this.chunks));
  };

  private check(answers: Buffer): void {
    if (this.expected?.equals(answers) !== true)
      throw new Error(`Responses differ from the first batch: ${answers.toString()}`);
  }
}
