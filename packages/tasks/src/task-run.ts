import { createHash } from 'node:crypto';

import { type CallToolResult, InputSignal, type JsonObject, McpError, QuestionError } from '@decorum/core';
import type { Effect, EffectLog, Question, Run, RunHost } from '@decorum/core/plugin';

import { isAnswered, openQuestions, type Task, type TaskOutcome, type TaskQuestion } from './task.js';

/** What a run needs of the runner. */
export interface RunMeans {
  /** Changes the stored task. Rejects with `LostTask` if this process may not. */
  change(apply: (task: Task) => Task): Promise<Task>;
  /** Tells the client of progress. */
  tell(task: Task, progress: JsonObject): void;
  /** Rejects with `LostTask` if another process has taken the task over. */
  requireHeld(): Promise<void>;
  /** The code of an error. */
  codeOf(error: Error): number;
  /** Called when the run is over: with its outcome, or without one if its process is closing. */
  ended(outcome: TaskOutcome | undefined): Promise<void>;
  /** Reports an error, which no client sees. */
  report(error: unknown): void;
}

/** Another process runs the task, or it has ended. */
export class LostTask extends Error {
  override readonly name = 'LostTask';

  constructor(id: string) {
    super(`The task ${id} was taken over by another process, or has ended.`);
  }
}

/** How often a question is asked while its answers are wrong. */
const MAX_ASKED = 5;

/** Milliseconds between two status messages: each is stored and announced. */
const MESSAGE_MS = 200;

const digestOf = ({ method, identity, params }: Question): string =>
  createHash('sha256')
    .update(JSON.stringify([method, identity ?? params]))
    .digest('base64url');

/** A question that the handler asks. */
interface Asked {
  readonly name: string;
  readonly digest: string;
  readonly question: Question;
}

/** A new question, with a key that no other question of the task has. */
function entryOf(others: readonly TaskQuestion[], { name, digest, question }: Asked): TaskQuestion {
  const taken = new Set(others.map(({ key }) => key));
  const plain = name.startsWith('#') ? `question-${name.slice(1)}` : name;
  let key = plain;
  for (let count = 2; taken.has(key); count += 1) key = `${plain}~${count}`;
  const { method, params } = question;
  return { name, key, digest, question: { method, params } };
}

interface Waiting {
  resolve(): void;
  reject(error: Error): void;
}

/** The handler of a task while it runs in this process. */
export class TaskRun implements RunHost {
  readonly log: EffectLog;
  readonly effects: readonly Effect[];
  /** The task as it was stored last; undefined before it is created. */
  private task: Task | undefined;
  private run: Run | undefined;
  /** Asks within the request, before the task is created. */
  private askFirst: ((question: Question) => Promise<JsonObject>) | undefined;
  /** What happened before the task was created. */
  readonly first: { readonly effects: Map<string, Effect>; readonly questions: TaskQuestion[] } = {
    effects: new Map(),
    questions: [],
  };
  private readonly seen = new Set<string>();
  private readonly waiting = new Map<string, Waiting>();
  private position = 0;
  private message: string | undefined;
  /** Progress that the client has not been told of. */
  private latest: JsonObject | undefined;
  private timer: NodeJS.Timeout | undefined;
  /** Why it was stopped. */
  private stopped: Error | undefined;
  private begin!: (task: Task) => void;
  private readonly created = new Promise<Task>((resolve) => {
    this.begin = resolve;
  });

  /** @param stored the task, if it goes on after another process */
  constructor(
    readonly id: string,
    private readonly means: RunMeans,
    stored?: Task,
  ) {
    this.effects = stored?.effects ?? [];
    this.log = {
      begin: async () => {
        if (this.stopped) throw this.stopped;
        await this.means.requireHeld();
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

  /** Whether the handler waits for the client. */
  get isWaiting(): boolean {
    return this.waiting.size > 0;
  }

  /**
   * Begins to watch the handler.
   * @param askFirst answers questions until the task is created; undefined if it is created already
   */
  watch(start: (host: RunHost) => Run, askFirst?: (question: Question) => Promise<JsonObject>): void {
    this.askFirst = askFirst;
    this.run = start(this);
    const ended = this.run.result.then(
      (result) => this.end({ result }),
      (error: unknown) => this.fail(error),
    );
    ended.catch((error: unknown) => {
      if (!(error instanceof LostTask)) this.means.report(error);
    });
  }

  /** The task is stored: from now on, its handler's questions are the task's. */
  create(task: Task): void {
    this.askFirst = undefined;
    this.task = task;
    this.begin(task);
  }

  /** The request ended its round, so there is no task. */
  drop(): void {
    this.stopped = new LostTask(this.id);
  }

  /** Takes over what another request, or another process, has changed. */
  refresh(task: Task): void {
    this.task = task;
    for (const question of task.questions) {
      if (!isAnswered(question)) continue;
      this.waiting.get(question.key)?.resolve();
      this.waiting.delete(question.key);
    }
  }

  /** Aborts the handler. */
  stop(why: 'client' | 'closing', error: Error): void {
    this.stopped ??= error;
    clearTimeout(this.timer);
    this.run?.cancel(why, error.message);
    for (const { reject } of this.waiting.values()) reject(error);
    this.waiting.clear();
  }

  async ask(question: Question): Promise<JsonObject> {
    const name = question.key ?? `#${++this.position}`;
    if (this.seen.has(name))
      throw new Error(`Two questions of one handler have the key "${name}". Give each a unique key.`);
    const digest = digestOf(question);
    const known = () => this.task?.questions.filter((each) => each.name === name && each.digest === digest) ?? [];
    if (this.askFirst !== undefined) {
      const answer = await this.askFirst(question);
      this.first.questions.push({ ...entryOf(this.first.questions, { name, digest, question }), answer });
      this.seen.add(name);
      return answer;
    }
    await this.created;
    this.seen.add(name);
    for (;;) {
      const entries = known();
      const { key, answer, refusal } = entries.at(-1) ?? {};
      if (refusal !== undefined) throw new QuestionError(refusal.message, refusal);
      // the handler's call rejects for a wrong answer
      if (answer !== undefined && (entries.length >= MAX_ASKED || (question.fits?.(answer) ?? true))) return answer;
      if (key === undefined || answer !== undefined) await this.put({ name, digest, question });
      else await this.answerOf(key);
    }
  }

  progress(progress: number, total: number | undefined, message: string | undefined): void {
    this.latest = { progress, ...(total !== undefined && { total }), ...(message !== undefined && { message }) };
    this.say(message ?? (total === undefined ? `${progress}` : `${progress} of ${total}`));
  }

  notify(method: string, { data }: JsonObject): void {
    if (method === 'notifications/message') this.say(typeof data === 'string' ? data : JSON.stringify(data));
  }

  /** Stores a question. */
  private async put(asked: Asked): Promise<void> {
    await this.update((task) => ({ ...task, questions: [...task.questions, entryOf(task.questions, asked)] }));
  }

  private async answerOf(key: string): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      if (this.stopped) reject(this.stopped);
      else if (this.task && openQuestions(this.task).some((each) => each.key === key))
        this.waiting.set(key, { resolve, reject });
      else resolve();
    });
  }

  private async record(effect: Effect): Promise<void> {
    this.first.effects.set(effect[0], effect);
    if (this.stopped) throw this.stopped;
    if (this.task === undefined && this.askFirst !== undefined) return;
    await this.update((task) => ({
      ...task,
      effects: [...task.effects.filter(([key]) => key !== effect[0]), effect],
    }));
  }

  private async update(apply: (task: Task) => Task): Promise<void> {
    await this.created;
    if (this.stopped) throw this.stopped;
    const { message } = this;
    this.message = undefined;
    const said = (task: Task) => (message === undefined ? task : { ...task, statusMessage: message });
    this.refresh(await this.means.change((task) => apply(said(task))));
  }

  /** Sets the status message soon. */
  private say(message: string): void {
    this.message = message;
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      if (this.stopped) return;
      if (this.latest !== undefined && this.task !== undefined) this.means.tell(this.task, this.latest);
      this.latest = undefined;
      if (this.message === undefined) return;
      this.update((task) => task).catch((error: unknown) => {
        if (!(error instanceof LostTask)) this.means.report(error);
      });
    }, MESSAGE_MS).unref();
  }

  private async fail(error: unknown): Promise<void> {
    if (error instanceof InputSignal || this.stopped) return;
    // only `cancel` rejects with anything else: the server is closing
    if (!(error instanceof McpError)) return await this.means.ended(undefined);
    const { message, data } = error;
    await this.end({ error: { code: this.means.codeOf(error), message, ...(data !== undefined && { data }) } });
  }

  private async end(outcome: { readonly result: CallToolResult } | TaskOutcome): Promise<void> {
    await this.created;
    clearTimeout(this.timer);
    if (!this.stopped) await this.means.ended(outcome);
  }
}
