import { EXIT, plainLine } from 'create-decorum';

import { checkEmission } from './checks/emission.js';
import { checkPort, checkSecret } from './checks/environment.js';
import { checkNode } from './checks/node.js';
import { checkCopies, checkPackages } from './checks/packages.js';
import { checkProgram } from './checks/program.js';
import { checkProject } from './checks/project.js';
import { checkTsconfig } from './checks/tsconfig.js';
import { type Place, placeOf } from './place.js';
import { type Result, resultsOf } from './result.js';

type Check = (place: Place) => Result[] | Promise<Result[]>;

/** In the order in which they are printed. */
const CHECKS: Readonly<Record<string, Check>> = {
  'Node.js': (place) => checkNode(place),
  project: checkProject,
  tsconfig: checkTsconfig,
  types: checkEmission,
  packages: checkPackages,
  copies: checkCopies,
  program: checkProgram,
  port: checkPort,
  secret: checkSecret,
};

/** One check that can't be made doesn't keep others from being made. */
async function made(name: string, check: Check, place: Place): Promise<Result[]> {
  try {
    return await check(place);
  } catch (error) {
    return [resultsOf(name).warning(`could not be checked: ${String(error)}`, 'check it yourself')];
  }
}

const lineOf = ({ check, status, text, fix }: Result): string =>
  plainLine(`${status.padEnd(7)}  ${check.padEnd(8)}  ${text}${fix === undefined ? '' : ` → ${fix}`}`);

/** What `decorum doctor` was called with. */
export interface DoctorOptions {
  readonly entry: string | undefined;
  readonly json: boolean;
}

/**
 * Prints what keeps a project from working. Sets the exit code to `EXIT.failed` if there is a problem.
 * @throws {CommandFailure}
 */
export async function doctor({ entry, json }: DoctorOptions): Promise<void> {
  const place = placeOf(entry);
  const results: Result[] = [];
  for (const [name, check] of Object.entries(CHECKS)) {
    const found = await made(name, check, place);
    results.push(...found);
    if (!json) for (const each of found) process.stdout.write(`${lineOf(each)}\n`);
  }
  if (json) process.stdout.write(`${JSON.stringify(results, null, 2)}\n`);
  if (results.some(({ status }) => status === 'problem')) process.exitCode = EXIT.failed;
}
