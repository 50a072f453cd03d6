/** Loads a file of questions in its own process, and lets the test kit of its project ask the model. */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

import { exportedServer, loadEntry } from '../entry.js';
import { installLoader } from '../loader/install.js';
import type { Reply, Report, Settings } from './messages.js';

const [file = '', given = '{}'] = process.argv.slice(2);
const settings = JSON.parse(given) as Settings;
const tell = process.send?.bind(process);
// hide the IPC channel from the program
Object.defineProperty(process, 'send', { value: undefined });

function end(reply: Reply): void {
  tell?.(reply, undefined, {}, () => process.exit(0));
}

function fail(error: unknown): void {
  const thrown = (error instanceof Error ? error : new Error(String(error))) as NodeJS.ErrnoException;
  const { name, message, stack, code } = thrown;
  end({ type: 'failed', error: { name, message, stack, code }, sources: [...installLoader().files()] });
}

interface TestKit {
  evaluate(questions: unknown, options: object): Promise<Report>;
}

/** The project's copy of the test kit, which knows its copy of core. Undefined if it isn't installed. */
async function testKit(): Promise<TestKit | undefined> {
  let path;
  try {
    path = createRequire(file).resolve('@decorum/testing');
  } catch {
    return undefined;
  }
  return (await import(pathToFileURL(path).href)) as TestKit;
}

type Exports = Readonly<Record<string, unknown>>;

/** The exported server, or how to reach it: the URL of an endpoint, or a program. */
async function serverIn(exports: Exports): Promise<unknown> {
  const server = await exports['server'];
  const isElsewhere =
    typeof server === 'string' ||
    server instanceof URL ||
    (typeof server === 'object' && server !== null && 'command' in server);
  return isElsewhere ? server : await exportedServer(exports);
}

async function replyOf(exports: Exports): Promise<Reply> {
  const server = await serverIn(exports);
  if (server === undefined) return { type: 'lacks', name: 'server' };
  const { model, questions, principal, headers, revision } = exports;
  if (model === undefined) return { type: 'lacks', name: 'model' };
  if (questions === undefined) return { type: 'lacks', name: 'questions' };
  const kit = await testKit();
  if (kit === undefined) return { type: 'uninstalled' };
  const access = Object.entries({ principal, headers, revision }).filter(([, value]) => value !== undefined);
  const options = { server, model, ...Object.fromEntries(access), ...settings };
  return { type: 'report', report: await kit.evaluate(await questions, options) };
}

process.on('uncaughtException', fail);
try {
  end(await replyOf(await loadEntry(file)));
} catch (error) {
  fail(error);
}
