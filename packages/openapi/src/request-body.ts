import { ToolError } from '@decorum/core';

import type { BodyFormat, FieldFormat } from './body-format.js';
import { isObject } from './json.js';
import { inQuery } from './styles.js';

/** A body as it is sent. */
export interface WrittenBody {
  /** Undefined if the body itself says it, as multipart does with its boundary. */
  readonly contentType: string | undefined;
  readonly data: string | Uint8Array<ArrayBuffer> | FormData;
}

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

function bytesOf(argument: string, value: unknown): Uint8Array<ArrayBuffer> {
  const text = typeof value === 'string' ? value.replaceAll(/\s/g, '') : undefined;
  if (text === undefined || !BASE64.test(text)) throw new ToolError(`${argument}: must be base64`);
  return new Uint8Array(Buffer.from(text, 'base64'));
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

const isPresent = (value: unknown): boolean => value !== undefined && value !== null;

function part(name: string, value: unknown, { isBinary, contentType }: FieldFormat): Blob | string {
  if (isBinary) return new Blob([bytesOf(name, value)], { type: contentType ?? 'application/octet-stream' });
  if (contentType !== undefined) return new Blob([textOf(value)], { type: contentType });
  return isObject(value) ? new Blob([JSON.stringify(value)], { type: 'application/json' }) : textOf(value);
}

function writeMultipart(body: object, { formatOf }: BodyFormat): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(body)) {
    const format = formatOf(name);
    for (const each of [value].flat().filter(isPresent)) {
      const written = part(name, each, format);
      if (typeof written === 'string') form.append(name, written);
      else if (format.isBinary) form.append(name, written, name);
      else form.append(name, written);
    }
  }
  return form;
}

function writeForm(body: object, { formatOf }: BodyFormat): string {
  const pairs = Object.entries(body).flatMap(([name, value]) => {
    const { style, explode, allowReserved } = formatOf(name);
    const isPlain = style === undefined && explode === undefined && !allowReserved;
    // without a style, objects are JSON
    const written = isPlain && isObject(value) ? JSON.stringify(value) : value;
    const chosen = style ?? 'form';
    return inQuery(name, written, { style: chosen, explode: explode ?? chosen === 'form', allowReserved });
  });
  return pairs.join('&').replaceAll('%20', '+');
}

/**
 * Writes a body.
 * @param value the fields of an object body, or the whole of it
 * @throws {ToolError} for what the format can't carry
 */
export function writeBody(value: unknown, format: BodyFormat): WrittenBody {
  const { kind, mediaType: contentType } = format;
  if (kind === 'json') return { contentType, data: JSON.stringify(value) };
  if (kind === 'text') return { contentType, data: textOf(value) };
  if (kind === 'binary') return { contentType, data: bytesOf('body', value) };
  if (!isObject(value)) throw new ToolError('body: must be an object');
  if (kind === 'form') return { contentType, data: writeForm(value, format) };
  return { contentType: undefined, data: writeMultipart(value, format) };
}
