import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

import { CommandFailure, EXIT, plainText } from 'create-decorum';

import { isFile } from '../loader/resolve.js';
import { type AuditReport, failureOf, successOf } from './report.js';

/** What this command uses of the package. */
interface Package {
  verifyAudit(files: readonly string[], options: object): Promise<AuditReport>;
}

const PACKAGE = '@decorum/audit';

/** What `decorum audit verify` was called with, besides the files. */
export interface VerifyGiven {
  /** The variable with the secret. */
  readonly secret: string;
  readonly after?: string;
  readonly seen?: string;
  readonly json?: boolean;
}

/** The project's own copy: only projects with audit logs have the package, and a library that locks files. */
async function loadPackage(): Promise<Package> {
  try {
    const path = createRequire(join(process.cwd(), 'package.json')).resolve(PACKAGE);
    return (await import(pathToFileURL(path).href)) as Package;
  } catch (error) {
    const message = `${PACKAGE} is not installed here. Run \`npm install ${PACKAGE}\`.`;
    throw new CommandFailure(message, EXIT.environment, error);
  }
}

/** The secrets in a variable, which commas separate. */
function secretsIn(variable: string): readonly string[] {
  const text = process.env[variable];
  if (text !== undefined && text !== '') return text.split(',').map((secret) => secret.trim());
  const remedy =
    'Set it to the secret of the server, name another variable with --key-env, or a file of variables with --env-file';
  throw new CommandFailure(`${variable} is not set. ${remedy}.`, EXIT.environment);
}

/**
 * Verifies an audit log.
 * @returns text to print, if the log is as it was written
 * @throws {CommandFailure} if it is not
 */
export async function verified(files: readonly string[], given: VerifyGiven): Promise<string> {
  const { secret, json = false, ...macs } = given;
  const missing = files.find((file) => !isFile(resolve(file)));
  if (missing !== undefined) throw new CommandFailure(`There is no file ${missing}.`, EXIT.usage);
  const key = secretsIn(secret);
  const { verifyAudit } = await loadPackage();
  const report = await verifyAudit(files, { key, ...macs }).catch((error: Error & { code?: unknown }) => {
    const isUsage = error.code === 'DECORUM_INVALID_OPTION';
    throw new CommandFailure(error.message, isUsage ? EXIT.usage : EXIT.failed, error);
  });
  if (json) process.exitCode = report.findings.length === 0 ? EXIT.done : EXIT.failed;
  else if (report.findings.length > 0) throw new CommandFailure(failureOf(report, secret, macs.after !== undefined));
  return json ? JSON.stringify(report, null, 2) : plainText(successOf(report, files.length));
}
