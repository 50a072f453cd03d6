import { type CallToolResult, InputSignal, type JsonObject, McpError, QuestionError } from '@decorum/core';
import type { Effect, EffectLog, Question, Run, RunHost } from '@decorum/core/plugin';

import { LostTask } from './lost-task.js';
import { Reports } from './reports.js';
import type { RunMeans } from './run-means.js';
import { isOutage } from './store/guarded-store.js';
import { isAnswered, openQuestions, type Task, type TaskOutcome, type TaskQuestion } from './task.js';
import { askedAs, knownOf, withQuestion } from './task-questions.js';
import { insist, sleepUntil } from './waits.js';

/** How often a question is asked while its answers are wrong. */
const MAX_ASKED = 5;

/** The code of JSON-RPC. */
const INTERNAL_ERROR = -32603;

interface Waiting {
  resolve(): void;
  reject(error: Error): void;
}

/** The handler of a task while it runs in this process. */
export class TaskRun implements RunHost {
  readonly log: EffectLog;
  readonly effects: readonly Effect[];
  /** Ends the handler when the task expires. */
  expiry: NodeJS.Timeout | undefined;
  /** The task as it was stored last; undefined before it is created. */
  private task: Task | undefined;
  private run: Run | undefined;
  /** Asks within the request, before the task is created. */
  private askFirst: ((question: Question) => Promise<JsonObject>) | undefined;
  /** What happened before the task was created. */
  private readonly first = { effects: new Map<string, Effect>(), questions: [] as readonly TaskQuestion[] };
  private readonly seen = new Set<string>();
  private readonly waiting = new Map<string, Waiting>();
  private sleepers = 0;
  private position = 0;
  private readonly reports = new Reports((progress) => this.tell(progress));
  /** Why it was stopped. */
  stopped: Error | undefined;
  private stopping: AbortController | undefined;
  private begin!: () => void;
  private abandon!: (error: Error) => void;
  private readonly created = new Promise<void>((resolve, reject) => {
    this.begin = resolve;
    this.abandon = reject;
  });

  /** @param stored the task, if it goes on after another process */
  constructor(
    readonly id: string,
    private readonly means: RunMeans,
    stored?: Task,
  ) {
    this.effects = stored?.effects ?? [];
    this.created.catch(() => {});
    this.log = {
      begin: async () => {
        if (this.task !== undefined) await insist(() => this.means.requireHeld(), this);
        if (this.stopped) throw this.stopped;
      },
      record: (effect) => this.record(effect),
    };
    if (stored !== undefined) this.create(stored);
  }

  /** Whether the handler repeats work: it has not reached everything yet that is known of it. */
  get replaying(): boolean {
    const answered = this.task?.questions.filter(isAnswered) ?? [];
    return answered.some(({ name }) => !this.seen.has(name));
  }

  /** The version of the task that it knows; 0 before the task is created. */
  get version(): number {
    return this.task?.version ?? 0;
  }

  /** Aborts when it is stopped. Created on first use: most runs never need it. */
  get signal(): AbortSignal {
    this.stopping ??= new AbortController();
    if (this.stopped) this.stopping.abort(this.stopped);
    return this.stopping.signal;
  }

  /** Whether the handler waits for the client. */
  get isWaiting(): boolean {
    return this.waiting.size > 0;
  }

  /** Whether the handler sleeps. */
  get isSleeping(): boolean {
    return this.sleepers > 0;
  }

  /** Resolves once the handler has ended; undefined if it has not begun. */
  get ended(): Promise<void> | undefined {
    return this.run?.ended;
  }

  /**
   * Begins to run the handler, unless it was stopped already.
   * @param askFirst answers questions until the task is created; undefined if it is created already
   */
  watch(start: (host: RunHost) => Run, askFirst?: (question: Question) => Promise<JsonObject>): void {
    if (this.stopped) return;
    this.askFirst = askFirst;
    try {
      this.run = start(this);
      void this.follow(this.run.result);
    } catch (error) {
      void this.follow(Promise.reject(error as Error));
    }
  }

  private async follow(result: Promise<CallToolResult>): Promise<void> {
    try {
      await this.end({ result: await result });
    } catch (error) {
      await this.fail(error).catch(async (failure: unknown) => await this.failMasked(failure));
    }
  }

  /** Ends the time in which the handler may ask within its request. Returns what happened in it. */
  settle(effects: readonly Effect[]): Pick<Task, 'effects' | 'questions'> {
    this.askFirst = undefined;
    const all = new Map([...effects.map((effect) => [effect[0], effect] as const), ...this.first.effects]);
    return { effects: [...all.values()], questions: this.first.questions };
  }

  /** The task is stored: from now on, its handler's questions are the task's. */
  create(task: Task): void {
    this.task = task;
    this.begin();
  }

  /** Takes over what another request, or another process, has changed. */
  refresh(task: Task): void {
    if (task.version < this.version) return;
    this.task = task;
    const open = new Set(openQuestions(task).map(({ key }) => key));
    for (const [key, { resolve }] of this.waiting) {
      if (open.has(key)) continue;
      resolve();
      this.waiting.delete(key);
    }
  }

  /** Aborts the handler. */
  stop(why: 'client' | 'closing', error: Error): void {
    this.reports.stop();
    clearTimeout(this.expiry);
    this.stopped ??= error;
    this.stopping?.abort(error);
    this.run?.cancel(why, error.message);
    this.abandon(error);
    for (const { reject } of this.waiting.values()) reject(error);
    this.waiting.clear();
  }

  async ask(question: Question): Promise<JsonObject> {
    const name = question.key ?? `#${++this.position}`;
    if (this.seen.has(name))
      throw new Error(`Two questions of one handler have the key "${name}". Give each a unique key.`);
    const asked = askedAs(name, question);
    if (this.askFirst !== undefined) {
      const answer = await this.askFirst(question);
      const answered = (each: TaskQuestion) => (each.name === name ? { answer, ...each } : each);
      this.first.questions = withQuestion(this.first.questions, asked).map(answered);
      this.seen.add(name);
      return answer;
    }
    await this.created;
    this.seen.add(name);
    for (;;) {
      const entries = knownOf(this.task?.questions ?? [], asked);
      const { key, answer, refusal } = entries.at(-1) ?? {};
      if (refusal !== undefined) throw new QuestionError(refusal.message, refusal);
      // the handler's call rejects for a wrong answer
      const isFinal = answer !== undefined && (entries.length >= MAX_ASKED || (question.fits?.(answer) ?? true));
      if (isFinal) return structuredClone(answer);
      if (key !== undefined && answer === undefined) await this.answerOf(key);
      else await this.update((task) => ({ ...task, questions: withQuestion(task.questions, asked, key) }));
    }
  }

  async sleep(end: number, signal: AbortSignal): Promise<void> {
    this.sleepers += 1;
    try {
      this.means.rests();
      await sleepUntil(end, signal);
    } finally {
      this.sleepers -= 1;
    }
  }

  progress(progress: number, total: number | undefined, message: string | undefined): void {
    const latest = { progress, ...(total !== undefined && { total }), ...(message !== undefined && { message }) };
    this.reports.say(message ?? (total === undefined ? `${progress}` : `${progress} of ${total}`), latest);
  }

  notify(method: string, { data }: JsonObject): void {
    if (method === 'notifications/message') this.reports.say(typeof data === 'string' ? data : JSON.stringify(data));
  }

  private async answerOf(key: string): Promise<void> {
    if (this.stopped) throw this.stopped;
    const answered = new Promise<void>((resolve, reject) => this.waiting.set(key, { resolve, reject }));
    this.means.rests();
    await answered;
  }

  private async record(effect: Effect): Promise<void> {
    // a round that ends may have effects that are still running
    if (this.task === undefined && this.askFirst !== undefined) {
      this.first.effects.set(effect[0], effect);
      return;
    }
    await this.update((task) => ({
      ...task,
      effects: [...task.effects.filter(([key]) => key !== effect[0]), effect],
    }));
  }

  private async update(apply: (task: Task) => Task): Promise<void> {
    await this.created;
    const said = this.said();
    this.refresh(await this.persist((task) => apply(said?.(task) ?? task)));
  }

  /** Adds what the handler has said. */
  private said(): ((task: Task) => Task) | undefined {
    const statusMessage = this.reports.take();
    return statusMessage === undefined ? undefined : (task) => ({ ...task, statusMessage });
  }

  /** Changes the stored task. While the store fails, the handler waits. */
  private async persist(apply: (task: Task) => Task): Promise<Task> {
    return await insist(() => this.means.change(apply), this);
  }

  /** Tells the client of progress. If the store fails, the next message will do. */
  private tell(progress: JsonObject | undefined): void {
    if (this.task === undefined || this.stopped) return;
    if (progress !== undefined) this.means.tell(this.task, progress);
    const said = this.said();
    if (said === undefined) return;
    this.means.change(said).catch((error: unknown) => {
      if (!(error instanceof LostTask) && !isOutage(error)) this.means.report(error);
    });
  }

  private async fail(error: unknown): Promise<void> {
    // the round has ended, so there is no task
    if (error instanceof InputSignal) return;
    await this.created;
    if (this.stopped) return;
    if (error instanceof McpError) {
      const { message, data } = error;
      return await this.end({
        error: { code: this.means.codeOf(error), message, ...(data !== undefined && { data }) },
      });
    }
    // `run.cancel` was called by the server, which is closing
    if (error instanceof DOMException) return await this.means.release();
    throw error;
  }

  /** Ends a task whose outcome can't be written as JSON. */
  private async failMasked(failure: unknown): Promise<void> {
    if (this.stopped) return;
    this.means.report(failure);
    await this.end({ error: { code: INTERNAL_ERROR, message: 'Internal error' } }).catch((error: unknown) => {
      if (!this.stopped) this.means.report(error);
    });
  }

  private async end(outcome: { readonly result: CallToolResult } | TaskOutcome): Promise<void> {
    await this.created;
    this.reports.stop();
    const message = 'error' in outcome ? outcome.error.message : undefined;
    await this.persist((task) => ({
      ...task,
      outcome,
      holder: undefined,
      ...(message !== undefined && { statusMessage: message }),
    }));
  }
}
