import { fileURLToPath } from 'node:url';

import type { ConnectTarget, Program } from '@decorum/client';
import { CommandFailure, EXIT } from 'create-decorum';

import { findEntry } from '../entry.js';
import { programEnv } from '../program-env.js';
import type { Target } from './request.js';

/** Cap on one message. The user chose the server, and lists and images may be large. */
export const MAX_MESSAGE_BYTES = 256 * 1024 * 1024;

/**
 * What to connect to. A source file runs in its own process, which serves its server over stdio.
 * @throws {CommandFailure} with `EXIT.usage`
 */
export function connectable(target: Target): ConnectTarget {
  if ('command' in target) return target;
  if ('url' in target) {
    if (URL.canParse(target.url)) return new URL(target.url);
    throw new CommandFailure(`${target.url} is not a URL. Write http://127.0.0.1:3000/mcp, for example.`, EXIT.usage);
  }
  return programOf(findEntry(target.entry));
}

const programOf = (file: string): Program => ({
  command: process.execPath,
  args: ['--enable-source-maps', fileURLToPath(new URL('child.js', import.meta.url)), file],
  env: programEnv(process.cwd()),
});
