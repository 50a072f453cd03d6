import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import type { Implementation } from '@decorum/core';
import { newestOf } from '@decorum/core/internal';

/** What a bundled server says of itself. */
export interface Listed {
  readonly info: Partial<Implementation>;
  readonly hasPrompts: boolean;
  readonly tools: readonly { readonly name: string; readonly description?: string }[];
}

/** A bundled program: its folder, and its file in that folder followed by its arguments. */
export interface Program {
  readonly folder: string;
  readonly args: readonly string[];
}

const PATIENCE_MS = 10_000;

const request = (id: number, method: string, params: object = {}) =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;

const INITIALIZE = request(1, 'initialize', {
  protocolVersion: newestOf('stateful').id,
  capabilities: {},
  clientInfo: { name: 'decorum build', version: '1.0.0' },
});

interface Answer {
  readonly id?: unknown;
  readonly result?: {
    readonly serverInfo?: Implementation;
    readonly capabilities?: { readonly prompts?: object; readonly tools?: object };
    readonly tools?: Listed['tools'];
    readonly nextCursor?: string;
  };
}

/**
 * Starts a bundled program as a client would, and asks for its tools.
 * @returns undefined if it doesn't answer over stdio
 */
export async function tryProgram({ folder, args: [main = '', ...args] }: Program): Promise<Listed | undefined> {
  // not in its folder, because clients don't start it there either
  const child = spawn(process.execPath, [join(folder, main), ...args], {
    cwd: tmpdir(),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
  const closed = new Promise((resolve) => child.once('close', resolve));
  // the program may end before it reads
  child.stdin.on('error', () => {});
  child.stdin.write(INITIALIZE);
  const tools: Listed['tools'][number][] = [];
  let [info, hasPrompts, isListed]: [Partial<Implementation>, boolean, boolean] = [{}, false, false];
  for await (const line of createInterface(child.stdout)) {
    const { id, result } = parse(line);
    if (id === undefined || result === undefined) continue;
    if (id === 1) child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
    const { serverInfo = info, capabilities } = result;
    info = serverInfo;
    hasPrompts ||= capabilities?.prompts !== undefined;
    tools.push(...(result.tools ?? []));
    // a server without tools doesn't know the request for them
    isListed = id === 1 ? capabilities?.tools === undefined : result.nextCursor === undefined;
    if (isListed) child.stdin.end();
    else
      child.stdin.write(request(Number(id) + 1, 'tools/list', result.nextCursor ? { cursor: result.nextCursor } : {}));
  }
  await closed;
  clearTimeout(timer);
  return isListed ? { info, hasPrompts, tools } : undefined;
}

function parse(line: string): Answer {
  try {
    return Object(JSON.parse(line)) as Answer;
  } catch {
    return {};
  }
}
