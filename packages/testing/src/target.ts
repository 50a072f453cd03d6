import type { Principal } from '@decorum/core';
import type { ClosableHost, Host } from '@decorum/core/transport';
import { isObject } from '@decorum/core/internal';
import { type OptionTypes, requireOptions, startupError } from '@decorum/core/plugin';
import { hostOf } from '@decorum/core/transport';

import type { OpenCarrier } from '@decorum/client/internal';
import { fixedHeaders, overHttp } from '@decorum/client/internal';
import { overOwnHttp } from './carriers/in-process-http.js';
import { overMemory } from '@decorum/client/internal';
import { overProgram, type Program } from '@decorum/client/internal';
import { overStdio } from './carriers/stdio.js';

/** A server in this process, the URL of an endpoint, or a program that serves over stdio. */
export type ConnectTarget = Host | URL | string | Program;

/** How to reach a server in this process. */
export type Via = 'memory' | 'stdio' | 'http';

/** The options that say how to reach a target. */
export interface Way {
  readonly via?: Via | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly principal?: Principal | undefined;
}

const PROGRAM: OptionTypes<Program> = { command: 'string', args: 'array', env: 'object', cwd: 'string' };

const invalid = (option: string, problem: string) => startupError('DECORUM_INVALID_OPTION', 'connect', option, problem);

/**
 * Decides how to reach a target.
 * @returns a function that opens the connection, and the server if it is in this process
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function wayTo(target: ConnectTarget, way: Way): { readonly open: OpenCarrier; readonly server?: Host } {
  if (typeof target === 'string' || target instanceof URL) {
    requireUnset(way, ['via', 'principal'], 'a URL');
    return {
      open: overHttp({ url: urlOf(target), credentials: fixedHeaders(way.headers ?? {}), maxMessageBytes: Infinity }),
    };
  }
  if (isProgram(target)) {
    requireOptions('connect', target, PROGRAM);
    requireUnset(way, ['via', 'principal', 'headers'], 'a program');
    return { open: overProgram(target, { maxMessageBytes: Infinity }) };
  }
  // one line per error is for log collectors
  hostOf(target, 'connect').showStacks?.();
  requireUnset(way, ['headers'], 'a server of this process');
  return { open: openServer(target, way), server: target };
}

function openServer(server: Host, { via = 'memory', principal }: Way): OpenCarrier {
  if (via === 'memory') return overMemory(server, principal);
  if (via === 'stdio') return overStdio(server as ClosableHost, principal);
  if (via === 'http') return overOwnHttp(server, principal);
  throw invalid('via', `is ${JSON.stringify(via)}. Pass 'memory', 'stdio' or 'http'`);
}

const isProgram = (target: Host | Program): target is Program =>
  isObject(target) && 'command' in target && typeof target.command === 'string';

const REMEDIES: Readonly<Record<keyof Way, string>> = {
  via: 'Remove it',
  principal: 'Its server finds out who calls: pass credentials, as `headers` for a URL or in `env` for a program',
  headers: 'They are for URLs. Pass `principal` to say who calls',
};

function requireUnset(way: Way, options: readonly (keyof Way)[], what: string): void {
  const set = options.find((option) => way[option] !== undefined);
  if (set !== undefined) throw invalid(set, `has no effect on ${what}. ${REMEDIES[set]}`);
}

function urlOf(target: string | URL): URL {
  const url = URL.canParse(String(target)) ? new URL(String(target)) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  const problem = `is ${JSON.stringify(String(target))}, which is not a URL`;
  throw invalid('target', `${problem}. Write 'http://127.0.0.1:3000/mcp', or { command: 'node', args: ['server.js'] }`);
}
