/** How an operator expands: a row of the table in RFC 6570, appendix A. */
export interface Operator {
  /** Character before the first value. */
  readonly first: string;
  readonly separator: string;
  /** Whether values are written as `name=value`. */
  readonly named: boolean;
  /** Text after the name of an empty value. */
  readonly ifEmpty: string;
  /** Whether reserved characters (RFC 3986, section 2.2) are left unencoded. */
  readonly reserved: boolean;
}

/** A variable of an expression: RFC 6570, section 2.3. */
export interface Variable {
  readonly name: string;
  /** `{name:3}`: the maximum number of characters. RFC 6570, section 2.4.1. */
  readonly prefix: number | undefined;
  /** `{name*}`: each item of a list separately. RFC 6570, section 2.4.2. */
  readonly explode: boolean;
}

/** The content of a pair of braces: RFC 6570, section 2.2. */
export interface Expression {
  readonly operator: Operator;
  readonly variables: readonly Variable[];
}

/** A literal, encoded as in a URI, or an expression: RFC 6570, section 2. */
export type Part = string | Expression;

const plain: Operator = { first: '', separator: ',', named: false, ifEmpty: '', reserved: false };
const OPERATORS = new Map<string, Operator>([
  ['', plain],
  ['+', { ...plain, reserved: true }],
  ['#', { ...plain, first: '#', reserved: true }],
  ['.', { ...plain, first: '.', separator: '.' }],
  ['/', { ...plain, first: '/', separator: '/' }],
  [';', { ...plain, first: ';', separator: ';', named: true }],
  ['?', { ...plain, first: '?', separator: '&', named: true, ifEmpty: '=' }],
  ['&', { ...plain, first: '&', separator: '&', named: true, ifEmpty: '=' }],
]);

/**
 * Parses a URI template: RFC 6570, section 2.
 * @throws {SyntaxError} with the reason
 */
export function parseTemplate(text: string): readonly Part[] {
  const parts: Part[] = [];
  for (let at = 0; at < text.length;) {
    const open = text.indexOf('{', at);
    if (open !== at) parts.push(readLiteral(text.slice(at, open < 0 ? undefined : open)));
    if (open < 0) break;
    const close = text.indexOf('}', open);
    if (close < 0) throw new SyntaxError(`the "{" at position ${open} is never closed`);
    parts.push(readExpression(text.slice(open + 1, close)));
    at = close + 1;
  }
  rejectRepeatedLists(parts);
  return parts;
}

/** All occurrences of variables, in order. */
export function variablesOf(parts: readonly Part[]): Variable[] {
  return parts.flatMap((part) => (typeof part === 'string' ? [] : part.variables));
}

// RFC 6570, section 2.1, except that it allows the apostrophe, which is valid in URIs (RFC 3986, section 2.2).
const NOT_LITERAL = /[\p{Cc}\p{Cs} "<>\\^`|}]|%(?![\dA-Fa-f]{2})/u;

function readLiteral(text: string): string {
  const wrong = NOT_LITERAL.exec(text)?.[0];
  if (wrong === '}') throw new SyntaxError('a "}" has no "{" before it');
  if (wrong === '%') throw new SyntaxError('a "%" is not followed by two hexadecimal digits');
  if (wrong !== undefined) throw new SyntaxError(`${JSON.stringify(wrong)} is not allowed in a URI`);
  return encodeReserved(text);
}

function readExpression(text: string): Expression {
  if (text === '') throw new SyntaxError('an expression is empty');
  const sign = /^\w|^%/.test(text) ? '' : text.slice(0, 1);
  const operator = OPERATORS.get(sign);
  if (!operator) throw new SyntaxError(`"${sign}" in "{${text}}" is not an operator`);
  return { operator, variables: text.slice(sign.length).split(',').map(readVariable) };
}

const VARIABLE = /^((?:\w|%[\dA-Fa-f]{2})(?:\.?(?:\w|%[\dA-Fa-f]{2}))*)(?:(\*)|:([1-9]\d{0,3}))?$/;

function readVariable(text: string): Variable {
  const [, name, star, prefix] = VARIABLE.exec(text) ?? [];
  if (name !== undefined) return { name, explode: star === '*', prefix: prefix === undefined ? undefined : +prefix };
  const colon = text.indexOf(':');
  if (colon > 0) throw new SyntaxError(`the prefix "${text.slice(colon)}" is not a number from 1 to 9999`);
  throw new SyntaxError(`"${text}" is not a variable name`);
}

/** Matching can compare two occurrences of a string, but cannot tell where one list ends and the next begins. */
function rejectRepeatedLists(parts: readonly Part[]): void {
  const exploded = new Map<string, boolean>();
  for (const { name, explode } of variablesOf(parts)) {
    if (exploded.has(name) && (explode || exploded.get(name))) {
      throw new SyntaxError(`the variable "${name}" is a list and appears twice`);
    }
    exploded.set(name, explode);
  }
}

/** Percent-encodes everything but unreserved characters: RFC 6570, section 3.2.1. */
export function encodeUnreserved(text: string): string {
  const escape = (mark: string) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, escape);
}

/** Percent-encodes everything but unreserved and reserved characters and existing octets: RFC 6570, section 3.2.1. */
export function encodeReserved(text: string): string {
  const encode = (found: string) => (found.length === 3 ? found : encodeURIComponent(found));
  return text.replaceAll(/%[\dA-Fa-f]{2}|[^\w\-.~:/?#[\]@!$&'()*+,;=]/gu, encode);
}
