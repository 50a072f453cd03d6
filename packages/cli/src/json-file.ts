import { isObject } from '@decorum/core/internal';
import { CommandFailure, EXIT } from 'create-decorum';

import { shown } from './entry.js';
import { parseFile } from './loader/json.js';

/**
 * The members of a JSON file such as package.json. Like npm, takes those that are null for missing.
 * @throws {CommandFailure} if the file isn't a JSON object
 */
export function readJsonObject(path: string): Readonly<Record<string, unknown>> {
  const value = parsed(path);
  if (!isObject(value)) throw new CommandFailure(`${shown(path)} must be a JSON object.`, EXIT.failed);
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== null));
}

function parsed(path: string): unknown {
  try {
    return parseFile(path);
  } catch (error) {
    throw new CommandFailure(`${shown(path)} is not valid JSON: ${(error as Error).message}`, EXIT.failed, error);
  }
}
