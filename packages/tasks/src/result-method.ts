import { type Context, type JsonObject, McpError, QuestionError } from '@decorum/core';
import { askClient, type Question } from '@decorum/core/plugin';

import { SESSIONS } from './revisions.js';
import type { Runner } from './runner.js';
import { relatedTo, resultOf } from './status.js';
import { isOver, openQuestions, type Task, type TaskQuestion } from './task.js';

/** The longest delay of a timer, in milliseconds: users may need days. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

/** A `tasks/result` request that asks a question. */
interface Asker {
  readonly by: ResultRequest;
  readonly withdraw: () => void;
  /** Never rejects. */
  readonly over: Promise<void>;
}

/** The questions that clients are being asked, by task and key. */
export type Asking = Map<string, Asker>;

/** What `tasks/result` needs of its server. */
interface ResultMeans {
  readonly runner: Runner;
  readonly asking: Asking;
}

let requests = 0;

/** `tasks/result`: waits for the end of the task, and asks the client what the task asks meanwhile. */
export async function resultInSession({ taskId }: JsonObject, ctx: Context, means: ResultMeans): Promise<JsonObject> {
  return await new ResultRequest(taskId, ctx, means).result();
}

/**
 * One `tasks/result` request. If there are several for one task, the latest asks: clients may drop the stream of an
 * earlier one without telling.
 */
class ResultRequest {
  private readonly order = (requests += 1);
  /** Keys of the questions that this client can't answer. */
  private readonly unanswerable = new Set<string>();
  private readonly own = new Map<string, Asker>();

  constructor(
    private readonly taskId: unknown,
    private readonly ctx: Context,
    private readonly means: ResultMeans,
  ) {}

  async result(): Promise<JsonObject> {
    const { runner } = this.means;
    try {
      for (;;) {
        const task = await this.find();
        if (isOver(task)) return resultOrThrow(task, runner);
        if (runner.isStopping && openQuestions(task).length > 0) throw closing();
        await this.changeOf(task);
        this.ctx.signal.throwIfAborted();
      }
    } finally {
      // before the response, after which the stream is closed
      for (const { withdraw } of this.own.values()) withdraw();
    }
  }

  private find(): Promise<Task> {
    return this.means.runner.find(this.taskId, this.ctx);
  }

  /** Asks what is open, and resolves when the task may have changed. */
  private async changeOf(task: Task): Promise<void> {
    const waits = new AbortController();
    try {
      const next = this.means.runner.next(task.id, AbortSignal.any([this.ctx.signal, waits.signal]));
      // it may have changed before `next` was called
      const now = await this.find();
      if (now.version !== task.version) return;
      const open = openQuestions(now);
      const keys = new Set(open.map(({ key }) => key));
      // answered elsewhere
      for (const [key, { withdraw }] of this.own) if (!keys.has(key)) withdraw();
      const asked = open.filter(({ key }) => !this.unanswerable.has(key)).map((each) => this.ask(each, now));
      await Promise.race([next, ...asked]);
    } finally {
      waits.abort();
    }
  }

  /** Asks a question, unless a later request does. Resolves when the question is no longer being asked. */
  private ask(question: TaskQuestion, task: Task): Promise<void> {
    const { asking } = this.means;
    const id = `${task.id} ${question.key}`;
    const known = asking.get(id);
    if (known !== undefined && known.by.order >= this.order) return known.over;
    known?.withdraw();
    const until = new AbortController();
    const over = this.put(question, task, until.signal).finally(() => {
      if (asking.get(id) === asker) asking.delete(id);
      if (this.own.get(question.key) === asker) this.own.delete(question.key);
    });
    const asker: Asker = { by: this, withdraw: () => until.abort(), over };
    asking.set(id, asker);
    this.own.set(question.key, asker);
    return over;
  }

  private async put({ key, question }: TaskQuestion, task: Task, until: AbortSignal): Promise<void> {
    const { ctx, means } = this;
    const meta = { ...(question.params['_meta'] as JsonObject | undefined), ...relatedTo(task) };
    const sent: Question = {
      ...question,
      params: { ...question.params, _meta: meta },
      timeoutMs: NO_TIMEOUT_MS,
      until,
    };
    try {
      const answer = await askClient(ctx, sent);
      await means.runner.answer(task.id, { [key]: answer });
    } catch (error) {
      if (until.aborted || ctx.signal.aborted) return;
      if (error instanceof QuestionError && error.code !== undefined) {
        const { message, code, data } = error;
        await means.runner.refuse(task.id, key, { message, code, data });
      } else {
        // another client may be able to answer
        this.unanswerable.add(key);
      }
    }
  }
}

/** The error while the server closes. */
const closing = () => new McpError('closing', 'The server is closing.');

function resultOrThrow(task: Task, { host }: Runner): JsonObject {
  const { outcome } = task;
  if (outcome === undefined) throw new McpError('invalid-request', 'The task was cancelled.');
  if ('error' in outcome) throw new McpError(outcome.error.code, outcome.error.message, outcome.error.data);
  const result = resultOf(task, SESSIONS, host);
  return { ...result, _meta: { ...(result?.['_meta'] as JsonObject | undefined), ...relatedTo(task) } };
}
