import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import type { Socket } from 'node:net';
// a test may have replaced the global timers
import { clearTimeout, setTimeout } from 'node:timers';

import { ConnectionError } from '../connection-error.js';
import type { Carrier, OpenCarrier, Receiver } from './carrier.js';
import { tooLarge } from './http-request.js';
import { readLines } from './lines.js';
import { endWithThisProcess, HAS_GROUPS, signalGroup } from './process-group.js';
import { Tail } from './tail.js';

/** A program that serves over stdin and stdout. */
export interface Program {
  /** The command, as for `spawn`, without a shell. */
  readonly command: string;
  readonly args?: readonly string[];
  /** Added to the environment of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** The working directory. Defaults to that of this process. */
  readonly cwd?: string;
}

/** Milliseconds from the end of stdin to SIGTERM (MCP, "Lifecycle", shutdown over stdio), and from there to SIGKILL. */
const PATIENCE = { SIGTERM: 1000, SIGKILL: 1000 } as const;

/** Milliseconds to wait for the last output of a program that has exited. Another process may hold the pipe open. */
const LAST_WORDS_MS = 500;

/** What a client does with the output of a program. */
export interface ProgramOutput {
  /** Cap on the characters of a line. */
  readonly maxMessageBytes: number;
  /** Receives what the program writes to stderr. */
  readonly onStderr?: ((chunk: string) => void) | undefined;
}

/** Starts a program and connects to it over stdio. */
export function overProgram(program: Program, output: ProgramOutput): OpenCarrier {
  return async (receiver) => {
    const { command, args = [], env, cwd } = program;
    const child = spawn(command, [...args], {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: HAS_GROUPS,
    });
    try {
      await once(child, 'spawn');
    } catch (error) {
      throw cannotStart(program, error as NodeJS.ErrnoException);
    }
    return new ProgramCarrier(child, { ...program, ...output }, receiver);
  };
}

function cannotStart({ command, cwd }: Program, error: NodeJS.ErrnoException): Error {
  const why = () => {
    if (cwd !== undefined && !existsSync(cwd)) return `the folder ${cwd} does not exist`;
    if (error.code !== 'ENOENT') return error.message;
    if (/\s/.test(command)) return 'there is no such command. Pass its arguments as `args`';
    return 'there is no such command. Install it, or pass its path';
  };
  return new ConnectionError('unreachable', `Cannot start "${command}": ${why()}.`, { cause: error });
}

class ProgramCarrier implements Carrier {
  private readonly errors = new Tail();
  private isHeld = false;
  /** Resolves when the program and all processes that it has started have ended. */
  private readonly ended: Promise<void>;
  private hasSpoken = false;

  constructor(
    private readonly child: ChildProcessWithoutNullStreams,
    private readonly program: Program & ProgramOutput,
    receiver: Receiver,
  ) {
    const release = endWithThisProcess(child);
    const { maxMessageBytes: maxLength, onStderr } = program;
    const take = (line: string) => {
      this.hasSpoken = true;
      receiver.receive(line);
    };
    readLines(child.stdout, { take, maxLength, tooLong: () => receiver.lose(tooLarge(maxLength)) });
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      this.errors.add(chunk);
      onStderr?.(chunk);
    });
    this.ended = this.end(receiver).finally(release);
    child.stdin.on('error', () => this.fallSilent(receiver, 'stdin'));
    child.stdout.once('end', () => this.fallSilent(receiver, 'stdout'));
    child.unref();
    for (const stream of [child.stdin, child.stdout, child.stderr]) (stream as unknown as Socket).unref();
  }

  async send(text: string): Promise<'sent'> {
    this.child.stdin.write(`${text}\n`);
    return 'sent';
  }

  hold(isAwaited: boolean): void {
    // a pipe that is still connecting notes each change
    if (isAwaited === this.isHeld) return;
    this.isHeld = isAwaited;
    const stdout = this.child.stdout as unknown as Socket;
    if (isAwaited) stdout.ref();
    else stdout.unref();
  }

  async close(): Promise<void> {
    const { child } = this;
    child.ref();
    child.stdin.end();
    for (const [signal, patience] of Object.entries(PATIENCE)) {
      if (await this.endsWithin(patience)) return;
      signalGroup(child, signal as NodeJS.Signals);
    }
    await this.ended;
  }

  private async end({ lose }: Receiver): Promise<void> {
    const { child } = this;
    const closed = once(child, 'close');
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    signalGroup(child, 'SIGKILL');
    await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, LAST_WORDS_MS).unref())]);
    lose(new ConnectionError('closed', this.epitaph(signal === null ? `with exit code ${code}` : `by ${signal}`)));
  }

  /** Gives up on a program that has closed a pipe, unless it exits soon: then its exit is reported instead. */
  private fallSilent({ lose }: Receiver, pipe: string): void {
    const reason = new ConnectionError(
      'closed',
      `The program ${this.commandLine} has closed its ${pipe}, and goes on running.`,
    );
    setTimeout(() => lose(reason), LAST_WORDS_MS).unref();
  }

  private get commandLine(): string {
    const { command, args = [] } = this.program;
    return `\`${[command, ...args].join(' ')}\``;
  }

  /** Describes how the program has ended. */
  private epitaph(how: string): string {
    const silence = this.hasSpoken ? '' : ' It never wrote a message to stdout. Does it call `serveStdio`?';
    const errors = this.errors.shown();
    const printed = errors === '' ? ' It wrote nothing to stderr.' : ` The last lines of its stderr:\n\n${errors}\n`;
    return `The program ${this.commandLine} ended ${how}.${silence}${printed}`;
  }

  private async endsWithin(milliseconds: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), milliseconds);
    });
    const hasEnded = await Promise.race([this.ended.then(() => true), patience]);
    clearTimeout(timer);
    return hasEnded;
  }
}
