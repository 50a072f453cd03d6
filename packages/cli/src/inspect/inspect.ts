import type { CommandFailure } from 'create-decorum';

import { connectTo, type ConnectOptions } from './connect.js';
import { failureOf } from './failure.js';
import { Interruption } from './interruption.js';
import { printChanges } from './listen.js';
import { printAnswer, type PrintOptions, say } from './print.js';
import { type AnswerOptions, Answers } from './questions.js';
import type { Request } from './request.js';
import { answerOf } from './verbs.js';

/** Options of `decorum inspect`. */
export interface InspectOptions extends ConnectOptions, PrintOptions, Omit<AnswerOptions, 'fail'> {
  readonly args: string | undefined;
  /** Resources to listen to. */
  readonly uris: readonly string[];
}

/**
 * Connects to a server, does what was asked, and prints the result.
 * @throws {CommandFailure}
 */
export async function inspect({ target, verb, operands }: Request, options: InspectOptions): Promise<void> {
  const interruption = new Interruption();
  const { signal, fail } = interruption;
  const answers = new Answers({ ...options, fail });
  try {
    const client = await connectTo(target, options, answers);
    interruption.matters();
    try {
      if (verb === 'listen') return await printChanges({ ...options, client, signal });
      const request = { signal, onProgress };
      printAnswer(await answerOf(verb, { client, operands, args: options.args, request }), options);
    } finally {
      await client.close();
    }
  } catch (error) {
    throw failureOf(reasonOf(signal) ?? error);
  } finally {
    answers.close();
    interruption.end();
  }
}

/** Why the command gives up. What the server says of the cancelled call matters less. */
const reasonOf = (signal: AbortSignal) => signal.reason as CommandFailure | undefined;

function onProgress(progress: number, total: number | undefined, message = ''): void {
  say(`${progress}${total === undefined ? '' : `/${total}`} ${message}`.trimEnd());
}
