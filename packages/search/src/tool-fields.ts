import type { JsonObject, ToolEntry } from '@decorum/core';
import { isObject } from '@decorum/core/internal';

import { stemsOf } from './words.js';

/** What is searched, as stems with spaces between them. */
export interface Fields {
  readonly name: string;
  /** The title, and the first sentence of the description. */
  readonly summary: string;
  /** The rest of the description. */
  readonly description: string;
  /** The names of arguments, and the values that they may have. */
  readonly parameters: string;
  /** The descriptions of arguments. */
  readonly details: string;
}

/** The names of the fields. */
export const FIELDS = ['name', 'summary', 'description', 'parameters', 'details'] as const satisfies (keyof Fields)[];

/** Longer texts are cut: those of other servers may have any length. */
const MAX_TEXT = 4000;
const MAX_ARGUMENTS = 100;
const MAX_DEPTH = 3;

/** Addresses of links say nothing, in Markdown and elsewhere. */
const ADDRESSES = /\]\([^()\s]*\)|https?:\/\/[^\s)]+/g;

const stems = (...texts: readonly (string | undefined)[]): string => {
  const text = texts.filter((each) => each !== undefined).join(' ');
  return stemsOf(text.slice(0, MAX_TEXT).replaceAll(ADDRESSES, ' ')).join(' ');
};

const kept = new WeakMap<object, Fields>();

/** What is searched of a tool. Kept for as long as its entry, because many indexes may have it. */
export function fieldsOf(entry: ToolEntry): Fields {
  const known = kept.get(entry);
  if (known) return known;
  const { name, title, description = '', inputSchema } = entry;
  const [, summary = '', rest = ''] =
    /^([^]*?(?:[.!?](?=\s)|[\n\r\u2028\u2029]|$))([^]*)$/.exec(description.slice(0, MAX_TEXT)) ?? [];
  const args = argumentsOf(inputSchema, MAX_DEPTH);
  const fields = {
    name: stems(name),
    summary: stems(title, summary),
    description: stems(rest),
    parameters: stems(...args.map(([key]) => key)),
    details: stems(...args.map(([, described]) => described)),
  };
  kept.set(entry, fields);
  return fields;
}

/** The names and values of arguments, and their descriptions, also of nested ones. */
function argumentsOf({ properties, items }: JsonObject, depth: number): [names: string, description: string][] {
  const inner = isObject(items) && depth > 0 ? argumentsOf(items, depth - 1) : [];
  if (!isObject(properties)) return inner;
  const own = Object.entries(properties).slice(0, MAX_ARGUMENTS);
  const found = own.flatMap(([name, schema]): [string, string][] => {
    if (!isObject(schema)) return [[name, '']];
    const { description, enum: values = [] } = schema;
    const nested = depth > 0 ? argumentsOf(schema, depth - 1) : [];
    const texts = Array.isArray(values)
      ? values.slice(0, MAX_ARGUMENTS).filter((each) => typeof each === 'string')
      : [];
    return [[[name, ...texts].join(' '), typeof description === 'string' ? description : ''], ...nested];
  });
  return [...inner, ...found].slice(0, MAX_ARGUMENTS);
}
