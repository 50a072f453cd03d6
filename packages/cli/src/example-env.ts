/** Reads `.env.example`, in which projects list the variables that their program reads. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';

import { isSecretName, looksSecret } from './install/secrets.js';
import { isFile } from './loader/resolve.js';

/** A variable of the environment. */
export interface Variable {
  readonly name: string;
  readonly description: string | undefined;
  /** Whether the program doesn't run without it. */
  readonly isRequired: boolean;
  readonly isSecret: boolean;
  /** Its usual value. Never that of a secret. */
  readonly byDefault: string | undefined;
}

/** Where an HTTP server listens. Clients that start a program over stdio don't set these. */
const FOR_HTTP = new Set(['PORT', 'HOST', 'ALLOWED_HOSTS', 'TRUST_PROXY']);

/** A variable, which may be commented out. */
const ASSIGNMENT = /^(#\s*)?(?:export\s+)?([A-Z_][A-Z\d_]*)\s*=(.*)$/;

/**
 * The variables in `.env.example`. A comment right above one describes it. A variable is required if it has no value, or
 * if its comment says "required"; one that is commented out is optional.
 * @param project folder of the project
 */
export function variablesOf(project: string): readonly Variable[] {
  const file = join(project, '.env.example');
  return isFile(file) ? parsed(readFileSync(file, 'utf8')) : [];
}

function parsed(text: string): readonly Variable[] {
  const found: Variable[] = [];
  let comment: string[] = [];
  for (const line of text.split(/\r?\n/).map((each) => each.trim())) {
    const [, isOff, name, rest = ''] = ASSIGNMENT.exec(line) ?? [];
    if (name !== undefined) {
      const value = parseEnv(`${name}=${rest}`)[name] ?? '';
      const isKnown = found.some((each) => each.name === name);
      if (!FOR_HTTP.has(name) && !isKnown) found.push(variable(name, value, { comment, isOff: isOff !== undefined }));
    } else if (line.startsWith('#')) {
      comment.push(line.replace(/^#+\s*/, ''));
      continue;
    }
    comment = [];
  }
  return found;
}

function variable(
  name: string,
  value: string,
  { comment, isOff }: { readonly comment: readonly string[]; readonly isOff: boolean },
): Variable {
  const description = comment.join(' ').trim() || undefined;
  const isSecret = isSecretName(name) || looksSecret(name, value);
  const isRequired = !isOff && (value === '' || /\brequired\b/i.test(description ?? ''));
  // the value of a required variable is an example, as is one that is commented out
  const byDefault = isSecret || isOff || isRequired || value === '' ? undefined : value;
  return { name, description, isRequired, isSecret, byDefault };
}
