/** Finds the file that a command runs, loads it, and finds the server that it exports. */
import { readFileSync } from 'node:fs';
import Module from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

import type { Class, McpServer } from '@decorum/core';
import type { ClosableHost } from '@decorum/core/transport';
import { HOST } from '@decorum/core/transport';
import { CommandFailure, EXIT } from 'create-decorum';

import { formatOf } from './loader/format.js';
import { installLoader } from './loader/install.js';
import { isFile, TYPESCRIPT } from './loader/resolve.js';

/** The entries that commands look for, in this order. */
export const ENTRIES = ['src/main.ts', 'src/server.ts', 'src/index.ts'];

/** The remedy if an entry has no server. */
export const EXPORT_A_SERVER =
  "Export an McpServer, a subclass of it, or a function that returns one, as `server` or `default`. An object that contains a server doesn't count.";

/** A path as the user would write it. */
export const shown = (file: string): string => {
  const path = relative(process.cwd(), file);
  return path.startsWith('..') ? file : path;
};

/** The closest folder, from this one up, that has a file. */
export function closest(folder: string, file: string): string | undefined {
  if (isFile(join(folder, file))) return folder;
  return dirname(folder) === folder ? undefined : closest(dirname(folder), file);
}

/**
 * The absolute path of the file to run.
 * @param given path from the user
 * @param candidates paths to try if the user gave none
 * @throws {CommandFailure} with `EXIT.usage` if there is no such file
 */
export function findEntry(given: string | undefined, candidates: readonly string[] = ENTRIES): string {
  if (given !== undefined) {
    if (isFile(resolve(given))) return resolve(given);
    throw new CommandFailure(`There is no file ${given} in ${process.cwd()}.`, EXIT.usage);
  }
  const found = candidates.find((each) => isFile(resolve(each)));
  if (found !== undefined) return resolve(found);
  const looked = candidates.map(shown).join(', ');
  throw new CommandFailure(`Name the file to run: in ${process.cwd()} is none of ${looked}.`, EXIT.usage);
}

/** Whether a file has to be compiled as it loads. */
export const isTypeScript = (file: string): boolean => TYPESCRIPT.test(file);

/** Whether a program takes the flag of those that support both transports. */
export const takesStdio = (source: string): boolean => /['"`]--stdio['"`]/.test(source);

/** The host names in ALLOWED_HOSTS. */
export const allowedHostsIn = ({ ALLOWED_HOSTS: names = '' }: NodeJS.ProcessEnv): readonly string[] =>
  names.split(',').flatMap((each) => each.trim() || []);

type Exports = Readonly<Record<string, unknown>>;

/**
 * Runs a file as if Node.js had been started with it.
 * @param file absolute path
 * @param args arguments of the program
 * @returns the exports of the file
 */
export async function loadEntry(file: string, args: readonly string[] = []): Promise<Exports> {
  process.argv = [process.execPath, file, ...args];
  if (isTypeScript(file)) installLoader();
  if (formatOf(file, readFileSync(file, 'utf8')) === 'module')
    return (await import(pathToFileURL(file).href)) as Exports;
  // load it as the main module: CommonJS programs check `require.main === module` before they serve
  const loader = Module as unknown as { ['_load'](file: string, parent: undefined, isMain: boolean): unknown };
  return Object(loader['_load'](file, undefined, true)) as Exports;
}

/** How long a program may wait for something else after it was loaded or has created a server, in milliseconds. */
const SERVES_MS = 5000;

/** How long a program may load, in milliseconds: on a slow machine, frameworks take long. */
const LOADS_MS = 20_000;

/**
 * Limits the time of a program that is about to be loaded. Keeps no process alive.
 * @param created the servers that it has created until now
 * @param late called, perhaps several times, once the program has had enough time
 * @returns a function to call when it is loaded
 */
export function limitTime(created: ReadonlySet<unknown>, late: () => void): () => void {
  setTimeout(() => void (created.size > 0 && late()), SERVES_MS).unref();
  setTimeout(late, LOADS_MS).unref();
  return () => void setTimeout(late, SERVES_MS).unref();
}

/** Recognizes servers from any copy of @decorum/core. */
export const isServer = (value: unknown): value is McpServer =>
  typeof value === 'object' && value !== null && HOST in value;

const isClass = (value: unknown): value is Class =>
  typeof value === 'function' && /^class\b/.test(Function.prototype.toString.call(value));

/** How a program exports its server. */
export interface Exported {
  readonly name: 'server' | 'default';
  readonly as: 'instance' | 'class' | 'function';
}

/** How a program exports its server, as `server` or `default`; undefined if it exports none. */
export async function howExported(exports: Exports): Promise<Exported | undefined> {
  for (const name of ['server', 'default'] as const) {
    const value = await exports[name];
    if (isServer(value)) return { name, as: 'instance' };
    // the export may be any class: only a server's constructor is called
    if (isClass(value)) {
      if (isServerClass(value)) return { name, as: 'class' };
    } else if (typeof value === 'function') return { name, as: 'function' };
  }
  return undefined;
}

/**
 * The server that a program exports: an instance, or one made by its class or function.
 * @throws whatever the constructor or the function throws
 */
export async function exportedServer(exports: Exports): Promise<McpServer | undefined> {
  const exported = await howExported(exports);
  if (exported === undefined) return undefined;
  const value = await exports[exported.name];
  if (exported.as === 'instance') return value as McpServer;
  const made = exported.as === 'class' ? Reflect.construct(value as Class, []) : await (value as () => unknown)();
  return isServer(made) ? made : undefined;
}

/** Recognizes subclasses of `McpServer` by their methods, because they may extend any copy of @decorum/core. */
const isServerClass = ({ prototype }: { prototype: object }): boolean =>
  ['addProvider', 'addTool', 'close'].every((name) => name in prototype);

/** The servers of this process, except those that others mount. */
export interface Servers {
  readonly created: ReadonlySet<ClosableHost>;
  /** Servers with an open transport: the program serves them itself. */
  readonly opened: ReadonlySet<ClosableHost>;
}

/**
 * Tracks the servers that this process creates from now on.
 * @param opening called and awaited before a server opens a transport
 */
export function watchServers(opening: () => Promise<void> | void = () => {}): Servers {
  const created = new Set<ClosableHost>();
  const opened = new Set<ClosableHost>();
  const shared = globalThis as { [CREATED]?: (server: ClosableHost) => void };
  shared[CREATED] = (server) => {
    for (const each of created) if (isMounted(each)) created.delete(each);
    created.add(server);
    const port = server[HOST];
    const { open } = port;
    let isAwaited = false;
    port.opening = async () => {
      isAwaited = true;
      opened.add(server);
      await opening();
      // `auth` opens first, and may fail
      opened.delete(server);
    };
    port.open = async (create) => {
      if (!isAwaited) await port.opening?.();
      isAwaited = false;
      opened.add(server);
      return open(create);
    };
  };
  return { created, opened };
}

/** Whether another server mounts a server, and so opens and closes it. */
const isMounted = (server: object): boolean =>
  ((server as { readonly [MOUNTABLE]?: { readonly outers: ReadonlySet<unknown> } })[MOUNTABLE]?.outers.size ?? 0) > 0;

/** What a server has for those that mount it. */
const MOUNTABLE = Symbol.for('decorum:mountable');

/** The global function that each McpServer calls at the end of its constructor. */
const CREATED = Symbol.for('decorum:created');
