// A process with tasks, and a client that goes on while it is killed and started again.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { type CallToolResult, type JsonObject, McpError } from '@decorum/core';

import type { TaskNodeSettings } from '../../bench/dist/tasks/node.js';
import { statelessHeaders } from '../support/http-transports.js';
import { asked, declares } from '../support/stateless-post.js';

const PROGRAM = fileURLToPath(new URL('../../bench/dist/tasks/node.js', import.meta.url));
const CLIENT = declares({ elicitation: { form: {} }, extensions: { 'io.modelcontextprotocol/tasks': {} } });

/** A task, as clients see it. */
export interface Seen {
  readonly taskId: string;
  readonly status: string;
  readonly inputRequests?: Readonly<Record<string, JsonObject>>;
  readonly result?: CallToolResult;
}

/** The place of a store in files, and of the notes of handlers. */
export class Desk {
  private readonly root = mkdtempSync(join(tmpdir(), 'tasks-'));
  readonly folder = join(this.root, 'tasks');
  readonly notes = join(this.root, 'notes');

  constructor() {
    writeFileSync(this.notes, '');
  }

  /** The words of the notes of a kind. */
  noted(kind: string): readonly (readonly string[])[] {
    const lines = readFileSync(this.notes, 'utf8').split('\n');
    return lines.map((line) => line.split(' ')).flatMap(([first, ...words]) => (first === kind ? [words] : []));
  }

  /** Resolves once there are so many notes of a kind. */
  async reaches(kind: string, count: number): Promise<void> {
    while (this.noted(kind).length < count) await wait(10);
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

export class TaskNode {
  private child: ChildProcess | undefined;
  private port = 0;

  private constructor(private readonly settings: Omit<TaskNodeSettings, 'port'>) {}

  static async start(settings: Omit<TaskNodeSettings, 'port'>): Promise<TaskNode> {
    const node = new TaskNode(settings);
    await node.restart();
    return node;
  }

  get pid(): string {
    return `${this.child?.pid}`;
  }

  /** Starts it again, on the same port. */
  async restart(): Promise<void> {
    const env = { ...process.env, TASK_NODE: JSON.stringify({ ...this.settings, port: this.port }) };
    const child = fork(PROGRAM, [], { env, execArgv: [], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    this.child = child;
    const failed = once(child, 'exit').then(([code]) => Promise.reject(new Error(`A process ended with ${code}.`)));
    failed.catch(() => {});
    const [{ url }] = (await Promise.race([once(child, 'message'), failed])) as [{ url: string }];
    this.port = Number(new URL(url).port);
  }

  signal(signal: NodeJS.Signals): void {
    this.child?.kill(signal);
  }

  /** Ends it with a signal. Returns the milliseconds that it took. */
  async end(signal: NodeJS.Signals = 'SIGKILL'): Promise<number> {
    const { child } = this;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return 0;
    const begun = performance.now();
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
    return performance.now() - begun;
  }

  /** Sends a request. Rejects if the process dies before it answers. */
  async request<T>(method: string, params: JsonObject): Promise<T> {
    const message = asked(1, method, params, CLIENT);
    const response = await fetch(`http://127.0.0.1:${this.port}/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...statelessHeaders(message),
      },
      body: JSON.stringify(message),
    });
    const { result, error } = (await response.json()) as { result?: T; error?: { code: number; message: string } };
    if (error !== undefined) throw new McpError(error.code, error.message);
    return result as T;
  }

  /** Starts a task. */
  async begin(tool: string, args: JsonObject): Promise<string> {
    return (await this.request<Seen>('tools/call', { name: tool, arguments: args })).taskId;
  }

  /** The task; undefined while the process is away. Rejects if there is no such task. */
  async look(taskId: string): Promise<Seen | undefined> {
    return await this.request<Seen>('tasks/get', { taskId }).catch(unlessAnswered);
  }

  /**
   * Follows a task to its end, and answers what it asks.
   * @returns the end, and the keys of the questions in the order of the answers
   * @throws {Error} if the task asks what it has got an answer to
   */
  async follow(taskId: string): Promise<{ readonly end: Seen; readonly answered: readonly string[] }> {
    const answered: string[] = [];
    for (;;) {
      const seen = await this.look(taskId);
      if (seen?.status !== 'working' && seen?.status !== 'input_required' && seen) return { end: seen, answered };
      for (const key of Object.keys(seen?.inputRequests ?? {})) {
        if (answered.includes(key)) throw new Error(`The task asks "${key}" again.`);
        const inputResponses = { [key]: { action: 'accept', content: { confirmed: true } } };
        const done = await this.request('tasks/update', { taskId, inputResponses }).catch(unlessAnswered);
        if (done !== undefined) answered.push(key);
      }
      await wait(10);
    }
  }
}

/** What a process answers that is about to leave, or has stood still and not heard of its store meanwhile. */
const AGAIN = new Set(['The server is closing.', 'Tasks are not available at the moment. Try again later.']);

/** A client tries again if a process is away, or asks for it. */
function unlessAnswered(error: unknown): undefined {
  if (error instanceof McpError && !AGAIN.has(error.message)) throw error;
}
