import { type OptionTypes, requireOptions, startupError } from '@decorum/core/plugin';

import { isMac, NO_MAC } from '../audit/chain.js';
import { keysOf, requireSecrets, secretsOfEnvironment } from '../audit/keys.js';
import { readPieces } from './read-lines.js';
import { type AuditReport, Verifier } from './verifier.js';

/** Options of `verifyAudit`. */
export interface VerifyAuditOptions {
  /** The secrets with which lines may be signed, the newest first. By default, those in `DECORUM_SECRET`. */
  readonly key?: string | readonly string[];
  /** The MAC of the line before the first one, if earlier files are not there. */
  readonly after?: string;
  /** A MAC from earlier, which the log must still have: the end of a log can be removed unseen. */
  readonly seen?: string;
}

const OPTIONS: OptionTypes<VerifyAuditOptions> = { key: true, after: 'string', seen: 'string' };

const CALLER = 'verifyAudit';

function requireVerifyOptions(files: readonly string[], options: VerifyAuditOptions): void {
  requireOptions(CALLER, options, OPTIONS);
  const wrong = (option: string, problem: string) => startupError('DECORUM_INVALID_OPTION', CALLER, option, problem);
  if (!Array.isArray(files) || files.length === 0)
    throw wrong('files', 'is empty. Pass paths, in the order of writing');
  for (const option of ['after', 'seen'] as const) {
    const mac = options[option];
    if (mac !== undefined && !isMac(mac)) throw wrong(option, 'must be the `mac` of a line, which has 43 characters');
  }
}

/**
 * Checks that an audit log is as it was written: no line was changed, removed, inserted or moved. Lines that were removed
 * from the end can't be noticed, unless `seen` is given.
 * @param files paths in the order in which they were written, as one chain goes through all
 * @param options the key, and what is known of the log
 * @returns what was found; `findings` is empty if all is well
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 * @throws {Error} if a file can't be read, or is no audit log
 * @example
 * ```ts
 * import { verifyAudit } from '@decorum/audit';
 *
 * const { findings, lines } = await verifyAudit(['audit.000001.log', 'audit.log']);
 * for (const { file, line, problem } of findings) process.stderr.write(`${file}:${line} ${problem}\n`);
 * process.stdout.write(`${lines} lines\n`);
 * ```
 */
export async function verifyAudit(files: readonly string[], options: VerifyAuditOptions = {}): Promise<AuditReport> {
  requireVerifyOptions(files, options);
  const keys = keysOf(requireSecrets(options.key, CALLER) ?? secretsOfEnvironment(CALLER));
  const verifier = new Verifier(keys, options.after ?? NO_MAC, options.seen);
  for await (const piece of readPieces(files)) verifier.take(piece);
  return verifier.end({ file: files.at(-1) as string, line: 1 });
}
