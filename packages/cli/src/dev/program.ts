import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { EXPORT_A_SERVER } from '../entry.js';
import { inTime } from './in-time.js';
import { lines } from './lines.js';
import { parse, type Written } from './message.js';
import type { Asked, ChildMessage, StartMessage } from './messages.js';

/** How to run all processes of a program. */
export interface ProgramSettings {
  /** The absolute path of the entry. */
  readonly entry: string;
  readonly transport: 'stdio' | 'http';
  /** Packages to load before the entry. */
  readonly packages: readonly string[];
  /** The environment of the next process. */
  readonly env: () => NodeJS.ProcessEnv;
}

/** Events of a program's process. */
export interface ProgramEvents {
  /** The program has printed something. */
  readonly printed: (text: string) => void;
  /** The program has written a message, or a batch, to stdout. */
  readonly message: (program: Program, written: Written) => void;
  /** The program has loaded more files. */
  readonly loaded: (program: Program) => void;
  /** The program has read a file that isn't a module. */
  readonly read: (file: string) => void;
  /** The program has loaded and doesn't serve yet. */
  readonly waiting: (problem: string) => void;
  /** The program can't serve before the active one has ended. */
  readonly blocked: (program: Program) => void;
}

/** A program that could not be started. */
export class StartFailure extends Error {}

const REGISTER = new URL('../register.js', import.meta.url).href;
const WATCHDOG = new URL('child/watchdog.js', import.meta.url).href;
const CHILD = fileURLToPath(new URL('child/main.js', import.meta.url));
const KILL_MS = 2000;
const REST_MS = 200;
let count = 0;

/** A process that runs the program once. */
export class Program {
  readonly number = ++count;
  /** The files outside of `node_modules` that it has loaded. */
  readonly files = new Set<string>();
  /** The packages that it imports and that are safe to load in advance. */
  readonly packages = new Set<string>();
  /** Resolves with the reason when the process has ended. */
  readonly ended: Promise<string>;
  /** The port it listens on. */
  port: number | undefined;
  asked: Asked | undefined;
  /** When it was told to run (milliseconds since the epoch). It reads its files later. */
  startedAt: number | undefined;
  hasEnded = false;
  isStandIn = false;
  private readonly child: ChildProcess;
  private readonly warm: Promise<void>;
  private settleStart: ((problem?: string) => void) | undefined;

  constructor(
    { entry, transport, env, packages }: ProgramSettings,
    private readonly events: ProgramEvents,
  ) {
    const flags = ['--enable-source-maps', '--import', WATCHDOG, '--import', REGISTER];
    this.child = spawn(process.execPath, [...flags, CHILD, pathToFileURL(entry).href, transport, ...packages], {
      env: env(),
      stdio: ['pipe', 'pipe', 'pipe', 'ipc'],
      // Ctrl-C reaches the relay's whole process group, but the relay decides when its children end
      detached: process.platform !== 'win32',
      windowsHide: true,
    });
    this.ended = this.whenEnded();
    let warmed = () => {};
    this.warm = new Promise((resolve) => (warmed = resolve));
    void this.ended.then(warmed);
    this.child.on('message', (message: ChildMessage) => (message.type === 'warm' ? warmed() : this.hear(message)));
    this.child.stdin?.on('error', () => {});
    this.child.stderr?.setEncoding('utf8').on('data', events.printed);
    if (transport === 'http') this.child.stdout?.setEncoding('utf8').on('data', events.printed);
    else lines(this.child.stdout as Readable, (text) => this.read(text));
  }

  /**
   * Runs the entry. Resolves when it serves.
   * @throws {StartFailure}
   */
  async start(message: StartMessage): Promise<void> {
    await this.warm;
    this.isStandIn = message.standIn !== undefined;
    const started = new Promise<void>((resolve, reject) => {
      this.settleStart = (problem) => {
        this.settleStart = undefined;
        if (problem === undefined) resolve();
        else reject(new StartFailure(problem));
      };
    });
    void this.failUnlessStarted();
    this.startedAt = Date.now();
    this.tell(message);
    await started;
  }

  private async failUnlessStarted(): Promise<void> {
    const reason = await this.ended;
    const remedy = reason === 'exit code 0' ? ` ${EXPORT_A_SERVER}` : '';
    this.settleStart?.(`The program ended before it served anything (${reason}).${remedy}`);
  }

  /** Writes a message to the program's stdin. */
  write(line: string): void {
    this.child.stdin?.write(`${line}\n`);
  }

  tell(message: object): void {
    if (this.child.connected) this.child.send(message, () => {});
  }

  /** Ends the process with SIGTERM or, if that takes too long, with SIGKILL. */
  async stop(): Promise<void> {
    if (this.hasEnded) return;
    this.child.kill('SIGTERM');
    const timer = setTimeout(() => this.child.kill('SIGKILL'), KILL_MS);
    await this.ended;
    clearTimeout(timer);
  }

  /** Ends the process at once. */
  kill(): void {
    this.child.kill('SIGKILL');
  }

  private hear(message: ChildMessage): void {
    if (message.type === 'packages') for (const name of message.names) this.packages.add(name);
    else if (message.type === 'files') {
      for (const url of message.urls) this.files.add(fileURLToPath(url.replace(/[?#].*$/, '')));
      this.events.loaded(this);
    } else if (message.type === 'read') this.events.read(message.file);
    else if (message.type === 'failed') this.settleStart?.(message.problem);
    else if (message.type === 'serving') {
      this.port = message.port;
      this.asked = message.asked;
      this.settleStart?.();
    } else if (message.type === 'blocked') this.events.blocked(this);
    else if (message.type === 'waiting') this.events.waiting(message.problem);
  }

  /** Reads a line of stdout. A program may print other text first, even on the line of a message. */
  private read(text: string): void {
    const start = /^(?:\{|\[\{)/.test(text) ? 0 : text.indexOf('{"jsonrpc"');
    const own = text.slice(Math.max(0, start));
    const message = start === -1 ? undefined : parse(own);
    if (message === undefined) return this.events.printed(`${text}\n`);
    if (start > 0) this.events.printed(`${text.slice(0, start)}\n`);
    this.events.message(this, { message, text: own });
  }

  private async whenEnded(): Promise<string> {
    const failed = new Promise<string>((resolve) => this.child.once('error', ({ message }) => resolve(message)));
    // subscribe now: `close` may come right after `exit`, before code that awaits `exit` runs
    const closed = new Promise((resolve) => this.child.once('close', resolve));
    const exited = once(this.child, 'exit').then(async ([code, signal]) => {
      // wait for its last output, but not for long: its own child processes may keep stdout open
      await inTime(closed, REST_MS);
      return typeof signal === 'string' ? `signal ${signal}` : `exit code ${code}`;
    });
    const reason = await Promise.race([failed, exited]);
    this.hasEnded = true;
    return reason;
  }
}
