import { createHash, randomUUID } from 'node:crypto';

import { type Context, type JsonObject, McpError } from '@decorum/core';
import { type ExtensionHost, ownerOf, type StartingCall, type ToolCall } from '@decorum/core/plugin';

import type { Ledger } from './ledger.js';
import { MAX_RUNNING_CHARS, requireShortAnswers, requireShortMeta, shortRefusal, sizeOf } from './limits.js';
import { invalidTasksOption, type Settings } from './options.js';
import { RunningTasks } from './running-tasks.js';
import { FileTasks } from './store/file-tasks.js';
import { GuardedStore } from './store/guarded-store.js';
import { Takeover } from './takeover.js';
import { isOver, type NewTask, openQuestions, type Refusal, type Task } from './task.js';
import type { TaskRun } from './task-run.js';

/** Of principals that were asked about before: each session is compared with each change. */
const digests = new WeakMap<NonNullable<ToolCall['principal']>, string>();

/** Who asks for a task. */

/** Who may see a task. Empty for callers without a principal. */
export function ownerDigest(principal: ToolCall['principal']): string {
  if (principal === undefined) return '';
  const known = digests.get(principal);
  if (known !== undefined) return known;
  const digest = createHash('sha256')
    .update(ownerOf(principal) as string)
    .digest('base64url');
  digests.set(principal, digest);
  return digest;
}

const ONLY_HERE =
  'keeps tasks for this process only: the other processes of the `cluster` can not find them. ' +
  'Pass the `tasks` of redis(), or run one process without `cluster` and `--workers`';

/** Starts tasks, and does what clients ask of them. */
export class Runner {
  readonly settings: Settings;
  private readonly running: RunningTasks;
  private readonly takeover: Takeover;
  private readonly ends: (() => void)[] = [];
  /** Owners of the tasks that are being created, which the store does not count yet. */
  private readonly creating: string[] = [];
  /** Whether it takes no more tasks. */
  isStopping = false;
  /** Whether other processes, which serve the same clients, can't find its tasks. */
  private readonly isOnlyHere: boolean;

  /**
   * @throws {DecorumError} `DECORUM_INVALID_OPTION` for a durable store without a secret, and for one in memory or files if
   *   other processes serve the same clients
   */
  constructor(
    private readonly given: Settings,
    readonly host: ExtensionHost,
  ) {
    const { store, leaseMs } = given;
    if (store.isDurable && host.seal === undefined) {
      const remedy = 'Set `secret` or DECORUM_SECRET to at least 32 random characters';
      throw invalidTasksOption(
        'store',
        `keeps tasks beyond the end of the process, and seals them with the server's secret, which is missing. ${remedy}`,
      );
    }
    this.isOnlyHere = host.isClustered && (!store.isDurable || store instanceof FileTasks);
    // tasks of the clients of a server that mounts this one are kept there
    if (this.isOnlyHere && !host.isMounted) throw invalidTasksOption('store', ONLY_HERE);
    const report = (error: unknown, message: string) => host.report(error, message);
    this.settings = { ...given, store: new GuardedStore(store, report, leaseMs) };
    this.running = new RunningTasks(this.settings, host);
    this.takeover = new Takeover(this.settings, host, this.running);
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
    const { store } = this.given;
    await store.open?.({ name: this.host.server, report: this.host.report });
    this.ends.push(this.host.subscribe((published) => void this.running.heard(published)));
    if (store.isDurable) this.ends.push(await this.takeover.begin());
  }

  /** Begins to close: what waits for a client won't be answered in this process. */
  stop(): void {
    this.isStopping = true;
    this.takeover.stop();
    this.running.close();
  }

  /** Gives back what is left, and closes the store. */
  async close(): Promise<void> {
    await this.running.end();
    for (const end of this.ends) end();
    await Promise.resolve(this.settings.store.end?.(this.running.process)).catch(() => {});
    await this.given.store.close?.();
  }

  /**
   * Starts a task whose handler may ask within the request first.
   * @returns the task, or the result that ends the round
   */
  async start(starting: StartingCall): Promise<{ readonly task: Task } | { readonly interim: JsonObject }> {
    return await this.admit(starting.call, async () => {
      const task = this.newTask(starting.call, undefined);
      const run = this.running.runOf(task.id, task.call);
      this.running.watch(
        run,
        (host) => starting.detach(host),
        (question) => starting.ask(question),
      );
      // everything that needs no timer and no I/O happens before: the handler's first turn
      await new Promise<void>((resolve) => void setImmediate(resolve));
      const interim = starting.interim();
      if (interim !== undefined) {
        this.running.runs.delete(task.id);
        return { interim: await interim };
      }
      return { task: await this.create(run, { ...task, ...run.settle(starting.effects()) }) };
    });
  }

  /** Starts a task at once. */
  async startNow(starting: StartingCall, ttlMs: number | undefined): Promise<Task> {
    return await this.admit(starting.call, async () => {
      const task = this.newTask(starting.call, ttlMs);
      const run = this.running.runOf(task.id, task.call);
      const created = await this.create(run, task);
      this.running.watch(run, (host) => starting.detach(host));
      return created;
    });
  }

  /**
   * A task that the caller may see.
   * @throws {McpError} `invalid-params` for a task that doesn't exist, has expired, or belongs to somebody else, and for one
   *   whose tool the caller may not call: a token may have fewer scopes than the one that started the task
   */
  async find(taskId: unknown, ctx: Context): Promise<Task> {
    const found = typeof taskId === 'string' ? this.ledger.get(taskId) : undefined;
    const task = found instanceof Promise ? await found : found;
    if (task !== undefined && task.owner === ownerDigest(ctx.principal)) {
      const admitted = this.host.admits(task.call.tool, ctx);
      if (admitted instanceof Promise ? await admitted : admitted) return task;
    }
    throw new McpError('invalid-params', 'There is no such task, or it has expired.');
  }

  /**
   * Records answers of the client. Those for unknown or answered questions are ignored.
   * @throws {McpError} `invalid-params` for answers that are too long
   */
  async answer(id: string, answers: Readonly<Record<string, unknown>>): Promise<void> {
    await this.running.change(id, (task) => {
      const given = openQuestions(task).filter(({ key }) => isAnswer(answers[key]));
      if (isOver(task) || given.length === 0) return undefined;
      const keys = new Set(given.map(({ key }) => key));
      const questions = task.questions.map((each) =>
        keys.has(each.key) ? { ...each, answer: answers[each.key] as NonNullable<typeof each.answer> } : each,
      );
      requireShortAnswers(questions);
      return { ...task, questions };
    });
  }

  /** Records the error that the client answered a question with. */
  async refuse(id: string, key: string, given: Refusal): Promise<void> {
    const refusal = shortRefusal(given);
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
    requireShortMeta(call.meta);
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
      void this.takeover.discard(task.id);
      throw error;
    }
  }

  /**
   * Begins a task if there is room for it.
   * @param begin adds the run of the task before it first waits
   * @throws {McpError} `too-many-requests` or `closing`
   * @throws {DecorumError} `DECORUM_INVALID_OPTION` if other processes couldn't find it
   */
  private async admit<T>({ principal, args }: ToolCall, begin: () => Promise<T>): Promise<T> {
    const { store, maxTasks, maxTasksPerPrincipal, maxRunning } = this.settings;
    if (this.isOnlyHere) throw invalidTasksOption('store', ONLY_HERE);
    const owner = ownerDigest(principal);
    const { all, own } = await store.count(owner);
    if (this.isStopping) throw new McpError('closing', 'The server is closing.');
    const { creating } = this;
    const owns = own + creating.filter((each) => each === owner).length;
    const isFull =
      all + creating.length >= maxTasks ||
      this.running.count >= maxRunning ||
      this.running.chars + sizeOf(args) > MAX_RUNNING_CHARS ||
      (owner !== '' && owns >= maxTasksPerPrincipal);
    if (isFull) throw new McpError('too-many-requests', 'There are too many tasks. Try again later.');
    creating.push(owner);
    try {
      return await begin();
    } finally {
      creating.splice(creating.indexOf(owner), 1);
    }
  }
}

const isAnswer = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);
