import { ToolError } from '@decorum/core';
import { startupError } from '@decorum/core/plugin';

import { wellFormed } from './json.js';

/** A path of the document: literals, and names of variables. */
export interface PathTemplate {
  /** Literals and variables in turn, beginning and ending with a literal. */
  readonly literals: readonly string[];
  readonly variables: readonly string[];
  /** A query that the document has in the path. */
  readonly query: string;
}

/** Encodes what a path can't have. Escapes stay. */
const encodeLiteral = (text: string): string =>
  encodeURI(wellFormed(text).replaceAll('\\', '%5C')).replaceAll(/%25([0-9a-f]{2})/gi, '%$1');

/** The segments that a URL parser removes, in each of their spellings. */
const DOTS = /(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i;

/**
 * Reads a path of the document.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION` for a path that could leave the base URL
 */
export function pathTemplateOf(path: string, where: string, place: string): PathTemplate {
  // some documents tell operations of one path apart by a fragment, which is no part of a request
  const [sent = ''] = path.split('#');
  const [route = '', ...queries] = sent.split('?');
  const parts = route.split(/\{([^{}]+)\}/);
  const literals = parts.filter((_, at) => at % 2 === 0).map(encodeLiteral);
  if (DOTS.test(literals.join('x'))) {
    throw startupError(
      'DECORUM_INVALID_OPTION',
      where,
      place,
      'has a path with "." or "..", which leads elsewhere. Correct it',
    );
  }
  return {
    literals,
    variables: parts.filter((_, at) => at % 2 === 1),
    query: encodeURI(wellFormed(queries.join('?'))),
  };
}

/** The name in a pair of a query, as a server reads it. */
const nameOf = (pair: string): string => [...new URLSearchParams(pair).keys()][0] ?? '';

/**
 * The URL of a request. What the base URL has in its query wins.
 * @param values the written values of the variables, in their order
 * @param query `name=value` pairs
 * @throws {ToolError} for values that would lead out of the base URL
 */
export function urlOf(
  base: URL,
  { literals, query: own }: PathTemplate,
  { values, query }: { readonly values: readonly string[]; readonly query: readonly string[] },
): URL {
  const root = base.pathname.replace(/\/+$/, '');
  const path = root + literals.map((literal, at) => literal + (values[at] ?? '')).join('');
  const fixed = base.searchParams;
  const others = [...own.split('&'), ...query].filter((pair) => !fixed.has(nameOf(pair)));
  const search = [base.search.slice(1), ...others].filter((part) => part !== '').join('&');
  const url = new URL(base.origin + path + (search === '' ? '' : `?${search}`));
  // the URL parser must have changed nothing
  if (url.origin === base.origin && url.pathname === path && url.hash === '') return url;
  throw new ToolError('The arguments would lead to another place than this operation');
}
