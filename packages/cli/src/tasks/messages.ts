import type { JsonObject } from '@decorum/core';

import type { ThrownError } from '../build/messages.js';

/** What a user wants to know of tasks, or to do with one. */
export type Request =
  | { readonly action: 'list' }
  | { readonly action: 'show' | 'retry' | 'cancel'; readonly id: string };

/** The message from the process that has the tasks. */
export type Reply =
  | { readonly type: 'tasks'; readonly tasks: readonly JsonObject[] }
  | { readonly type: 'task'; readonly task: JsonObject | undefined }
  | { readonly type: 'changed'; readonly problem: string | undefined }
  /** The program creates no server, or its server has no tasks. */
  | { readonly type: 'nothing' }
  | { readonly type: 'failed'; readonly error: ThrownError };

/** What `@decorum/tasks` passes to a program that looks at tasks. */
export interface Tasks {
  open(): Promise<void>;
  close(): Promise<void>;
  list(): Promise<readonly JsonObject[]>;
  show(id: string): Promise<JsonObject | undefined>;
  retry(id: string): Promise<string | undefined>;
  cancel(id: string): Promise<string | undefined>;
}
