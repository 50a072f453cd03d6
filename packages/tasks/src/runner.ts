import { createHash, randomUUID } from 'node:crypto';

import { type JsonObject, McpError } from '@decorum/core';
import { type ExtensionHost, ownerOf, type StartingCall, type ToolCall } from '@decorum/core/plugin';

import type { Ledger } from './ledger.js';
import { invalidTasksOption, type Settings } from './options.js';
import { RunningTasks } from './running-tasks.js';
import { Takeover } from './takeover.js';
import { isOver, type NewTask, openQuestions, type Refusal, type Task } from './task.js';
import { LostTask, type TaskRun } from './task-run.js';

/** Who may see a task. Empty for callers without a principal. */
export function ownerDigest(principal: ToolCall['principal']): string {
  const owner = ownerOf(principal);
  return owner === undefined ? '' : createHash('sha256').update(owner).digest('base64url');
}

/** Starts tasks, and does what clients ask of them. */
export class Runner {
  private readonly running: RunningTasks;
  private readonly takeover: Takeover;
  private readonly ends: (() => void)[] = [];
  /** Whether it takes no more tasks. */
  isStopping = false;

  /** @throws {DecorumError} `DECORUM_INVALID_OPTION` for a durable store without a secret */
  constructor(
    readonly settings: Settings,
    readonly host: ExtensionHost,
  ) {
    if (settings.store.isDurable && host.seal === undefined) {
      const remedy = 'Set `secret` or DECORUM_SECRET to at least 32 random characters';
      throw invalidTasksOption(
        'store',
        `keeps tasks beyond the end of the process, and seals them with the server's secret, which is missing. ${remedy}`,
      );
    }
    this.running = new RunningTasks(settings, host);
    this.takeover = new Takeover(settings, host, this.running);
  }

  get ledger(): Ledger {
    return this.running.ledger;
  }

  /** Resolves when a task may have changed, and in any case after a while. */
  async next(id: string, signal: AbortSignal): Promise<void> {
    await this.running.next(id, signal);
  }

  /** Opens the store, and takes over the tasks that nobody runs. */
  async open(): Promise<void> {
    const { store } = this.settings;
    await store.open?.({ name: this.host.server, report: this.host.report });
    this.ends.push(this.host.subscribe((published) => void this.running.heard(published)));
    if (store.isDurable) this.ends.push(await this.takeover.begin());
  }

  /** Begins to close: what waits for a client won't be answered in this process. */
  stop(): void {
    this.isStopping = true;
    this.takeover.stop();
    for (const run of this.running.runs.values()) {
      if (!run.isWaiting) continue;
      run.stop('closing', new LostTask(run.id));
      this.running.wake(run.id);
    }
  }

  /** Gives back what is left, and closes the store. */
  async close(): Promise<void> {
    const { store } = this.settings;
    for (const end of this.ends) end();
    for (const [id, run] of this.running.runs) {
      run.stop('closing', new LostTask(id));
      await this.running.release(id);
    }
    await store.end?.(this.running.process);
    await store.close?.();
  }

  /**
   * Starts a task whose handler may ask within the request first.
   * @returns the task, or the result that ends the round
   */
  async start(starting: StartingCall): Promise<{ readonly task: Task } | { readonly interim: JsonObject }> {
    await this.requireRoom(starting.call);
    const task = this.newTask(starting.call, undefined);
    const run = this.running.runOf(task.id, task.call.revision);
    run.watch(
      (host) => starting.detach(host),
      (question) => starting.ask(question),
    );
    // everything that needs no timer and no I/O happens before: the handler's first turn
    await new Promise<void>((resolve) => void setImmediate(resolve));
    const interim = starting.interim();
    if (interim !== undefined) {
      run.drop();
      this.running.forget(task.id);
      return { interim: await interim };
    }
    const effects = new Map(
      [...starting.effects(), ...run.first.effects.values()].map((effect) => [effect[0], effect]),
    );
    return {
      task: await this.create(run, { ...task, effects: [...effects.values()], questions: run.first.questions }),
    };
  }

  /** Starts a task at once. */
  async startNow(starting: StartingCall, ttlMs: number | undefined): Promise<Task> {
    await this.requireRoom(starting.call);
    const task = this.newTask(starting.call, ttlMs);
    const run = this.running.runOf(task.id, task.call.revision);
    const created = await this.create(run, task);
    run.watch((host) => starting.detach(host));
    return created;
  }

  /**
   * A task that the caller may see.
   * @throws {McpError} `invalid-params` for a task that doesn't exist, has expired, or belongs to somebody else
   */
  async find(taskId: unknown, principal: ToolCall['principal']): Promise<Task> {
    const task = typeof taskId === 'string' ? await this.ledger.get(taskId) : undefined;
    if (task !== undefined && task.owner === ownerDigest(principal)) return task;
    throw new McpError('invalid-params', 'There is no such task, or it has expired.');
  }

  /** Records answers of the client. Those for unknown or answered questions are ignored. */
  async answer(id: string, answers: Readonly<Record<string, unknown>>): Promise<void> {
    await this.running.change(id, (task) => {
      const given = openQuestions(task).filter(({ key }) => Object.hasOwn(answers, key) && isAnswer(answers[key]));
      if (isOver(task) || given.length === 0) return undefined;
      const keys = new Set(given.map(({ key }) => key));
      const questions = task.questions.map((each) =>
        keys.has(each.key) ? { ...each, answer: answers[each.key] as NonNullable<typeof each.answer> } : each,
      );
      return { ...task, questions };
    });
  }

  /** Records the error that the client answered a question with. */
  async refuse(id: string, key: string, refusal: Refusal): Promise<void> {
    await this.running.change(id, (task) => {
      if (isOver(task) || !openQuestions(task).some((each) => each.key === key)) return undefined;
      return { ...task, questions: task.questions.map((each) => (each.key === key ? { ...each, refusal } : each)) };
    });
  }

  /** Cancels a task, unless it has ended. */
  async cancel(id: string): Promise<Task | undefined> {
    return await this.running.change(id, (task) =>
      isOver(task)
        ? undefined
        : { ...task, isCancelled: true, holder: undefined, statusMessage: 'The client cancelled the task.' },
    );
  }

  private newTask(call: ToolCall, ttlMs: number | undefined): NewTask {
    const { settings } = this;
    return {
      id: randomUUID(),
      owner: ownerDigest(call.principal),
      call,
      createdAt: Date.now(),
      ttlMs: Math.min(ttlMs ?? settings.ttlMs, settings.maxTtlMs),
      questions: [],
      effects: [],
      holder: this.running.process,
      crashes: 0,
    };
  }

  private async create(run: TaskRun, task: NewTask): Promise<Task> {
    try {
      const created = await this.ledger.create(task);
      run.create(created);
      this.running.expire(run, created);
      this.running.tell(created);
      return created;
    } catch (error) {
      this.running.lose(task.id, error as Error);
      throw error;
    }
  }

  /** @throws {McpError} `too-many-requests` or `closing` */
  private async requireRoom({ principal }: ToolCall): Promise<void> {
    if (this.isStopping) throw new McpError('closing', 'The server is closing.');
    const { store, maxTasks, maxTasksPerPrincipal, maxRunning } = this.settings;
    const owner = ownerDigest(principal);
    const { all, own } = await store.count(owner);
    const isFull =
      all >= maxTasks || this.running.runs.size >= maxRunning || (owner !== '' && own >= maxTasksPerPrincipal);
    if (isFull) throw new McpError('too-many-requests', 'There are too many tasks. Try again later.');
  }
}

const isAnswer = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);
