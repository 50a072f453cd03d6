// Processes over one durable store: each is a server of its own, which can die, or stand still.
import { setTimeout as wait } from 'node:timers/promises';

import { type CallToolResult, type JsonObject, McpServer, type McpServerOptions } from '@decorum/core';
import { tasks, type StoredTask, type TasksOptions, type TaskStore } from '@decorum/tasks';
import { connect, type ConnectOptions, type TestClient } from '@decorum/testing';

import { MemoryTasks } from '../src/store/memory-tasks.js';

const EXTENSION = 'io.modelcontextprotocol/tasks';
export const SECRET = 'a secret that is long enough for everybody';

/** A client with tasks. */
export const CLIENT: ConnectOptions = {
  revision: '2026-07-28',
  capabilities: { elicitation: { form: {} }, extensions: { [EXTENSION]: {} } },
};

const never = () => new Promise<never>(() => {});

/** What a store does with a call: answers it, rejects it, or never settles. */
export type Condition = 'works' | 'rejects' | 'hangs';

/** What all processes share. */
export class Disk {
  readonly kept = new MemoryTasks();

  /** All that is kept, as text. */
  texts(): readonly string[] {
    return this.kept.openTasks().map(({ id }) => this.kept.get(id)?.text ?? '');
  }
}

/** The store of one process. */
class DiskTasks implements TaskStore {
  readonly isDurable = true;
  readonly processes = new Set<string>();
  condition: Condition = 'works';
  /** Called after each write. */
  onStored: (task: StoredTask) => void = () => {};
  /** Passes before each call. */
  delay: () => Promise<void> = async () => {};

  constructor(private readonly disk: MemoryTasks) {}

  get = (id: string) => this.call(() => structuredClone(this.disk.get(id)));
  set = (task: StoredTask) =>
    this.call(() => {
      const isStored = this.disk.set(structuredClone(task));
      this.onStored(task);
      return isStored;
    });
  delete = (id: string) => this.call(() => this.disk.delete(id));
  list: TaskStore['list'] = (owner, page) => this.call(() => this.disk.list(owner, page));
  openTasks = () => this.call(() => this.disk.openTasks());
  count = (owner: string) => this.call(() => this.disk.count(owner));
  lives = (process: string) => this.call(() => this.disk.lives(process));
  end = (process: string) => this.call(() => this.disk.end(process));
  beat = (process: string, ttlMs: number) =>
    this.call(() => {
      this.processes.add(process);
      this.disk.beat(process, ttlMs);
    });

  private async call<T>(work: () => T): Promise<T> {
    await this.delay();
    if (this.condition === 'hangs') return await never();
    if (this.condition === 'rejects') throw new Error('The disk is full.');
    return work();
  }
}

/** A task, as clients see it. */
export interface Seen {
  readonly taskId: string;
  readonly status: string;
  readonly statusMessage?: string;
  readonly lastUpdatedAt: string;
  readonly inputRequests?: Readonly<Record<string, { readonly params: JsonObject }>>;
  readonly result?: CallToolResult;
  readonly error?: { readonly code: number; readonly message: string };
}

const OPEN: Process[] = [];

/** Closes all processes of a test. Those that are dead leave their tasks as they are. */
export async function closeAll(): Promise<void> {
  await Promise.all(OPEN.splice(0).map(async ({ server }) => await server.close({ deadlineMs: 0 })));
}

/** A process: its server, and a client. */
export class Process {
  errors: readonly unknown[] = [];
  private constructor(
    readonly server: McpServer,
    readonly store: DiskTasks,
    readonly client: TestClient,
    private readonly disk: Disk,
  ) {}

  static async start(
    disk: Disk,
    build: (server: McpServer) => void,
    { tasks: own, ...options }: Partial<McpServerOptions> & { readonly tasks?: TasksOptions } = {},
  ): Promise<Process> {
    const store = new DiskTasks(disk.kept);
    const errors: unknown[] = [];
    const server = new McpServer({
      name: 'shop',
      version: '1',
      secret: SECRET,
      logger: { warn() {}, error() {} },
      onError: (error) => void errors.push(error),
      plugins: [tasks({ store, leaseMs: 150, ...own })],
      ...options,
    });
    build(server);
    const client = await connect(server, CLIENT);
    const process = new Process(server, store, client, disk);
    process.errors = errors;
    OPEN.push(process);
    return process;
  }

  /** Starts a task. */
  async begin(name: string, args: JsonObject = {}): Promise<string> {
    return (await this.client.request<Seen>('tools/call', { name, arguments: args })).taskId;
  }

  async get(taskId: string): Promise<Seen> {
    return await this.client.request<Seen>('tasks/get', { taskId });
  }

  async cancel(taskId: string): Promise<void> {
    await this.client.request('tasks/cancel', { taskId });
  }

  /** Answers all questions of a task with the same content. Returns their keys. */
  async answer(taskId: string, content: JsonObject): Promise<readonly string[]> {
    const keys = Object.keys((await this.get(taskId)).inputRequests ?? {});
    const inputResponses = Object.fromEntries(keys.map((key) => [key, { action: 'accept', content }]));
    await this.client.request('tasks/update', { taskId, inputResponses });
    return keys;
  }

  /** Resolves once a task has this status. */
  async reaches(taskId: string, status: string): Promise<Seen> {
    return await this.sees(taskId, (seen) => seen.status === status);
  }

  /** Resolves once a task looks like this. */
  async sees(taskId: string, isSo: (seen: Seen) => boolean): Promise<Seen> {
    for (;;) {
      const seen = await this.get(taskId);
      if (isSo(seen)) return seen;
      await wait(5);
    }
  }

  /** The process ends at once: nothing that it does reaches the store, and it gives no sign of life. */
  kill(): void {
    this.freeze();
    this.loseLease();
  }

  /** The store forgets that the process lives. */
  loseLease(): void {
    for (const process of this.store.processes) this.disk.kept.end(process);
  }

  /** The store doesn't answer the process any more. */
  freeze(): void {
    this.store.condition = 'hangs';
  }
}
