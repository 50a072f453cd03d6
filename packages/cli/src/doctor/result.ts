/** What one look at the project has found. */
export interface Result {
  /** What was looked at: `tsconfig`. */
  readonly check: string;
  readonly status: 'ok' | 'warning' | 'problem';
  readonly text: string;
  /** What to do. */
  readonly fix?: string;
}

/** The results of one kind of check. */
export interface Results {
  ok(text: string): Result;
  warning(text: string, fix: string): Result;
  problem(text: string, fix: string): Result;
}

/** Makes the results of a check. */
export const resultsOf = (check: string): Results => ({
  ok: (text) => ({ check, status: 'ok', text }),
  warning: (text, fix) => ({ check, status: 'warning', text, fix }),
  problem: (text, fix) => ({ check, status: 'problem', text, fix }),
});
