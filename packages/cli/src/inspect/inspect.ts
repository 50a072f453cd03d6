import { setTimeout as wait } from 'node:timers/promises';

import type { Client } from '@decorum/client';
import { type CommandFailure, plainLine } from 'create-decorum';

import { connectTo, type ConnectOptions } from './connect.js';
import { failureOf } from './failure.js';
import { Interruption } from './interruption.js';
import { printChanges } from './listen.js';
import { printAnswer, type PrintOptions, say } from './print.js';
import { type AnswerOptions, Answers } from './questions.js';
import type { Request } from './request.js';
import { BrowserSignIn } from './sign-in/browser-sign-in.js';
import { answerOf } from './verbs.js';

/** Options of `decorum inspect`. */
export interface InspectOptions extends ConnectOptions, PrintOptions, Omit<AnswerOptions, 'fail'> {
  readonly args: string | undefined;
  readonly idempotencyKey: string | undefined;
  /** Resources to listen to. */
  readonly uris: readonly string[];
}

/**
 * Connects to a server, does what was asked, and prints the result.
 * @throws {CommandFailure}
 */
export async function inspect(request: Request, options: InspectOptions): Promise<void> {
  const interruption = new Interruption();
  const answers = new Answers({ ...options, fail: interruption.fail });
  const signIn = signInTo(request, options);
  try {
    await converse(request, options, { interruption, answers, signIn });
  } catch (error) {
    // what the server says of a cancelled call matters less
    throw failureOf((interruption.signal.reason as CommandFailure | undefined) ?? error);
  } finally {
    signIn?.close();
    answers.close();
    interruption.end();
  }
}

/** How to sign in; undefined for servers that have no URL, and if the user passes credentials. */
function signInTo({ target }: Request, { headers, usesBrowser }: InspectOptions): BrowserSignIn | undefined {
  const hasCredentials = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
  if (!('url' in target) || hasCredentials || !URL.canParse(target.url)) return undefined;
  return new BrowserSignIn(new URL(target.url), usesBrowser);
}

interface Parts {
  readonly interruption: Interruption;
  readonly answers: Answers;
  readonly signIn: BrowserSignIn | undefined;
}

async function converse(
  { target, verb, operands }: Request,
  options: InspectOptions,
  { interruption, answers, signIn }: Parts,
): Promise<void> {
  const { onElicit, onSample, onRoots } = answers;
  const client = await connectTo(target, options, { onElicit, onSample, onRoots, authProvider: signIn });
  interruption.matters();
  const { signal } = interruption;
  try {
    if (onRoots !== undefined && !client.isStateless) await rootsRead(client, answers);
    if (verb === 'listen') return await printChanges({ ...options, client, signal });
    const request = { signal, onProgress, idempotencyKey: options.idempotencyKey };
    printAnswer(await answerOf(verb, { client, operands, args: options.args, request }), options);
  } finally {
    await client.close();
  }
}

/** Milliseconds in which a server that reads the roots of a session at its start asks for them. */
const ROOTS_MS = 500;

/** Waits until the server has read the roots: some servers only do at the start, and allow nothing before. */
async function rootsRead(client: Client, { rootsAsked }: Answers): Promise<void> {
  const isAsked = await Promise.race([rootsAsked.then(() => true), wait(ROOTS_MS, false)]);
  // its answer comes after it has received the roots
  if (isAsked) await client.ping().catch(() => {});
}

function onProgress(progress: number, total: number | undefined, message = ''): void {
  say(`${progress}${total === undefined ? '' : `/${total}`} ${plainLine(message)}`.trimEnd());
}
