import { basename, relative } from 'node:path';

import type { ActiveProgram } from './active-program.js';
import type { Frontend, Migration } from './frontend.js';
import { inTime } from './in-time.js';
import type { StandIn, StartMessage } from './messages.js';
import { Program, type ProgramSettings, StartFailure } from './program.js';
import type { Report } from './report.js';
import { isSetting, Watcher } from './watcher.js';

/** How to run and replace programs. */
export interface SupervisorSettings extends Omit<ProgramSettings, 'packages'> {
  readonly root: string;
  readonly args: readonly string[];
  readonly inspect: string | undefined;
  readonly drainMs: number;
  readonly defaultPort: number;
  readonly standIn: StandIn;
}

/** A check of the sources, which programs don't wait for. */
export interface Check {
  /** Starts a new check. A check that is still running is abandoned. */
  run(): void;
  stop(): void;
}

/** What the supervisor works with. */
interface Parts {
  readonly active: ActiveProgram;
  readonly frontend: Frontend;
  readonly report: Report;
  /** Run when a program serves, and when one fails to start. */
  readonly checks: readonly Check[];
}

const FIRST_START_MS = 3000;
const LOOP_MS = 5000;
const PATIENCE_MS = 5000;

/** Keeps one program serving: starts the next one after an edit, and restarts one that has died. */
export class Supervisor {
  private readonly watcher: Watcher;
  /** The warm process for the next start. */
  private spare: Program | undefined;
  /** The files that have changed since the last start; undefined if there is nothing to start. */
  private changed: Set<string> | undefined;
  /** Packages to load before the entry. */
  private readonly packages = new Set<string>();
  private starting: { readonly program: Program; readonly began: number } | undefined;
  private busy = false;
  private closing = false;
  /** When a restarted program began to serve; `-Infinity` after an edit. */
  private restartedAt = Number.NEGATIVE_INFINITY;
  /** Replaced programs that finish their requests in flight. */
  private readonly retiring = new Set<Promise<void>>();

  constructor(
    private readonly settings: SupervisorSettings,
    private readonly parts: Parts,
  ) {
    this.watcher = new Watcher(settings.root, (files) => this.reload(files));
    this.watcher.add([settings.entry]);
  }

  /** Starts the program for the first time. Resolves when clients get answers. */
  async start(): Promise<void> {
    const { active } = this.parts;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => void this.substitute(() => active.hasServed).catch(reject), FIRST_START_MS);
    });
    this.changed = new Set();
    await Promise.race([this.work(), late]).finally(() => clearTimeout(timer));
  }

  async close(): Promise<void> {
    const { frontend, active, checks } = this.parts;
    this.closing = true;
    for (const check of checks) check.stop();
    this.watcher.close();
    this.spare?.kill();
    this.starting?.program.kill();
    await frontend.close(this.settings.drainMs);
    await Promise.all([active.current?.stop(), this.spare?.ended, ...this.retiring]);
  }

  /** Starts the program again, because files have changed. */
  private reload(files: readonly string[]): void {
    if (this.closing) return;
    this.changed ??= new Set();
    for (const file of files) this.changed.add(file);
    const { starting } = this;
    if (!starting) return void this.work();
    // a program that never serves would keep its successor waiting
    const waited = performance.now() - starting.began;
    setTimeout(() => this.changed && starting.program.kill(), Math.max(0, PATIENCE_MS - waited)).unref();
  }

  private async work(): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    try {
      while (this.changed && !this.closing) {
        const files = [...this.changed];
        this.changed = undefined;
        await this.replace(files);
      }
    } finally {
      this.busy = false;
    }
  }

  /** Starts a program and, if it serves, moves all clients to it. */
  private async replace(files: readonly string[]): Promise<void> {
    const { active, frontend, report } = this.parts;
    const began = performance.now();
    const program = this.takeSpare(files);
    this.starting = { program, began };
    // the next program needs the debugger's port
    active.current?.tell({ type: 'inspect', address: undefined });
    try {
      await program.start(this.message());
    } catch (error) {
      program.kill();
      if (!(error instanceof StartFailure)) throw error;
      if (!this.closing) await this.failed(error.message);
      return;
    } finally {
      this.starting = undefined;
    }
    if (this.closing) return void program.stop();
    for (const name of program.packages) this.packages.add(name);
    await frontend.open(program).catch((error: unknown) => {
      program.kill();
      throw error;
    });
    const isFirst = !active.hasServed;
    const isRestart = !isFirst && files.length === 0;
    active.hasServed = true;
    active.problem = undefined;
    void program.ended.then((reason) => this.died(program, reason));
    this.restartedAt = isRestart ? performance.now() : Number.NEGATIVE_INFINITY;
    const migration = await this.migrate(program);
    if (program.hasEnded) void this.died(program, await program.ended);
    else if (isFirst) report.serving(await frontend.about(program), this.nameOf(this.settings.entry));
    else if (!isRestart) report.reloaded(files.map(this.nameOf), performance.now() - began, migration);
    this.check();
    this.prepare();
  }

  private async migrate(program: Program): Promise<Migration> {
    const { active, frontend } = this.parts;
    const before = active.current;
    const migration = await frontend.migrate(program, () => active.activate(program));
    if (before) this.retire(before);
    return migration;
  }

  /** Ends the active program, which has what the next one waits for. New requests wait for the next one, too. */
  private makeWay(next: Program): void {
    const { active } = this.parts;
    const { current } = active;
    if (current === undefined || next !== this.starting?.program) return;
    active.current = undefined;
    this.retire(current);
  }

  /** Lets a program finish its requests in flight, then ends it. */
  private retire(program: Program): void {
    const { frontend } = this.parts;
    const end = async () => {
      const isIdle = Promise.race([frontend.idle(program), program.ended]).then(() => true);
      const isInTime = await inTime(isIdle, this.settings.drainMs);
      if (!isInTime) frontend.fail(program, 'it was replaced, and the call took too long');
      await program.stop();
      frontend.fail(program, 'it was replaced');
    };
    const retired = end().finally(() => this.retiring.delete(retired));
    this.retiring.add(retired);
  }

  private async failed(problem: string): Promise<void> {
    const { active, frontend, report } = this.parts;
    const serves = active.current !== undefined && !active.current.isStandIn;
    report.problem(problem, serves ? 'still serving what ran before' : 'waiting for an edit');
    frontend.log(problem);
    this.check();
    if (serves) active.current?.tell({ type: 'inspect', address: this.settings.inspect });
    else {
      active.problem = problem;
      await this.substitute();
    }
    this.prepare();
  }

  private check(): void {
    for (const check of this.parts.checks) check.run();
  }

  /** Starts the warm process for the next edit. */
  private prepare(): void {
    if (this.closing || (this.spare && !this.spare.hasEnded)) return;
    this.spare = this.spawn();
  }

  /** Starts a stand-in, so that clients can connect while no program serves. */
  private async substitute(isLate = () => false): Promise<void> {
    if (this.closing || this.isServing()) return;
    await this.parts.frontend.open(undefined);
    const program = this.takeSpare([]);
    try {
      await program.start({ ...this.message(), inspect: undefined, standIn: this.settings.standIn });
    } catch {
      return program.kill();
    }
    // the program may have started in the meantime
    if (this.isServing() || this.closing || isLate()) return void program.stop();
    await this.migrate(program);
  }

  private isServing(): boolean {
    return this.parts.active.current?.hasEnded === false;
  }

  private async died(program: Program, reason: string): Promise<void> {
    const { active, frontend, report } = this.parts;
    const wasServing = program === active.current && !this.closing;
    // the client's next request must not go to it
    if (wasServing) active.current = undefined;
    frontend.fail(program, reason);
    if (!wasServing) return;
    const isLoop = performance.now() - this.restartedAt < LOOP_MS;
    active.problem = `${reason}.`;
    if (!isLoop) {
      report.problem(`The program has ended: ${reason}.`, 'starting it again');
      return this.restart();
    }
    report.problem(`The program has ended again: ${reason}.`, 'waiting for an edit');
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
    const publicPort = this.parts.frontend.port;
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

  private spawn(): Program {
    const { settings, packages, parts } = this;
    const { frontend, report } = parts;
    return new Program(
      { ...settings, packages: [...packages] },
      {
        printed: report.write,
        message: (program, written) => frontend.receive(program, written),
        loaded: (program) => this.watcher.add(program.files, program.startedAt),
        read: (file) => this.watcher.addRead(file),
        waiting: (problem) => report.note(`${this.nameOf(settings.entry)} ${problem}`),
        blocked: (program) => this.makeWay(program),
      },
    );
  }

  private readonly nameOf = (file: string): string => relative(this.settings.root, file);
}
