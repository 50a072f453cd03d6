import type { IncomingHttpHeaders } from 'node:http';

import type { Program } from '../program.js';
import { lasting, withoutQuery } from './session.js';
import { look, type View } from './viewer.js';

/** Where a client sends its messages, and with which headers. */
export interface Caller {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

/** Cap on the paths that are recorded. */
const MAX_PATHS = 100;
/** Cap on the paths that are looked at without a client. */
const MAX_LOOKED_AT = 4;

/** The key of a view: clients share one if they send the same headers, such as credentials, to the same path. */
export const keyOfView = (caller: Caller | undefined): string =>
  caller ? JSON.stringify([withoutQuery(caller.path), lasting(caller.headers)]) : '';

/** Cached views of programs. Only paths that have answered as MCP are looked at: elsewhere, a request may do anything. */
export class Views {
  private readonly paths = new Set<string>();
  private readonly views = new WeakMap<Program, Map<string, Promise<View | undefined>>>();

  /** Records a path that has answered as MCP. */
  serves(path: string): void {
    if (this.paths.size < MAX_PATHS) this.paths.add(withoutQuery(path));
  }

  /**
   * A program as a client sees it. Undefined if it's unknown.
   * @param caller undefined for nobody in particular: no credentials are sent
   * @param usual the paths to look at while none is recorded
   */
  of(program: Program, caller: Caller | undefined, usual: readonly string[] = []): Promise<View | undefined> {
    const ofProgram = this.views.get(program) ?? new Map<string, Promise<View | undefined>>();
    this.views.set(program, ofProgram);
    const key = keyOfView(caller);
    const known = ofProgram.get(key);
    if (known) return known;
    const view = this.look(program, caller, usual);
    ofProgram.set(key, view);
    return view;
  }

  /** Discards the views of a program that has changed its lists. */
  forget(program: Program): void {
    this.views.delete(program);
  }

  private async look(
    program: Program,
    caller: Caller | undefined,
    usual: readonly string[],
  ): Promise<View | undefined> {
    const recorded = caller ? [withoutQuery(caller.path)].filter((path) => this.paths.has(path)) : [...this.paths];
    const paths = recorded.length > 0 ? recorded.slice(0, MAX_LOOKED_AT) : usual;
    const view = await look(program, paths, caller ? lasting(caller.headers) : {});
    if (view && !program.isStandIn) this.serves(view.path);
    // the path may be recorded later
    if (view === undefined) this.views.get(program)?.delete(keyOfView(caller));
    return view;
  }
}
