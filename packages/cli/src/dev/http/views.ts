import type { IncomingHttpHeaders } from 'node:http';

import type { Program } from '../program.js';
import { look, type View } from './viewer.js';

const KEYS = ['authorization', 'cookie'] as const;

/** The key of a view: clients with the same credentials share one. */
export const keyOfView = (headers: IncomingHttpHeaders): string => KEYS.map((name) => headers[name] ?? '').join('\n');

/** Cached views of programs. */
export class Views {
  private readonly views = new WeakMap<Program, Map<string, Promise<View | undefined>>>();

  constructor(private readonly paths: () => readonly string[]) {}

  /** A program as clients with the credentials in these headers see it. */
  of(program: Program, headers: IncomingHttpHeaders): Promise<View | undefined> {
    const ofProgram = this.views.get(program) ?? new Map<string, Promise<View | undefined>>();
    this.views.set(program, ofProgram);
    const key = keyOfView(headers);
    const known = ofProgram.get(key);
    if (known) return known;
    const view = look(program, this.paths(), headers);
    ofProgram.set(key, view);
    return view;
  }

  /** Discards the views of a program that has changed its lists. */
  forget(program: Program): void {
    this.views.delete(program);
  }
}
