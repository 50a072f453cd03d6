import { basename, relative } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

import type { Front, Stage } from './front.js';
import { describeFailure } from './locate.js';
import type { StandIn, StartMessage } from './messages.js';
import { Program, type ProgramEvents, type ProgramSettings, StartFailure } from './program.js';
import type { Report } from './report.js';
import { isSetting } from './watcher.js';

/** How to run and replace programs. */
export interface SupervisorSettings extends Omit<ProgramSettings, 'packages'> {
  readonly root: string;
  readonly args: readonly string[];
  readonly inspect: string | undefined;
  readonly drainMs: number;
  readonly defaultPort: number;
  readonly standIn: StandIn;
  readonly events: ProgramEvents;
  /** Called when a program serves, or when it fails to start. */
  readonly settled: () => void;
}

const FIRST_START_MS = 3000;
const LOOP_MS = 5000;
const PATIENCE_MS = 5000;
const ALWAYS_ANSWERED = new Set(['initialize', 'ping', 'server/discover', 'logging/setLevel', 'subscriptions/listen']);

/** Keeps one program serving: starts the next one after an edit, and restarts one that has died. */
export class Supervisor implements Stage {
  current: Program | undefined;
  front!: Front;
  private spare: Program | undefined;
  private changed: Set<string> | undefined;
  /** Packages to load before the entry. */
  private readonly packages = new Set<string>();
  private starting: { readonly program: Program; readonly began: number } | undefined;
  private busy = false;
  private closing = false;
  /** When a restarted program began to serve; `-Infinity` after an edit. */
  private restartedAt = Number.NEGATIVE_INFINITY;
  /** Why no program serves, as clients are told. */
  private problem: string | undefined;
  private hasServed = false;
  private readonly waiting: ((program: Program) => void)[] = [];
  private readonly retiring = new Set<Promise<void>>();

  constructor(
    private readonly settings: SupervisorSettings,
    private readonly report: Report,
  ) {}

  serving(): Promise<Program> {
    if (this.current) return Promise.resolve(this.current);
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  refusal(method = ''): string | undefined {
    if (!this.current?.isStandIn || ALWAYS_ANSWERED.has(method)) return undefined;
    if (!this.hasServed && method.endsWith('/list')) return undefined;
    return this.problem === undefined ? 'The program is still starting.' : `The program has ended: ${this.problem}`;
  }

  /** Starts the program for the first time. Resolves when clients get answers. */
  async start(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => void this.substitute(() => this.hasServed).catch(reject), FIRST_START_MS);
    });
    this.changed = new Set();
    await Promise.race([this.work(), late]).finally(() => clearTimeout(timer));
  }

  /** Starts the program again, because files have changed. */
  reload(files: readonly string[]): void {
    if (this.closing) return;
    this.changed ??= new Set();
    for (const file of files) this.changed.add(file);
    const { starting } = this;
    if (!starting) return void this.work();
    // a program that never serves would keep its successor waiting
    const waited = performance.now() - starting.began;
    setTimeout(() => this.changed && starting.program.kill(), Math.max(0, PATIENCE_MS - waited)).unref();
  }

  async close(): Promise<void> {
    this.closing = true;
    this.spare?.kill();
    this.starting?.program.kill();
    await this.front.close(this.settings.drainMs);
    await Promise.all([this.current?.stop(), this.spare?.ended, ...this.retiring]);
  }

  private async work(): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    try {
      while (this.changed && !this.closing) {
        const files = [...this.changed];
        this.changed = undefined;
        await this.turn(files);
      }
    } finally {
      this.busy = false;
    }
  }

  /** Starts a program and, if it serves, moves all clients to it. */
  private async turn(files: readonly string[]): Promise<void> {
    const began = performance.now();
    const program = this.takeSpare(files);
    this.starting = { program, began };
    // the next program needs the debugger's port
    this.current?.tell({ type: 'inspect', address: undefined });
    try {
      await program.start(this.message());
    } catch (error) {
      program.kill();
      if (!(error instanceof StartFailure)) throw error;
      if (!this.closing) await this.failed(error, program);
      return;
    } finally {
      this.starting = undefined;
    }
    if (this.closing) return void program.stop();
    for (const name of program.packages) this.packages.add(name);
    await this.front.open(program).catch((error: unknown) => {
      program.kill();
      throw error;
    });
    const isFirst = !this.hasServed;
    const isRestart = !isFirst && files.length === 0;
    this.hasServed = true;
    this.problem = undefined;
    void program.ended.then((reason) => this.died(program, reason));
    this.restartedAt = isRestart ? performance.now() : Number.NEGATIVE_INFINITY;
    const adoption = await this.adopt(program);
    if (program.hasEnded) void this.died(program, await program.ended);
    else if (isFirst) this.report.serving(await this.front.about(program), this.nameOf(this.settings.entry));
    else if (!isRestart) this.report.reloaded(files.map(this.nameOf), performance.now() - began, adoption);
    this.settings.settled();
    this.prepare();
  }

  private async adopt(program: Program) {
    const before = this.current;
    const adoption = await this.front.adopt(program, () => {
      this.current = program;
      for (const resolve of this.waiting.splice(0)) resolve(program);
    });
    if (before) this.retire(before);
    return adoption;
  }

  /** Lets a program finish its requests in flight, then ends it. */
  private retire(program: Program): void {
    const end = async () => {
      const timer = new AbortController();
      const late = wait(this.settings.drainMs, 'late' as const, { signal: timer.signal, ref: false }).catch(
        () => 'late',
      );
      const how = await Promise.race([this.front.idle(program), program.ended, late]);
      timer.abort();
      if (how === 'late') this.front.lost(program, 'it was replaced, and the call took too long');
      await program.stop();
      this.front.lost(program, 'it was replaced');
    };
    const retired = end().finally(() => this.retiring.delete(retired));
    this.retiring.add(retired);
  }

  private async failed({ failure }: StartFailure, { files }: Program): Promise<void> {
    const text = describeFailure(failure, { root: this.settings.root, files });
    const serves = this.current !== undefined && !this.current.isStandIn;
    this.report.problem(text, serves ? 'still serving what ran before' : 'waiting for an edit');
    this.front.log(text);
    this.settings.settled();
    if (serves) this.inspect(this.current);
    else {
      this.problem = text;
      await this.substitute();
    }
    this.prepare();
  }

  /** Starts a stand-in, so that clients can connect while no program serves. */
  private async substitute(isLate = () => false): Promise<void> {
    if (this.closing || this.isServing()) return;
    await this.front.open(undefined);
    const program = this.takeSpare([]);
    try {
      await program.start({ ...this.message(), inspect: undefined, standIn: this.settings.standIn });
    } catch {
      return program.kill();
    }
    // the program may have started in the meantime
    if (this.isServing() || this.closing || isLate()) return void program.stop();
    await this.adopt(program);
  }

  private inspect(program: Program | undefined): void {
    program?.tell({ type: 'inspect', address: this.settings.inspect });
  }

  private isServing(): boolean {
    return this.current?.hasEnded === false;
  }

  private async died(program: Program, reason: string): Promise<void> {
    const wasServing = program === this.current && !this.closing;
    // the client's next request must not go to it
    if (wasServing) this.current = undefined;
    this.front.lost(program, reason);
    if (!wasServing) return;
    const isLoop = performance.now() - this.restartedAt < LOOP_MS;
    this.problem = `${reason}.`;
    if (!isLoop) {
      this.report.problem(`The program has ended: ${reason}.`, 'starting it again');
      return this.restart();
    }
    this.report.problem(`The program has ended again: ${reason}.`, 'waiting for an edit');
    await this.substitute();
    this.prepare();
  }

  private async restart(): Promise<void> {
    // the restarted program, or one after an edit, may never serve
    setTimeout(() => void this.substitute(), FIRST_START_MS).unref();
    this.changed ??= new Set();
    await this.work();
  }

  private message(): StartMessage {
    const { transport, args, inspect, defaultPort } = this.settings;
    const publicPort = this.front.port;
    return { type: 'start', transport, args, inspect, defaultPort, publicPort, standIn: undefined };
  }

  /** The warm process, or a new one if it has ended or loaded a file that has changed. */
  private takeSpare(files: readonly string[]): Program {
    const { spare } = this;
    this.spare = undefined;
    const isStale = files.some((file) => spare?.files.has(file) || isSetting(basename(file)));
    if (spare && !spare.hasEnded && !isStale) return spare;
    spare?.kill();
    return this.spawn();
  }

  /** Starts the warm process for the next edit. */
  private prepare(): void {
    if (this.closing || (this.spare && !this.spare.hasEnded)) return;
    this.spare = this.spawn();
  }

  private spawn(): Program {
    const { settings, packages } = this;
    return new Program({ ...settings, packages: [...packages] }, settings.events);
  }

  private readonly nameOf = (file: string): string => relative(this.settings.root, file);
}
