import { relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { advised } from '../advice.js';
import { memberPlace } from '../member.js';
import type { Failure } from './messages.js';

/** The project's folder, and the files that the program has loaded. */
export interface Place {
  readonly root: string;
  readonly files: Iterable<string>;
}

const FRAME = /(file:\/\/[^\s)]+?|\/[^\s)]+?):(\d+):(\d+)\)?$/;

/** The first position in a stack that is in the project's own files. */
function positionIn(stack: string, root: string): string | undefined {
  for (const line of stack.split('\n')) {
    const [, at = '', row, column] = FRAME.exec(line.trim()) ?? [];
    if (at === '' || at.includes('/node_modules/')) continue;
    const file = relative(root, at.startsWith('file:') ? fileURLToPath(at) : at);
    if (!file.startsWith('..')) return `${file}:${row}:${column}`;
  }
  return undefined;
}

/** The declaration that a `DecorumError` is about: its message begins with the class and the member. */
function declarationOf({ code, message }: Failure, { root, files }: Place): string | undefined {
  if (!code?.startsWith('DECORUM_')) return undefined;
  const found = memberPlace(new Error(message), files);
  return found && `${relative(root, found.file)}:${found.line}:${found.column}`;
}

/** Describes why a program doesn't start, with the place in the project. */
export function describeFailure(failure: Failure, place: Place): string {
  const { message, stack } = failure;
  // the message of a syntax error contains its position
  const [, own] = /^(?:\w+: )?(\S+:\d+:\d+) /.exec(message) ?? [];
  if (own !== undefined) return message.slice(message.indexOf(own));
  const at = declarationOf(failure, place) ?? positionIn(stack, place.root);
  const thrownBy = at?.replace(/:\d+:\d+$/, '');
  const text = advised(message, { file: thrownBy && resolve(place.root, thrownBy), sources: place.files });
  return at === undefined ? text : `${at}  ${text}`;
}
