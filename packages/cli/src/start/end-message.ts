/** The signals that end a program. */
export const SIGNALS: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT'];

/** Tells a worker to end as on a signal. Windows can't send one that a process handles. */
export interface EndMessage {
  readonly decorum: 'end';
  readonly signal: NodeJS.Signals;
}
