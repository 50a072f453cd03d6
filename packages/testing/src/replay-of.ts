import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { readRecording, replay, type Replay } from '@decorum/client/internal';
import type { McpServer } from '@decorum/core';
import { type OptionTypes, requireOptions, startupError } from '@decorum/core/plugin';
import { hostOf } from '@decorum/core/transport';

/** Options of `replayOf`. */
export interface ReplayOptions {
  /** The server that the call is made to, in this process. */
  readonly server: McpServer<readonly object[]>;
  /** Milliseconds after which the client stops waiting. Defaults to 30,000. */
  readonly timeoutMs?: number;
}

const OPTIONS: OptionTypes<ReplayOptions> = { server: 'object', timeoutMs: [1, 2 ** 31 - 1] };

/**
 * Makes a call again that `recorder` of `@decorum/audit` has kept: in memory, in its revision, as its caller, with the
 * answers of its client. Effects that have a recorded result don't run again.
 * @param file path of the recording, from the working directory, or its URL
 * @returns how the call ended when it was recorded, and how it ends now
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 * @throws {Error} if the file can't be read, or is no complete recording
 * @example
 * ```ts
 * import { replayOf } from '@decorum/testing';
 * import { equal } from 'node:assert/strict';
 *
 * const { failure } = await replayOf('test/recordings/charge.json', { server });
 * equal(failure, undefined);
 * ```
 */
export async function replayOf(file: string | URL, options: ReplayOptions): Promise<Replay> {
  requireOptions('replayOf', options, OPTIONS);
  const { server, timeoutMs } = options;
  hostOf(server as never, 'replayOf');
  if (typeof file !== 'string' && !(file instanceof URL)) {
    const problem = "is not a path. Write replayOf('recordings/charge.json', { server })";
    throw startupError('DECORUM_INVALID_OPTION', 'replayOf', 'file', problem);
  }
  const path = file instanceof URL ? fileURLToPath(file) : resolve(file);
  const text = await readFile(path, 'utf8');
  return await replay(recordingIn(text, path), server as never, timeoutMs);
}

function recordingIn(text: string, path: string) {
  try {
    return readRecording(text);
  } catch (cause) {
    throw new Error(`${path} can't be replayed: ${(cause as Error).message}.`, { cause });
  }
}
