import { existsSync } from 'node:fs';

import type { Program } from '@decorum/client';
import { CommandFailure, EXIT } from 'create-decorum';

/** What can be done with a server. */
export const VERBS = ['list', 'call', 'read', 'get', 'complete', 'listen', 'sign-out'] as const;

/** One of `VERBS`. */
export type Verb = (typeof VERBS)[number];

/** The server to inspect: a URL, a command, or the source file of a program; undefined for the usual files. */
export type Target = { readonly url: string } | Program | { readonly entry: string | undefined };

/** What the operands of the command ask for. */
export interface Request {
  readonly target: Target;
  /** Undefined to describe the server. */
  readonly verb: Verb | undefined;
  readonly operands: readonly string[];
}

const isVerb = (text: string | undefined): text is Verb => VERBS.some((verb) => verb === text);

/**
 * Reads the operands of the command.
 * @param operands those before `--`
 * @param command those after it
 * @throws {CommandFailure} with `EXIT.usage`
 */
export function requestOf(operands: readonly string[], command: readonly string[]): Request {
  const [first, ...others] = operands;
  // a file may be called like a verb
  const isTarget = first !== undefined && (!isVerb(first) || existsSync(first));
  const [verb, ...rest] = isTarget ? others : operands;
  if (isTarget && command.length > 0) {
    throw new CommandFailure(`Pass either ${first} or a command after --, not both.`, EXIT.usage);
  }
  if (verb !== undefined && !isVerb(verb)) {
    throw new CommandFailure(`There is no verb ${verb}. Use one of ${VERBS.join(', ')}.`, EXIT.usage);
  }
  return { target: targetOf(isTarget ? first : undefined, command), verb, operands: rest };
}

function targetOf(first: string | undefined, [command, ...args]: readonly string[]): Target {
  if (command !== undefined) return { command, args };
  return first !== undefined && /^https?:/i.test(first) ? { url: first } : { entry: first };
}
