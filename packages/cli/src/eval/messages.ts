import type { ThrownError } from '../build/messages.js';

/** What a program asks of its test kit. */
export interface Settings {
  readonly repeat: number;
  readonly concurrency: number;
  readonly timeoutMs: number;
}

/** How a question went, as `evaluate` of the project's test kit reports it. */
export interface QuestionReport {
  readonly question: string;
  readonly expected: string;
  readonly right: number;
  readonly chosen: number;
  readonly wrong: readonly {
    readonly chosen: string;
    readonly forbidden: boolean;
    readonly problems: readonly string[];
    readonly count: number;
  }[];
  readonly failures: readonly { readonly message: string; readonly count: number }[];
}

/** What `evaluate` reports. */
export interface Report {
  readonly right: number;
  readonly chosen: number;
  /** Null if the model has always failed. */
  readonly share: number | null;
  readonly interval: { readonly low: number; readonly high: number };
  readonly forbidden: number;
  readonly failures: number;
  readonly questions: readonly QuestionReport[];
}

/** What a file of questions has to export. */
export type Export = 'server' | 'model' | 'questions';

/** The message from the process that asks the model. */
export type Reply =
  | { readonly type: 'report'; readonly report: Report }
  | { readonly type: 'lacks'; readonly name: Export }
  /** The project doesn't have the test kit. */
  | { readonly type: 'uninstalled' }
  | { readonly type: 'failed'; readonly error: ThrownError; readonly sources: readonly string[] };
