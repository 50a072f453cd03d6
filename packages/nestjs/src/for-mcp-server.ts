import type { Class } from '@decorum/core';

import { startupError } from './errors.js';

const SERVERS = 'decorum:servers';

const { defineMetadata, getMetadata } = Reflect as unknown as {
  defineMetadata(key: string, value: unknown, on: unknown): void;
  getMetadata(key: string, on: unknown): unknown;
};

const misused = (cls: unknown, problem: string) =>
  startupError('DECORUM_MISUSED_DECORATOR', (cls as Class | undefined)?.name || 'the class', 'ForMcpServer', problem);

const REMEDY = "Write `@ForMcpServer('name')` on a class";

/**
 * Names the servers that serve a provider or controller, for applications with several servers. The other servers don't
 * serve it, whichever modules they include.
 * @throws {DecorumError} `DECORUM_MISUSED_DECORATOR` without names, or on anything but a class
 * @example
 * ```ts
 * import { ForMcpServer } from '@decorum/nestjs';
 * import { Injectable } from '@nestjs/common';
 *
 * @ForMcpServer('admin')
 * @Injectable()
 * class Users {
 *   @Tool({ description: 'Counts the users' })
 *   count() {
 *     return 3;
 *   }
 * }
 * ```
 */
export function ForMcpServer(...names: readonly string[]): ClassDecorator {
  const [first] = names as readonly unknown[];
  if (typeof first === 'function') throw misused(first, `needs the name of a server. ${REMEDY}`);
  return (cls: unknown, ...place: readonly unknown[]) => {
    if (typeof cls !== 'function' || place.length > 0) {
      const owner = typeof cls === 'function' ? cls : (cls as object).constructor;
      throw misused(owner, `is not on a class. ${REMEDY}`);
    }
    const areNames = names.length > 0 && names.every((name) => typeof name === 'string' && name !== '');
    if (!areNames) throw misused(cls, `needs the name of a server. ${REMEDY}`);
    defineMetadata(SERVERS, names, cls);
  };
}

/** A server among those of its application. */
export interface Named {
  readonly name: string;
  /** The names of all servers. */
  readonly all: readonly string[];
}

/**
 * Whether a class says that a server serves it; undefined if it names no servers.
 * @throws {DecorumError} `DECORUM_MISUSED_DECORATOR` for a server that the application does not have
 */
export function isServedBy(cls: Class, { name, all }: Named): boolean | undefined {
  const names = getMetadata(SERVERS, cls) as readonly string[] | undefined;
  const unknown = names?.find((each) => !all.includes(each));
  if (unknown === undefined) return names?.includes(name);
  const known = all.map((each) => `"${each}"`).join(', ');
  const problem = `names the server "${unknown}", which the application does not have. Name one of its servers: ${known}`;
  throw misused(cls, problem);
}
