import type { JsonObject } from '@decorum/core';

import type { Input } from './input-schema.js';
import { own } from './json.js';
import type { Operation, Parameter } from './operation.js';
import { type PathTemplate, urlOf } from './path-template.js';
import { writeBody, type WrittenBody } from './request-body.js';
import { requireHeaderValue, requirePathValue } from './safe-values.js';
import { inHeader, inPath, inQuery } from './styles.js';

/** A request to the API. */
export interface ApiRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  readonly body: WrittenBody | undefined;
}

/** Where the requests of an operation go. */
export interface RequestTarget {
  readonly baseUrl: URL;
  readonly template: PathTemplate;
  /** The media types that the operation answers with. */
  readonly accept: string;
}

/** The values of the arguments that go to one place. */
type Given = readonly { readonly parameter: Parameter; readonly argument: string; readonly value: unknown }[];

/** A value of a parameter with `content` is JSON, or text as it is. */
const contentOf = ({ mediaType }: Parameter, value: unknown): unknown =>
  mediaType === undefined || (typeof value === 'string' && !/[/+]json/i.test(mediaType))
    ? value
    : JSON.stringify(value);

function pathValues({ variables }: PathTemplate, given: Given): string[] {
  return variables.map((variable) => {
    const found = given.find(({ parameter }) => parameter.in === 'path' && parameter.name === variable);
    const { parameter, value, argument = variable } = found ?? {};
    const written =
      parameter && value !== null && value !== undefined
        ? inPath(variable, contentOf(parameter, value), parameter)
        : '';
    requirePathValue(argument, written);
    return written;
  });
}

const queryPairs = (given: Given): string[] =>
  given.flatMap(({ parameter, value }) => {
    if (parameter.in !== 'query') return [];
    return value === undefined || value === null ? [] : inQuery(parameter.name, contentOf(parameter, value), parameter);
  });

const valueOfCookie = (cookie: string): string => cookie.slice(0, cookie.indexOf('='));

const canonical = (header: string): string => header.toLowerCase().replaceAll('_', '-');

/**
 * The headers of a request. Those of the server's own options win.
 * @throws {ToolError} for values that headers can't carry
 */
function headersOf(given: Given, fixed: Readonly<Record<string, string>>, accept: string): Headers {
  const headers = new Headers({ accept });
  // many servers take `X_Api_Key` for `X-Api-Key`
  const taken = new Set(Object.keys(fixed).map(canonical));
  const cookies: string[] = [];
  for (const { parameter, argument, value } of given) {
    if (value === undefined || value === null) continue;
    if (parameter.in === 'header') {
      const written = inHeader(contentOf(parameter, value), parameter.explode);
      requireHeaderValue(argument, written);
      if (!taken.has(canonical(parameter.name))) headers.set(parameter.name, written);
    }
    if (parameter.in === 'cookie') cookies.push(...inQuery(parameter.name, contentOf(parameter, value), parameter));
  }
  for (const [name, value] of Object.entries(fixed)) headers.set(name, value);
  const fixedCookies = headers.get('cookie');
  const names = new Set((fixedCookies ?? '').split(/;\s*/).map(valueOfCookie));
  const all = [
    ...(fixedCookies === null ? [] : [fixedCookies]),
    ...cookies.filter((each) => !names.has(valueOfCookie(each))),
  ];
  if (all.length > 0) headers.set('cookie', all.join('; '));
  return headers;
}

function bodyValue({ bindings, body }: Input, args: JsonObject): unknown {
  const bound = bindings
    .filter((each) => each.in === 'body')
    .filter(({ argument }) => own(args, argument) !== undefined);
  const whole = bound.find(({ field }) => field === undefined);
  if (whole !== undefined) return args[whole.argument];
  if (bound.length === 0 && body?.required !== true) return undefined;
  return body?.fields && Object.fromEntries(bound.map(({ field, argument }) => [field as string, args[argument]]));
}

/**
 * Writes the request of a call.
 * @param args the arguments, which fit the schema of the input
 * @param fixed headers that models can't set
 * @throws {ToolError} for arguments that the request can't carry
 */
export function requestOf(
  { method }: Operation,
  { input, target }: { readonly input: Input; readonly target: RequestTarget },
  { args, fixed }: { readonly args: JsonObject; readonly fixed: Readonly<Record<string, string>> },
): ApiRequest {
  const { baseUrl, template, accept } = target;
  const given = input.bindings.flatMap((each) =>
    each.in === 'parameter'
      ? [{ parameter: each.parameter, argument: each.argument, value: own(args, each.argument) }]
      : [],
  );
  const url = urlOf(baseUrl, template, { values: pathValues(template, given), query: queryPairs(given) });
  const headers = headersOf(given, fixed, accept);
  const value = bodyValue(input, args);
  const body = input.body && value !== undefined ? writeBody(value, input.body) : undefined;
  if (body?.contentType !== undefined && !headers.has('content-type')) headers.set('content-type', body.contentType);
  return { method, url, headers, body };
}
