import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { readRecording, type ReadRecording } from '@decorum/client/internal';
import { CommandFailure, EXIT, plainLine } from 'create-decorum';

import { replyOf } from '../child-reply.js';
import { EXPORT_A_SERVER, findEntry, shown } from '../entry.js';
import { loadFailure } from '../failures.js';
import { jsonText } from '../inspect/print.js';
import { programEnv } from '../program-env.js';
import type { Replayed, Reply } from './messages.js';

/** What `decorum replay` was called with, besides its operands. */
export interface ReplayAllOptions {
  /** Milliseconds that a call may take. */
  readonly timeoutMs: number;
  readonly json: boolean;
}

interface Found {
  readonly path: string;
  readonly recording: ReadRecording;
}

/**
 * Makes recorded calls again, and prints how they end. Sets the exit code.
 * @param operands recordings, folders of them, and the file of the program
 * @throws {CommandFailure}
 */
export async function replayAll(operands: readonly string[], { timeoutMs, json }: ReplayAllOptions): Promise<void> {
  const { paths, entry } = sorted(operands);
  const found = paths.map((path): Found => ({ path, recording: recordingAt(path) }));
  const file = findEntry(entry);
  const calls = await callsOf(file, found, timeoutMs);
  if (json) {
    const entries = calls.map((each, at) => ({ file: shown(paths[at] as string), ...each }));
    process.stdout.write(`${jsonText(entries, 2)}\n`);
  } else {
    for (const [at, each] of calls.entries()) process.stdout.write(`${lineOf(found[at] as Found, each)}\n`);
    process.stdout.write(`${summaryOf(calls)}\n`);
  }
  process.exitCode = calls.every(isSame) ? EXIT.done : EXIT.failed;
}

type Call = Extract<Reply, { readonly type: 'replayed' }>['calls'][number];

const isSame = (call: Call): boolean => 'differences' in call && call.differences.length === 0;

/** Tells recordings from the file of the program. */
function sorted(operands: readonly string[]): {
  readonly paths: readonly string[];
  readonly entry: string | undefined;
} {
  const isRecording = (operand: string) => /\.json$/i.test(operand) || isFolder(operand);
  const [entry, ...more] = operands.filter((each) => !isRecording(each));
  if (more.length > 0)
    throw new CommandFailure('Pass one program. Recordings are files that end with .json.', EXIT.usage);
  const paths = operands.filter(isRecording).flatMap((each) => (isFolder(each) ? within(each) : [resolve(each)]));
  if (paths.length > 0) return { paths, entry };
  throw new CommandFailure('Name a recording: a file that ends with .json, or a folder with such files.', EXIT.usage);
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

const within = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => /^[^.].*\.json$/i.test(name))
    .sort()
    .map((name) => resolve(join(folder, name)));

function recordingAt(path: string): ReadRecording {
  try {
    return readRecording(readFileSync(path, 'utf8'));
  } catch (cause) {
    const isMissing = (cause as NodeJS.ErrnoException).code === 'ENOENT';
    const problem = isMissing ? 'there is no such file' : (cause as Error).message;
    throw new CommandFailure(plainLine(`${shown(path)} can't be replayed: ${problem}.`), EXIT.usage, cause);
  }
}

async function callsOf(file: string, found: readonly Found[], timeoutMs: number): Promise<readonly Call[]> {
  const args = [file, String(timeoutMs), ...found.map(({ path }) => path)];
  const env = programEnv(process.cwd());
  const reply = await replyOf<Reply>(new URL('child.js', import.meta.url), { args, env });
  if (typeof reply === 'number') {
    const code = `exit code ${reply}`;
    throw new CommandFailure(`${shown(file)} ended with ${code} before the calls had ended. It may have printed why.`);
  }
  if (reply.type === 'replayed') return reply.calls;
  if (reply.type === 'nothing') throw new CommandFailure(`${shown(file)} creates no server. ${EXPORT_A_SERVER}`);
  const { error, sources } = reply;
  throw loadFailure({ file, sources }, Object.assign(new Error(error.message), error));
}

/** A line for people: `differs  charge: status: tool-error → ok  (recordings/….json)`. */
function lineOf({ path, recording }: Found, call: Call): string {
  const { member, method } = recording;
  const about = `${member.name ?? method}: ${'problem' in call ? call.problem : wordsOf(call)}`;
  const label = 'problem' in call ? 'failed' : isSame(call) ? 'same' : 'differs';
  return plainLine(`${label.padEnd(7)}  ${about} (${shown(path)})`);
}

const wordsOf = ({ differences, failure }: Replayed): string =>
  differences.length === 0 ? (failure ?? 'ok') : [...differences, ...(failure ? [`now ${failure}`] : [])].join(', ');

function summaryOf(calls: readonly Call[]): string {
  const same = calls.filter(isSame).length;
  const counted = `${calls.length} recording${calls.length === 1 ? '' : 's'}`;
  return `${counted}: ${same} ended as recorded, ${calls.length - same} didn't`;
}
