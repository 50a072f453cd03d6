import type { Client } from '@decorum/client';
import { CommandFailure, EXIT, plainLine } from 'create-decorum';

import { jsonText, say } from './print.js';

/** What to hear of. */
export interface ListenInput {
  readonly client: Client;
  readonly uris: readonly string[];
  readonly json: boolean;
  readonly signal: AbortSignal;
}

/**
 * Prints changes of a server until Ctrl+C: of its lists, and of the resources in `--uri`.
 * @throws {CommandFailure} with `EXIT.connection` if the connection ends
 */
export async function printChanges({ client, uris, json, signal }: ListenInput): Promise<void> {
  const listening = await client.listen({ tools: true, prompts: true, resources: true, uris });
  const close = () => void listening.close();
  signal.addEventListener('abort', close);
  if (signal.aborted) close();
  say('Listening. Press Ctrl+C to end.');
  for await (const { method, params } of listening) {
    const { uri } = params;
    const kind = method.replace(/^notifications\//, '');
    process.stdout.write(
      json ? `${jsonText({ method, params })}\n` : `${plainLine(`${kind} ${String(uri ?? '')}`.trim())}\n`,
    );
  }
  if (!signal.aborted) throw new CommandFailure('The connection has ended.', EXIT.connection);
}
