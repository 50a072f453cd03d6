import { CommandFailure, EXIT } from 'create-decorum';

import { replyOf } from '../child-reply.js';
import { EXPORT_A_SERVER, findEntry, shown } from '../entry.js';
import { loadFailure } from '../failures.js';
import { programEnv } from '../program-env.js';
import type { Export, Reply, Report, Settings } from './messages.js';
import { printed } from './print.js';

const REMEDIES: Readonly<Record<Export, string>> = {
  server: `${EXPORT_A_SERVER} A URL or { command, args } works, too.`,
  model: 'Export a function that asks a model, as `model`.',
  questions: "Export an array, such as `export const questions = [{ question: 'Will it rain?', tool: 'forecast' }]`.",
};

async function reportOf(file: string, settings: Settings): Promise<Report> {
  const args = [file, JSON.stringify(settings)];
  const reply = await replyOf<Reply>(new URL('child.js', import.meta.url), { args, env: programEnv(process.cwd()) });
  if (typeof reply === 'number')
    throw new CommandFailure(`${shown(file)} ended with exit code ${reply} before all questions were asked.`);
  if (reply.type === 'report') return reply.report;
  if (reply.type === 'lacks')
    throw new CommandFailure(`${shown(file)} exports no ${reply.name}. ${REMEDIES[reply.name]}`);
  if (reply.type === 'uninstalled') {
    const problem = 'The test kit, which asks the model, is not installed here.';
    throw new CommandFailure(`${problem} Run \`npm install -D @decorum/testing\`.`, EXIT.environment);
  }
  const { error, sources } = reply;
  throw loadFailure({ file, sources }, Object.assign(new Error(error.message), error));
}

/** What `decorum eval` was called with. */
export interface EvalOptions extends Settings {
  readonly file: string;
  /** The share of right choices that is enough, from 0 to 1. */
  readonly min: number;
  readonly json: boolean;
}

/**
 * Asks a model the questions of a file, and prints what it chose. Sets the exit code to `EXIT.model` if it failed, and to
 * `EXIT.failed` if it chose too little right, or something forbidden.
 * @throws {CommandFailure}
 */
export async function evaluate({ file, min, json, ...settings }: EvalOptions): Promise<void> {
  const report = await reportOf(findEntry(file), settings);
  const { share, forbidden, failures } = report;
  const passed = share !== null && share >= min && forbidden === 0 && failures === 0;
  process.stdout.write(json ? `${JSON.stringify({ passed, min, ...report }, null, 2)}\n` : printed(report, min));
  if (!passed) process.exitCode = failures > 0 ? EXIT.model : EXIT.failed;
}
