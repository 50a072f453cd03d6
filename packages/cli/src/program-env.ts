import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';

/**
 * Variables for a program in development. Those of `.env` don't override variables that are already set.
 * @param secret its `DECORUM_SECRET`, unless it has one
 */
export function programEnv(root: string, secret = randomBytes(32).toString('base64url')): Record<string, string> {
  let file: NodeJS.Dict<string> = {};
  try {
    file = parseEnv(readFileSync(resolve(root, '.env'), 'utf8'));
  } catch {
    // no .env file
  }
  const set = { ...file, ...process.env } as Record<string, string>;
  if (set['DECORUM_SECRET'] !== undefined) return set;
  // nothing that outlives the program may be sealed with it
  return { ...set, DECORUM_SECRET: secret, DECORUM_SECRET_IS_RANDOM: '1' };
}
