import { type JsonObject, McpServer, type Principal } from '@decorum/core';
import { isObject } from '@decorum/core/internal';
import { type OptionTypes, requireOptions, startupError } from '@decorum/core/plugin';
import { type Host, hostOf } from '@decorum/core/transport';

import type { OpenCarrier } from './carriers/carrier.js';
import type { HeaderSource } from './carriers/credentials.js';
import { overHttp } from './carriers/http.js';
import { overLegacySse } from './carriers/legacy-sse.js';
import { overMemory } from './carriers/memory.js';
import { overProgram, type Program } from './carriers/program.js';

/** A server in this process, the URL of an endpoint, or a program that serves over stdio. */
export type ConnectTarget = McpServer | Host | URL | string | Program;

/** How to reach a target. */
export interface Way {
  /** What the target is. */
  readonly kind: 'memory' | 'http' | 'program';
  readonly open: OpenCarrier;
  /** How to reach a server that has only the transport of the oldest revision. */
  readonly openLegacy?: OpenCarrier;
}

/** The options that say how to reach a target. */
export interface WayOptions {
  readonly principal?: Principal | undefined;
  readonly credentials: HeaderSource;
  readonly maxMessageBytes: number;
  readonly onStderr?: ((chunk: string) => void) | undefined;
}

const PROGRAM: OptionTypes<Program> = { command: 'string', args: 'array', env: 'object', cwd: 'string' };

/** Options that have an effect only on some targets. */
const ONLY: Readonly<Record<string, { readonly kind: Way['kind']; readonly remedy: string }>> = {
  headers: {
    kind: 'http',
    remedy: 'It is for URLs. Pass `principal` for a server of this process, `env` for a program',
  },
  authorization: { kind: 'http', remedy: 'It is for URLs. Pass credentials in `env` of a program' },
  authProvider: { kind: 'http', remedy: 'It is for URLs. Pass credentials in `env` of a program' },
  principal: {
    kind: 'memory',
    remedy: 'Its server finds out who calls: pass `headers` for a URL, `env` for a program',
  },
  onStderr: { kind: 'program', remedy: 'Only programs have one' },
};

const NAMES = { memory: 'a server of this process', http: 'a URL', program: 'a program' } as const;

const invalid = (where: string, option: string, problem: string) =>
  startupError('DECORUM_INVALID_OPTION', where, option, problem);

/**
 * Decides how to reach a target.
 * @param where the function that was called, for messages
 * @param given the options as they were passed
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function wayTo(
  target: ConnectTarget,
  options: WayOptions,
  { where, given }: { readonly where: string; readonly given: object },
): Way {
  const way = chosen(target, options, where);
  for (const [option, { kind, remedy }] of Object.entries(ONLY)) {
    if ((given as JsonObject)[option] === undefined || kind === way.kind) continue;
    throw invalid(where, option, `has no effect on ${NAMES[way.kind]}. ${remedy}`);
  }
  return way;
}

function chosen(target: ConnectTarget, options: WayOptions, where: string): Way {
  const { credentials, maxMessageBytes } = options;
  if (typeof target === 'string' || target instanceof URL) {
    const endpoint = { url: urlOf(target, where), credentials, maxMessageBytes, keepsConnections: true };
    return { kind: 'http', open: overHttp(endpoint), openLegacy: overLegacySse(endpoint) };
  }
  if (isProgram(target)) {
    requireOptions(where, target, PROGRAM);
    return { kind: 'program', open: overProgram(target, options) };
  }
  requireHost(target, where);
  return { kind: 'memory', open: overMemory(target, options.principal) };
}

/** @throws {DecorumError} `DECORUM_INVALID_OPTION` if it is no target */
export function requireTarget(where: string, target: ConnectTarget): void {
  if (typeof target === 'string' || target instanceof URL) urlOf(target, where);
  else if (isProgram(target)) requireOptions(where, target, PROGRAM);
  else requireHost(target, where);
}

const EXAMPLES = "'http://127.0.0.1:3000/mcp', or { command: 'node', args: ['server.js'] }";

function requireHost(target: Host, where: string): void {
  try {
    hostOf(target, where);
  } catch {
    const problem = 'is neither a URL, nor a program with a `command`, nor an McpServer';
    throw invalid(where, 'target', `${problem}. Write ${EXAMPLES}`);
  }
}

const isProgram = (target: object): target is Program =>
  isObject(target) && 'command' in target && typeof target['command'] === 'string';

function urlOf(target: string | URL, where: string): URL {
  const url = URL.canParse(String(target)) ? new URL(String(target)) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  const problem = `is ${JSON.stringify(String(target))}, which is not a URL`;
  throw invalid(where, 'target', `${problem}. Write ${EXAMPLES}`);
}
