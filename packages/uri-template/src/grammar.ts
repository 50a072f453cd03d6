/** How one kind of expression expands: a row of the table in RFC 6570, appendix A. */
export interface Operator {
  /** What opens the expansion, unless it is empty. */
  readonly first: string;
  readonly separator: string;
  /** Whether values are written as `name=value`. */
  readonly named: boolean;
  /** What follows the name of an empty value. */
  readonly ifEmpty: string;
  /** Whether reserved characters (RFC 3986, section 2.2) stand for themselves. */
  readonly reserved: boolean;
}

/** One variable of an expression: RFC 6570, section 2.3. */
export interface Variable {
  readonly name: string;
  /** `{name:3}`: at most so many characters of the value. RFC 6570, section 2.4.1. */
  readonly prefix: number | undefined;
  /** `{name*}`: each member of a list on its own. RFC 6570, section 2.4.2. */
  readonly explode: boolean;
}

/** What stands between braces: RFC 6570, section 2.2. */
export interface Expression {
  readonly operator: Operator;
  readonly variables: readonly Variable[];
}

/** A literal, written as it stands in a URI, or an expression: RFC 6570, section 2. */
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
 * Reads a URI template: RFC 6570, section 2.
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
  refuseRepeatedLists(parts);
  return parts;
}

/** The variables of a template in order of appearance, each as often as it appears. */
export function variablesOf(parts: readonly Part[]): Variable[] {
  return parts.flatMap((part) => (typeof part === 'string' ? [] : part.variables));
}

// RFC 6570, section 2.1, but for the apostrophe: in a URI it may stand (RFC 3986, section 2.2).
const NOT_LITERAL = /[\p{Cc}\p{Cs} "<>\\^`|}]|%(?![\dA-Fa-f]{2})/u;

function readLiteral(text: string): string {
  const wrong = NOT_LITERAL.exec(text)?.[0];
  if (wrong === '}') throw new SyntaxError('a "}" has no "{" before it');
  if (wrong === '%') throw new SyntaxError('a "%" is not followed by two hexadecimal digits');
  if (wrong !== undefined) throw new SyntaxError(`${JSON.stringify(wrong)} may not stand in a URI`);
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

/** Two occurrences of a string can be compared when matching; two lists cannot be told from one long list. */
function refuseRepeatedLists(parts: readonly Part[]): void {
  const exploded = new Map<string, boolean>();
  for (const { name, explode } of variablesOf(parts)) {
    if (exploded.has(name) && (explode || exploded.get(name))) {
      throw new SyntaxError(`the variable "${name}" is a list and appears twice`);
    }
    exploded.set(name, explode);
  }
}

/** Percent-encodes all but unreserved characters: RFC 6570, section 3.2.1. */
export function encodeUnreserved(text: string): string {
  const escape = (mark: string) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, escape);
}

/** Percent-encodes all but unreserved and reserved characters and what is encoded already: RFC 6570, section 3.2.1. */
export function encodeReserved(text: string): string {
  const encode = (found: string) => (found.length === 3 ? found : encodeURIComponent(found));
  return text.replaceAll(/%[\dA-Fa-f]{2}|[^\w\-.~:/?#[\]@!$&'()*+,;=]/gu, encode);
}
