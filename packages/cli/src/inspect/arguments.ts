import { readFileSync } from 'node:fs';

import type { JsonObject } from '@decorum/core';
import { isObject } from '@decorum/core/internal';
import { CommandFailure, EXIT } from 'create-decorum';

import { type Field, itemsOf, namesOf, propertyOf, readValue, requiredOf, typeNameOf } from './fields.js';

const usage = (message: string) => new CommandFailure(message, EXIT.usage);

/** `key=value` or `key:=json`. */
interface Assignment {
  readonly key: string;
  readonly isJson: boolean;
  readonly text: string;
}

function assignmentOf(operand: string): Assignment {
  const [, key, sign, text = ''] = /^([^=]+?)(:?=)(.*)$/s.exec(operand) ?? [];
  if (key !== undefined) return { key, isJson: sign === ':=', text };
  throw usage(`"${operand}" is no argument. Write key=value, or key:=json.`);
}

/**
 * Reads pairs of text: `key=value`.
 * @throws {CommandFailure} with `EXIT.usage`
 */
export function readPairs(operands: readonly string[]): Record<string, string> {
  return Object.fromEntries(operands.map(assignmentOf).map(({ key, text }) => [key, text]));
}

/**
 * Reads arguments by the schema of an object.
 * @param operands `key=value`, `key:=json`, `outer.inner=value`
 * @param given arguments from a file, which operands replace
 * @throws {CommandFailure} with `EXIT.usage`
 */
export function readArguments(operands: readonly string[], schema: JsonObject, given: JsonObject = {}): JsonObject {
  const root: Field = { schema, root: schema };
  const args: Record<string, unknown> = { ...given };
  const seen = new Set<string>();
  for (const assignment of operands.map(assignmentOf)) {
    assign(args, root, { ...assignment, isRepeated: seen.has(assignment.key) });
    seen.add(assignment.key);
  }
  const missing = requiredOf(root).filter((name) => !Object.hasOwn(args, name));
  if (missing.length === 0) return args;
  const named = missing.map((name) => `${name} (${typeOf(root, name)})`).join(', ');
  throw usage(`Missing: ${named}. Write ${missing.map((name) => `${name}=…`).join(' ')}.`);
}

const typeOf = (object: Field, name: string): string =>
  typeNameOf(propertyOf(object, name) ?? { ...object, schema: {} });

function assign(args: Record<string, unknown>, root: Field, assignment: Assignment & { readonly isRepeated: boolean }) {
  const { key, isJson, text, isRepeated } = assignment;
  const { holder, name, field } = placeOf(args, root, key);
  if (isJson) return define(holder, name, jsonOf(key, text));
  const items = field && itemsOf(field);
  if (items && !text.startsWith('[')) {
    const before = isRepeated && Array.isArray(holder[name]) ? (holder[name] as unknown[]) : [];
    return define(holder, name, [...before, readValue(key, text, items)]);
  }
  if (isRepeated) throw usage(`${key} is passed twice, and is no array.`);
  define(holder, name, readValue(key, text, field ?? { schema: {}, root: root.root }));
}

/** Own properties only, also for `__proto__`. */
function define(holder: object, name: string, value: unknown): void {
  Object.defineProperty(holder, name, { value, enumerable: true, configurable: true, writable: true });
}

interface Place {
  readonly holder: Record<string, unknown>;
  readonly name: string;
  readonly field: Field | undefined;
}

/** Where `outer.inner` belongs. A dot that is part of a name stays one. */
function placeOf(holder: Record<string, unknown>, object: Field, key: string): Place {
  const field = propertyOf(object, key);
  const dot = key.indexOf('.');
  const outer = dot > 0 ? propertyOf(object, key.slice(0, dot)) : undefined;
  if (field ?? !outer) {
    if (field === undefined && object.schema['additionalProperties'] === false) throw unknown(object, key);
    return { holder, name: key, field };
  }
  const name = key.slice(0, dot);
  if (!Object.hasOwn(holder, name) || !isObject(holder[name])) define(holder, name, {});
  return placeOf(holder[name] as Record<string, unknown>, outer, key.slice(dot + 1));
}

const unknown = (object: Field, key: string) =>
  usage(`There is no argument ${key}. Known: ${namesOf(object).join(', ') || 'none'}.`);

function jsonOf(name: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw usage(`${name} is no JSON: ${(error as Error).message}.`);
  }
}

/**
 * Reads arguments from a file, or from stdin for `-`.
 * @throws {CommandFailure} with `EXIT.usage`
 */
export function readArgumentFile(file: string | undefined): JsonObject {
  if (file === undefined) return {};
  let text: string;
  try {
    text = readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (error) {
    throw usage(`--args can't be read: ${(error as Error).message}.`);
  }
  const value = jsonOf('--args', text);
  if (isObject(value)) return value;
  throw usage('--args must be an object.');
}
