import type { IncomingHttpHeaders } from 'node:http';

import { INITIALIZE, newestOf } from '@decorum/core/internal';

import { type Catalog, type CatalogSession, readCatalog, RELAY, RELAY_CAPABILITIES, STATELESS } from '../lists.js';
import { isJson, type Json, notification, request } from '../message.js';
import type { Program } from '../program.js';
import { lasting, withoutQuery } from './relayed-session.js';
import { type Answered, converse, SESSION } from './upstream.js';

/** Where a client sends its messages, and with which headers. */
export interface Caller {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

/** The catalog of a program, and the path that serves it. */
export interface Served extends Catalog {
  readonly path: string;
}

/** Cap on the paths that are recorded. */
const MAX_PATHS = 100;
/** Cap on the paths that are tried without a client. */
const MAX_TRIED = 4;

/** The key of a catalog: clients share one if they send the same headers, such as credentials, to the same path. */
export const keyOfCaller = (caller: Caller | undefined): string =>
  caller ? JSON.stringify([withoutQuery(caller.path), lasting(caller.headers)]) : '';

/**
 * Cached catalogs of programs, as clients with certain credentials see them. Only paths that have answered as MCP are
 * read: elsewhere, a request may do anything.
 */
export class Catalogs {
  private readonly paths = new Set<string>();
  private readonly catalogs = new WeakMap<Program, Map<string, Promise<Served | undefined>>>();

  /** Records a path that has answered as MCP. */
  serves(path: string): void {
    if (this.paths.size < MAX_PATHS) this.paths.add(withoutQuery(path));
  }

  /**
   * A program's catalog for a client. Undefined if the client has no access, or if no path serves MCP.
   * @param caller undefined for nobody in particular: no credentials are sent
   * @param usual the paths to try while none is recorded
   */
  of(program: Program, caller: Caller | undefined, usual: readonly string[] = []): Promise<Served | undefined> {
    const ofProgram = this.catalogs.get(program) ?? new Map<string, Promise<Served | undefined>>();
    this.catalogs.set(program, ofProgram);
    const key = keyOfCaller(caller);
    const catalog = ofProgram.get(key) ?? this.read(program, caller, usual);
    ofProgram.set(key, catalog);
    // the path may be recorded later
    void catalog.then((found) => found ?? ofProgram.delete(key));
    return catalog;
  }

  /** Discards the catalogs of a program that has changed its lists. */
  forget(program: Program): void {
    this.catalogs.delete(program);
  }

  private async read(
    program: Program,
    caller: Caller | undefined,
    usual: readonly string[],
  ): Promise<Served | undefined> {
    const recorded = caller ? [withoutQuery(caller.path)].filter((path) => this.paths.has(path)) : [...this.paths];
    const headers = caller ? lasting(caller.headers) : {};
    for (const path of recorded.length > 0 ? recorded.slice(0, MAX_TRIED) : usual) {
      // it may have just ended, or not speak HTTP
      const catalog = await read(program, path, headers).catch(() => undefined);
      if (catalog === undefined) continue;
      if (!program.isStandIn) this.serves(path);
      return { ...catalog, path };
    }
    return undefined;
  }
}

async function read(program: Program, path: string, headers: IncomingHttpHeaders): Promise<Catalog | undefined> {
  let count = 0;
  const post = (message: Json, more: IncomingHttpHeaders): Promise<Answered> =>
    converse(program, { path, headers: { ...headers, ...more }, body: JSON.stringify(message) });
  const ask = async (method: string, params: Json, more: IncomingHttpHeaders): Promise<Json> =>
    (await post(request(`decorum-dev-${++count}`, method, params), more)).message ?? {};

  /** Begins a session of the relay's own. */
  const begin = async (): Promise<CatalogSession | undefined> => {
    const { id: protocolVersion } = newestOf('stateful');
    const hello = { protocolVersion, capabilities: RELAY_CAPABILITIES, clientInfo: RELAY };
    const begun = await post(request(0, INITIALIZE, hello), {});
    const result = begun.message?.['result'];
    if (!isJson(result)) return undefined;
    const inSession = {
      ...(begun.headers[SESSION] !== undefined && { [SESSION]: begun.headers[SESSION] }),
      'mcp-protocol-version': String(result['protocolVersion']),
    };
    await post(notification('notifications/initialized'), inSession);
    return { begun: result, ask: (method, params) => ask(method, params, inSession) };
  };
  const stateless = (method: string) => ({ 'mcp-protocol-version': STATELESS, 'mcp-method': method });
  return readCatalog((method, params) => ask(method, params, stateless(method)), begin);
}
