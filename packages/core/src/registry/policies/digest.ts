import { createHash } from 'node:crypto';

import { isObject } from '@decorum/schema/internal';

const sorted = (_name: string, value: unknown): unknown =>
  isObject(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value;

/** A digest of JSON: equal for equal values, whatever the order of their keys. */
export const digestOf = (json: unknown): string =>
  createHash('sha256').update(JSON.stringify(json, sorted)).digest('base64');
