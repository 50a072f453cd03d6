import { type Client, connectClient, ConnectionError } from '@decorum/client';
import { CommandFailure, EXIT, plainText } from 'create-decorum';

import type { Answer } from './answer.js';
import { failureOf } from './failure.js';
import { connectable } from './target.js';
import { type Request } from './request.js';
import { answerOf } from './verbs.js';

/** Options of `decorum inspect`. */
export interface InspectOptions {
  readonly json: boolean;
  readonly args: string | undefined;
  readonly revision: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

/** Cap on what is remembered of the output of a program. */
const MAX_CHUNKS = 20;

const say = (text: string) => process.stderr.write(`${plainText(text)}\n`);

/**
 * Connects to a server, does what was asked, and prints the result.
 * @throws {CommandFailure}
 */
export async function inspect(request: Request, options: InspectOptions): Promise<void> {
  const interruption = new Interruption();
  try {
    const client = await connect(request, options);
    try {
      interruption.matters();
      const answer = await answerOf(request.verb, {
        client,
        operands: request.operands,
        args: options.args,
        request: { signal: interruption.signal, onProgress },
      });
      print(answer, options);
    } finally {
      await client.close();
    }
  } catch (error) {
    throw failureOf(error);
  } finally {
    interruption.end();
  }
}

async function connect({ target }: Request, { revision, headers, timeoutMs }: InspectOptions): Promise<Client> {
  const isUrl = 'url' in target;
  if (!isUrl && Object.keys(headers).length > 0) throw new CommandFailure('--header is for URLs.', EXIT.usage);
  try {
    return await connectClient(connectable(target), {
      clientInfo: { name: 'decorum-inspect', version: '0.0.0' },
      revision,
      timeoutMs,
      onError: (error) => say(error.message),
      ...(isUrl ? { headers } : { onStderr: showOnce() }),
    });
  } catch (error) {
    if (!('entry' in target) || !(error instanceof ConnectionError && error.code === 'closed')) throw error;
    throw new CommandFailure('The program has ended before it served. It has printed why.', EXIT.failed, error);
  }
}

/** Shows the output of a program. While the revision is negotiated, it may start twice and print the same again. */
function showOnce(): (chunk: string) => void {
  const shown = new Set<string>();
  return (chunk) => {
    if (shown.has(chunk)) return;
    if (shown.size < MAX_CHUNKS) shown.add(chunk);
    process.stderr.write(plainText(chunk));
  };
}

function onProgress(progress: number, total: number | undefined, message = ''): void {
  say(`${progress}${total === undefined ? '' : `/${total}`} ${message}`.trimEnd());
}

function print({ json, text, isError = false }: Answer, options: InspectOptions): void {
  if (options.json) process.stdout.write(`${jsonText(json)}\n`);
  else if (isError) say(text);
  else process.stdout.write(`${plainText(text)}\n`);
  if (isError) process.exitCode = EXIT.toolError;
}

/** JSON without characters that a terminal obeys. */
const jsonText = (value: unknown): string =>
  JSON.stringify(value, null, 2).replaceAll(/[\u007f-\u009f\p{Cf}\u2028\u2029]/gu, (character) =>
    [...Array(character.length).keys()]
      .map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`)
      .join(''),
  );

/** Ctrl+C cancels the call on the server; a second one ends the process. */
class Interruption {
  private readonly control = new AbortController();
  private isConnected = false;

  constructor() {
    process.on('SIGINT', this.onSignal).on('SIGTERM', this.onSignal);
  }

  get signal(): AbortSignal {
    return this.control.signal;
  }

  /** From now on, there may be something to cancel. */
  matters(): void {
    this.isConnected = true;
  }

  end(): void {
    process.off('SIGINT', this.onSignal).off('SIGTERM', this.onSignal);
  }

  private readonly onSignal = (): void => {
    if (!this.isConnected || this.signal.aborted) process.exit(EXIT.interrupted);
    this.control.abort(new CommandFailure('Interrupted.', EXIT.interrupted));
  };
}
