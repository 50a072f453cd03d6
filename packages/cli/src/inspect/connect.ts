import {
  type Client,
  connectClient,
  ConnectionError,
  type OAuthProvider,
  type QuestionHandlers,
} from '@decorum/client';
import { CommandFailure, EXIT, plainLine, plainText } from 'create-decorum';

import { say } from './print.js';
import type { Target } from './request.js';
import { connectable, MAX_MESSAGE_BYTES } from './target.js';

/** How to connect. */
export interface ConnectOptions {
  readonly revision: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

/** What answers the server: its questions, and its demand for a token. */
export interface Answering extends QuestionHandlers {
  readonly authProvider: OAuthProvider | undefined;
}

/** Cap on what is remembered of the output of a program. */
const MAX_CHUNKS = 20;

/**
 * Connects to the server, and shows what it logs.
 * @throws {CommandFailure | ConnectionError | McpError | DecorumError}
 */
export async function connectTo(target: Target, options: ConnectOptions, answering: Answering): Promise<Client> {
  const { revision, headers, timeoutMs } = options;
  const isUrl = 'url' in target;
  if (!isUrl && Object.keys(headers).length > 0) throw new CommandFailure('--header is for URLs.', EXIT.usage);
  try {
    return await connectClient(connectable(target), {
      clientInfo: { name: 'decorum-inspect', version: '0.0.0' },
      revision,
      timeoutMs,
      maxMessageBytes: MAX_MESSAGE_BYTES,
      capabilities: { elicitation: { form: {}, url: {} } },
      onElicit: answering.onElicit,
      onSample: answering.onSample,
      onRoots: answering.onRoots,
      onError: (error) => say(error.message),
      onNotification({ method, params }) {
        if (method === 'notifications/message') say(`${plainLine(params['level'])}: ${logText(params['data'])}`);
      },
      ...(isUrl ? { headers, authProvider: answering.authProvider } : { onStderr: showOnce() }),
    });
  } catch (error) {
    if (!('entry' in target) || !(error instanceof ConnectionError && error.code === 'closed')) throw error;
    throw new CommandFailure('The program has ended before it served. It has printed why.', EXIT.failed, error);
  }
}

const logText = (data: unknown): string => (typeof data === 'string' ? data : JSON.stringify(data));

/** Shows the output of a program. While the revision is negotiated, it may start twice and print the same again. */
function showOnce(): (chunk: string) => void {
  const shown = new Set<string>();
  return (chunk) => {
    if (shown.has(chunk)) return;
    if (shown.size < MAX_CHUNKS) shown.add(chunk);
    process.stderr.write(plainText(chunk));
  };
}
