import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { Failure } from './messages.js';

/** Where the project is. */
export interface Place {
  readonly root: string;
  readonly entry: string;
}

const FRAME = /(file:\/\/[^\s)]+?|\/[^\s)]+?):(\d+):(\d+)\)?$/;

/** The first position in the project's own files of a stack. */
function positionIn(stack: string, { root }: Place): string | undefined {
  for (const line of stack.split('\n')) {
    const [, at = '', row, column] = FRAME.exec(line.trim()) ?? [];
    if (at === '' || at.includes('/node_modules/')) continue;
    const file = relative(root, at.startsWith('file:') ? fileURLToPath(at) : at);
    if (!file.startsWith('..')) return `${file}:${row}:${column}`;
  }
  return undefined;
}

/** Describes why a program doesn't start, with the place in the project. */
export async function describeFailure(failure: Failure, place: Place): Promise<string> {
  const at = positionIn(failure.stack, place);
  const { message } = failure;
  // a syntax error says itself where it is
  const [, own] = /^(?:\w+: )?(\S+:\d+:\d+) /.exec(message) ?? [];
  if (own !== undefined) return message.slice(message.indexOf(own));
  return at === undefined ? message : `${at}  ${message}`;
}
