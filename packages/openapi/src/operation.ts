import type { JsonObject } from '@decorum/core';
import { type OptionTypes, requireOptions, startupError } from '@decorum/core/plugin';

import { entriesOf, isObject, own } from './json.js';
import type { OpenDocument } from './open-document.js';
import type { OperationChanges, OperationInfo } from './openapi-options.js';

/** Where a parameter goes. */
export type Place = 'path' | 'query' | 'header' | 'cookie';

const PLACES: readonly string[] = ['path', 'query', 'header', 'cookie'] satisfies Place[];

/** A parameter of an operation. */
export interface Parameter {
  readonly in: Place;
  readonly name: string;
  readonly required: boolean;
  readonly description: unknown;
  readonly schema: unknown;
  readonly style: string;
  readonly explode: boolean;
  readonly allowReserved: boolean;
  /** The media type of a parameter with `content`. */
  readonly mediaType: string | undefined;
}

/** What `x-mcp` of an operation says. */
export interface Hints extends OperationChanges {
  /** Tags of its tool or resource. */
  readonly tags?: readonly string[];
  /** Leaves the operation out. */
  readonly hidden?: boolean;
}

/** An operation of the document. */
export interface Operation extends OperationInfo {
  readonly definition: JsonObject;
  readonly parameters: readonly Parameter[];
  readonly hints: Hints;
  /** The operation in error messages. */
  readonly where: string;
}

/** `trace` is left out: `fetch` can't send it. */
const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'] as const;

/** Headers that OpenAPI ignores, that only the server's own options may set, or that belong to the connection. */
const DROPPED = new Set(
  (
    'accept content-type host authorization cookie content-length content-encoding transfer-encoding connection ' +
    'keep-alive te trailer upgrade expect proxy-authorization proxy-connection proxy-authenticate forwarded via set-cookie'
  ).split(' '),
);

const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;

/** Whether a parameter is a header that models can't set, or that no request can have. */
const isDropped = ({ in: place, name }: Parameter): boolean =>
  place === 'header' && (DROPPED.has(name.toLowerCase()) || !HEADER_NAME.test(name));

const HINTS: OptionTypes<Hints> = {
  name: 'string',
  description: 'string',
  annotations: 'object',
  resource: 'boolean',
  tags: 'array',
  hidden: 'boolean',
};

/** Clients refuse a whole list for an annotation of another type. */
const ANNOTATIONS: OptionTypes<NonNullable<OperationChanges['annotations']>> = {
  title: 'string',
  readOnlyHint: 'boolean',
  destructiveHint: 'boolean',
  idempotentHint: 'boolean',
  openWorldHint: 'boolean',
};

const MAX_PARAMETERS = 500;

function parameterOf(given: unknown, document: OpenDocument, where: string): Parameter {
  const definition = document.references.follow(given);
  const { in: place, name, required, description, schema, content } = definition;
  if (typeof name !== 'string' || !PLACES.includes(String(place))) {
    const problem = 'has a parameter without `name`, or whose `in` is not path, query, header or cookie. Correct it';
    throw startupError('DECORUM_INVALID_OPTION', document.where, where, problem);
  }
  const [media] = entriesOf(content);
  const { style, explode, allowReserved } = definition;
  const usual = place === 'query' || place === 'cookie' ? 'form' : 'simple';
  const chosen = typeof style === 'string' ? style : usual;
  return {
    in: place as Place,
    name,
    required: required === true || place === 'path',
    description,
    schema: media === undefined ? schema : own(media[1], 'schema'),
    style: chosen,
    explode: typeof explode === 'boolean' ? explode : chosen === 'form' || chosen === 'deepObject',
    // elsewhere, a reserved character could begin a second value
    allowReserved: allowReserved === true && place === 'query',
    mediaType: media?.[0],
  };
}

/** The parameters of an operation, in the order of their places. Its own replace those of its path. */
function parametersOf(lists: readonly unknown[], document: OpenDocument, where: string): Parameter[] {
  const found = new Map<string, Parameter>();
  for (const given of lists.flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : []))) {
    const parameter = parameterOf(given, document, where);
    found.set(`${parameter.in} ${parameter.name}`, parameter);
  }
  if (found.size > MAX_PARAMETERS) {
    const problem = `has ${found.size} parameters, and at most ${MAX_PARAMETERS} are served. Exclude the operation`;
    throw startupError('DECORUM_INVALID_OPTION', document.where, where, problem);
  }
  const rank = ({ in: place }: Parameter) => PLACES.indexOf(place);
  return [...found.values()].filter((each) => !isDropped(each)).toSorted((a, b) => rank(a) - rank(b));
}

/** The variables of a path. In a query, braces are text. */
const pathVariables = (path: string): string[] =>
  [...path.replace(/\?.*/s, '').matchAll(/\{([^{}]+)\}/g)].map(([, name]) => name as string);

/** Parameters for the variables of a path that the document does not describe. */
function undescribed(path: string, known: readonly Parameter[]): Parameter[] {
  const names = new Set(known.filter((each) => each.in === 'path').map(({ name }) => name));
  return [...new Set(pathVariables(path))]
    .filter((name) => !names.has(name))
    .map((name) => ({
      in: 'path',
      name,
      required: true,
      description: undefined,
      schema: { type: 'string' },
      style: 'simple',
      explode: false,
      allowReserved: false,
      mediaType: undefined,
    }));
}

function hintsOf(definition: JsonObject, where: string): Hints {
  const hints = definition['x-mcp'];
  if (hints === undefined) return {};
  requireOptions(`${where} (x-mcp)`, isObject(hints) ? hints : { hidden: hints }, HINTS);
  const annotations = own(hints, 'annotations');
  if (annotations !== undefined) requireOptions(`${where} (x-mcp.annotations)`, annotations, ANNOTATIONS);
  return hints as Hints;
}

/**
 * The operations of a document, in its order.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION` for a mistake that keeps an operation from being called
 */
export function operationsOf(document: OpenDocument): Operation[] {
  const { root, references, where } = document;
  return entriesOf(root['paths']).flatMap(([path, item]) => {
    if (path.startsWith('x-')) return [];
    const shared = references.follow(item);
    return METHODS.filter((method) => isObject(shared[method])).map((lower): Operation => {
      const definition = shared[lower] as JsonObject;
      const method = lower.toUpperCase();
      const place = `${method} ${path}`;
      if (!path.startsWith('/')) {
        throw startupError(
          'DECORUM_INVALID_OPTION',
          where,
          place,
          'has a path that does not begin with "/". Correct it',
        );
      }
      const { operationId, tags } = definition;
      const described = parametersOf([shared['parameters'], definition['parameters']], document, place);
      const variables = new Set(pathVariables(path));
      const used = described.filter((each) => each.in !== 'path' || variables.has(each.name));
      return {
        operationId: typeof operationId === 'string' && operationId !== '' ? operationId : undefined,
        method,
        path,
        tags: Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : [],
        definition,
        parameters: [...undescribed(path, used), ...used],
        hints: hintsOf(definition, `${where}: ${place}`),
        where: place,
      };
    });
  });
}
