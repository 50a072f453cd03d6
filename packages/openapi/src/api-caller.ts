import type { Context, JsonObject } from '@decorum/core';

import type { Input } from './input-schema.js';
import { headersMistake, type Settings } from './openapi-options.js';
import type { Operation } from './operation.js';
import { pathTemplateOf } from './path-template.js';
import { requestOf } from './request.js';
import { requireExactNumbers } from './safe-values.js';
import { type ApiAnswer, send } from './send.js';

/** Bytes that an error's body is read to, for each character of it that is shown. */
const BYTES_PER_CHARACTER = 4;

async function fixedHeaders({ headers = {} }: Settings, ctx: Context): Promise<Readonly<Record<string, string>>> {
  if (typeof headers !== 'function') return headers;
  const made = await headers(ctx);
  const mistake = headersMistake(made);
  if (mistake !== undefined) throw new TypeError(`openapi: \`headers\` returned an object that ${mistake}.`);
  return made;
}

/** What calls an operation of the API. */
export type ApiCaller = (args: JsonObject, ctx: Context) => Promise<ApiAnswer>;

/**
 * Prepares the calls of an operation.
 * @param accept the `Accept` header
 * @throws {DecorumError} `DECORUM_INVALID_OPTION` for a path that could leave the base URL
 */
export function apiCaller(
  operation: Operation,
  { input, accept, where }: { readonly input: Input; readonly accept: string; readonly where: string },
  settings: Settings,
): ApiCaller {
  const { baseUrl, maxResponseBytes, maxErrorChars, timeoutMs } = settings;
  const target = { baseUrl, accept, template: pathTemplateOf(operation.path, where, operation.where) };
  const limits = { baseUrl, maxResponseBytes, timeoutMs, maxErrorBytes: BYTES_PER_CHARACTER * maxErrorChars };
  return async (args, ctx) => {
    for (const [argument, value] of Object.entries(args)) requireExactNumbers(argument, value);
    const fixed = await fixedHeaders(settings, ctx);
    return await send(requestOf(operation, { input, target }, { args, fixed }), ctx.signal, limits);
  };
}
