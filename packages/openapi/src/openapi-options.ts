import type { Context, ToolEntry } from '@decorum/core';
import { type OptionTypes, requireOptions, type SourceOptions, startupError } from '@decorum/core/plugin';

import { isObject } from './json.js';

/** An operation of the document, for `include` and `exclude`. */
export interface OperationInfo {
  /** Undefined if the document gives it none. */
  readonly operationId: string | undefined;
  /** In upper case, such as `GET`. */
  readonly method: string;
  /** As in the document, such as `/pets/{petId}`. */
  readonly path: string;
  readonly tags: readonly string[];
}

/** Which operations are meant: their `operationId`s, or their methods and paths, such as `GET /pets/{petId}`. */
export type OperationFilter = readonly string[] | ((operation: OperationInfo) => boolean);

/** What to change about an operation. */
export interface OperationChanges {
  /** The name of its tool or resource. */
  readonly name?: string;
  readonly description?: string;
  readonly annotations?: ToolEntry['annotations'];
  /** Serves a `GET` as a resource or a resource template, in place of a tool. */
  readonly resource?: boolean;
}

/** Headers of requests, or a function that returns them for the caller of a tool. */
export type RequestHeadersSource =
  | Readonly<Record<string, string>>
  | ((ctx: Context) => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>);

interface OwnOptions {
  /**
   * Where requests go: nowhere else, whatever the document's `servers` and the API's redirects say. A query, such as
   * `?key=…`, is sent with each request.
   */
  readonly baseUrl: string | URL;
  /**
   * Headers that each request gets, such as `authorization`. Models can't set or read them, and they win against
   * parameters of the same name.
   */
  readonly headers?: RequestHeadersSource;
  /** The operations to serve. Defaults to all. */
  readonly include?: OperationFilter;
  /** Operations that are left out. */
  readonly exclude?: OperationFilter;
  /** Changes to operations, by `operationId`, or by method and path: `{ 'GET /pets': { name: 'pets' } }`. */
  readonly operations?: Readonly<Record<string, OperationChanges>>;
  /**
   * Serves each `GET` as a resource or a resource template, in place of a tool, except those with required headers or
   * cookies. Defaults to false.
   */
  readonly resource?: boolean;
  /** Whether tools publish the schema of their results. Defaults to true. */
  readonly output?: boolean;
  /**
   * Whether the parser validates the whole document, unless its references multiply to more than ten million parts.
   * Defaults to true.
   */
  readonly validate?: boolean;
  /**
   * Folders, files and URLs that `$ref`s may lead to, such as `['./schemas/', 'https://specs.example.com/']`. Defaults
   * to none: references within the document are all that work.
   */
  readonly externalRefs?: readonly (string | URL)[];
  /** Cap on the characters of an error's body that models see. Defaults to 2,000. */
  readonly maxErrorChars?: number;
  /** Cap on the bytes of a response, after decompression. Defaults to 1 MiB. */
  readonly maxResponseBytes?: number;
  /** How long a request may take, with its redirects and its body, in milliseconds. Defaults to 30,000. */
  readonly timeoutMs?: number;
}

/** Options of `openapi`. Those of all sources, such as `prefix` and `access`, apply to all members. */
export interface OpenApiOptions extends SourceOptions, OwnOptions {}

const OWN: OptionTypes<OwnOptions> = {
  baseUrl: true,
  headers: true,
  include: true,
  exclude: true,
  operations: 'object',
  resource: 'boolean',
  output: 'boolean',
  validate: 'boolean',
  externalRefs: 'array',
  maxErrorChars: [0, 1_000_000],
  maxResponseBytes: [1, 1_073_741_824],
  timeoutMs: [1, 3_600_000],
};

/** The options of `server.addMembers`, which checks them. */
const SHARED: OptionTypes<SourceOptions> = {
  prefix: true,
  separator: true,
  uriPrefix: true,
  access: true,
  scopes: true,
  tags: true,
  transform: true,
};

const CHANGES: OptionTypes<OperationChanges> = {
  name: 'string',
  description: 'string',
  annotations: 'object',
  resource: 'boolean',
};

/** The options with their defaults. */
export interface Settings extends OpenApiOptions {
  readonly baseUrl: URL;
  readonly operations: Readonly<Record<string, OperationChanges>>;
  readonly maxErrorChars: number;
  readonly maxResponseBytes: number;
  readonly timeoutMs: number;
  /** Those of `server.addMembers`. */
  readonly shared: SourceOptions;
}

/** The error for a mistake in an option. */
export const wrong = (option: string, problem: string) =>
  startupError('DECORUM_INVALID_OPTION', 'openapi', option, problem);

function baseUrlOf(given: unknown): URL {
  const url = URL.canParse(String(given)) ? new URL(String(given)) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw wrong(
      'baseUrl',
      `is ${given === undefined ? 'missing' : `"${String(given)}"`}. Write baseUrl: 'https://api.example.com'`,
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw wrong('baseUrl', 'has a user and password. Send them in `headers`, as `authorization`');
  }
  if (url.hash !== '') throw wrong('baseUrl', 'has a fragment. Remove it');
  return url;
}

function checkFilter(option: 'include' | 'exclude', value: unknown): void {
  if (value === undefined || typeof value === 'function') return;
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return;
  throw wrong(option, `must be a list such as ['listPets', 'GET /pets/{petId}'], or a function`);
}

const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const HEADER_VALUE = /^[\t\u0020-\u007E\u0080-\u00FF]*$/;

/** What is wrong with headers; undefined if nothing is. */
export function headersMistake(headers: unknown): string | undefined {
  if (!isObject(headers)) return 'must be an object, or a function that returns one';
  for (const [name, value] of Object.entries(headers)) {
    if (!HEADER_NAME.test(name)) return `has the name ${JSON.stringify(name)}, which no header can have`;
    if (typeof value !== 'string') return `has a value for "${name}" that is not a string`;
    if (!HEADER_VALUE.test(value)) return `has a value for "${name}" with characters that headers can't have`;
  }
  return undefined;
}

/**
 * Checks the options, and adds the defaults.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function settingsOf(options: OpenApiOptions): Settings {
  requireOptions('openapi', options, { ...OWN, ...SHARED });
  const { headers = {}, include, exclude, operations = {}, externalRefs = [] } = options;
  if (typeof headers !== 'function') {
    const mistake = headersMistake(headers);
    if (mistake !== undefined) throw wrong('headers', mistake);
  }
  checkFilter('include', include);
  checkFilter('exclude', exclude);
  for (const [key, changes] of Object.entries(operations))
    requireOptions(`openapi (operations.${key})`, changes, CHANGES);
  if (!externalRefs.every((each) => typeof each === 'string' || each instanceof URL)) {
    throw wrong('externalRefs', "must be a list of folders, files and URLs, such as ['./schemas/']");
  }
  const shared = Object.fromEntries(Object.entries(options).filter(([name]) => name in SHARED)) as SourceOptions;
  return {
    maxErrorChars: 2000,
    maxResponseBytes: 1_048_576,
    timeoutMs: 30_000,
    ...Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)),
    baseUrl: baseUrlOf(options.baseUrl),
    operations,
    shared,
  };
}
