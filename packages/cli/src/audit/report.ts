import { shown } from '../entry.js';

/** What is wrong with a line. */
type AuditProblem = 'changed' | 'inserted' | 'restarted' | 'older-key' | 'missing';

/** A line of a file. */
interface AuditPlace {
  readonly file: string;
  readonly line: number;
}

interface AuditFinding extends AuditPlace {
  readonly problem: AuditProblem;
}

/** The report of `@decorum/audit`, on which this package doesn't depend. */
export interface AuditReport {
  readonly lines: number;
  /** Lines that fit none of the keys. */
  readonly foreign: number;
  readonly findings: readonly AuditFinding[];
  readonly torn: readonly AuditPlace[];
  readonly last: string | undefined;
}

/** Problems that are printed one by one. */
const MAX_SHOWN = 20;

const SAYS: Readonly<Record<AuditProblem, string>> = {
  changed: 'was changed, or lines before it were removed',
  inserted: 'was inserted or moved here',
  restarted: 'begins a new chain: lines before it may have been removed',
  'older-key': 'was signed with an older secret than lines before it',
  missing: 'is the last line, and none has the mac of --seen: lines after it were removed',
};

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

/** Says that a log is as it was written. */
export function successOf({ lines, torn, last }: AuditReport, files: number): string {
  const all = `${counted(lines, 'line')} in ${counted(files, 'file')}: as they were written`;
  const broken = torn.map(({ file, line }) => `${shown(file)}:${line}  was never finished: the process died`);
  return [all, ...broken, ...(last === undefined ? [] : [`last mac: ${last}`])].join('\n');
}

/**
 * Says what is wrong with a log.
 * @param secret the variable with the secret
 * @param isContinued whether the MAC before the first line is known
 */
export function failureOf(report: AuditReport, secret: string, isContinued: boolean): string {
  const { findings, lines, foreign } = report;
  if (lines > 1 && foreign === lines) {
    return `No line was signed with the secret in ${secret}. Set it to the secret of the server that wrote the log.`;
  }
  const all = findings.slice(0, MAX_SHOWN).map(({ file, line, problem }) => `${shown(file)}:${line}  ${SAYS[problem]}`);
  const more = findings.length > MAX_SHOWN ? [`and ${findings.length - MAX_SHOWN} more`] : [];
  return [...all, ...more, ...(isContinued ? [] : hintsOf(findings))].join('\n');
}

/** What to do if only the beginning of the log is elsewhere. */
function hintsOf([first]: readonly AuditFinding[]): string[] {
  if (first?.line !== 1 || first.problem !== 'changed') return [];
  return ['If the log begins in other files, name them first, or pass the mac of their last line with --after.'];
}
