import type { JsonObject } from '@decorum/core';

import type { Task } from './task.js';

/** What a run needs of the runner. */
export interface RunMeans {
  /** Changes the stored task. Rejects with `LostTask` if this process may not. */
  change(apply: (task: Task) => Task): Promise<Task>;
  /** Tells the client of progress. */
  tell(task: Task, progress: JsonObject): void;
  /** Stops the run if another process has taken the task over. */
  requireHeld(): Promise<void>;
  /** The code of an error. */
  codeOf(error: Error): number;
  /** Called when the handler begins to wait for the client, or to sleep. */
  rests(): void;
  /** Called when the handler was stopped because the process is closing. */
  release(): Promise<void>;
  /** Reports an error, which no client sees. */
  report(error: unknown): void;
}
