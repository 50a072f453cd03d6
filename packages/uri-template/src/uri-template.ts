import {
  encodeReserved,
  encodeUnreserved,
  type Expression,
  type Operator,
  parseTemplate,
  type Part,
  type Variable,
  variablesOf,
} from './grammar.js';
import { compileMachine, type Machine, runMachine, type Subject, subjectOf, upperCaseOctets } from './machine.js';
import { firstCharacters, readValues, type TemplateMatch } from './values.js';

export type { TemplateMatch } from './values.js';

/** A value that is written as a string. */
type Scalar = string | number | boolean;

/** Value of a variable: a string, a list, an associative array, or undefined. RFC 6570, section 2.3. */
export type TemplateValue =
  | Scalar
  | readonly (Scalar | null | undefined)[]
  | Readonly<{ [key: string]: Scalar | null | undefined }>
  | null
  | undefined;

/**
 * Longer URIs don't match, which bounds the memory of matching. RFC 9110, section 4.1, recommends at least 8,000
 * octets.
 */
const LONGEST_URI = 65_536;

/**
 * A URI template: RFC 6570, all four levels.
 * @example
 * ```ts
 * import { UriTemplate } from '@decorum/uri-template';
 *
 * const template = new UriTemplate('weather://{city}/today{?units}');
 * template.expand({ city: 'Oslo', units: 'metric' }); // 'weather://Oslo/today?units=metric'
 * template.match('weather://Oslo/today')?.values; // { city: 'Oslo' }
 * ```
 */
export class UriTemplate {
  /** The template's source text. */
  readonly template: string;
  /** Distinct names of the variables, in order of appearance. */
  readonly variables: readonly string[];
  /** The text before the first expression. Every matching URI starts with it. */
  readonly prefix: string;
  /**
   * The number of literal characters. If several templates match a URI, the one with the highest number is the most
   * specific.
   */
  readonly specificity: number;
  private readonly parts: readonly Part[];
  /** The prefix in comparable form: its first `anyCase` characters are in lower case. */
  private readonly head: string;
  private readonly anyCase: number;
  private readonly machine: Machine;
  /** The literals after the prefix, in comparable form, and whether the template ends with the last one. */
  private readonly literals: readonly string[];
  private readonly endsWithLiteral: boolean;

  /** @throws {SyntaxError} with the reason, if the text is not a valid template */
  constructor(template: string) {
    const parts = parseTemplate(template);
    const [first] = parts;
    this.template = template;
    this.parts = parts;
    this.variables = [...new Set(variablesOf(parts).map(({ name }) => name))];
    this.prefix = typeof first === 'string' ? first : '';
    this.specificity = parts.reduce((sum, part) => sum + (typeof part === 'string' ? part.length : 0), 0);
    this.anyCase = anyCaseLength(this.prefix);
    this.head = comparable(this.prefix, this.anyCase);
    this.machine = compileMachine(parts);
    this.literals = parts.slice(1).flatMap((part) => (typeof part === 'string' ? [upperCaseOctets(part)] : []));
    this.endsWithLiteral = parts.length > 1 && typeof parts.at(-1) === 'string';
  }

  /** Whether a string is a template rather than a URI, which cannot contain braces (RFC 3986, section 2). */
  static isTemplate(text: string): boolean {
    return /[{}]/.test(text);
  }

  /**
   * Expands the template: RFC 6570, section 3. Undefined variables are omitted.
   * @throws {TypeError} for a list or an associative array where the template has a prefix: `{list:3}`
   * @throws {URIError} for a value that is not well-formed Unicode
   */
  expand(values: Readonly<Record<string, TemplateValue>>): string {
    return this.parts.map((part) => (typeof part === 'string' ? part : expand(part, values))).join('');
  }

  /**
   * Matches a URI and returns the values of the variables. RFC 6570, section 1.4, does not define matching.
   *
   * The whole URI must match. If it can be read in several ways, variables are filled from the left, each value as
   * short as the rest allows. The scheme and host of a literal prefix are case-insensitive (RFC 3986, section 6.2.2.1).
   * Every value is percent-decoded exactly once. Invalid ASCII, percent-encoding or UTF-8 does not match.
   *
   * | expression | matches |
   * |---|---|
   * | `{x}` `{x,y}` | all variables, each with one or more unreserved or percent-encoded characters |
   * | `{+x}` `{+x,y}` | the same, and reserved characters such as "/" |
   * | `{.x}` `{/x,y}` `{#x}` | like `{x}` (`{#x}` like `{+x}`); variables may be missing from the right |
   * | `{;x,y}` | parameters in any order, each optional |
   * | `{?x,y}` `{&x}` | the same; unknown parameters are ignored |
   * | `{x:3}` | at most three characters |
   * | `{x*}` | a list, always as an array; associative arrays don't match |
   *
   * The result lacks variables that are missing from the URI. A repeated parameter (except for a list), two different
   * values of one variable, and a prefix that is too long do not match, even if the URI could be read in another way.
   *
   * **No value can escape a directory.** In every variable, regardless of the operator, "." and ".." as a path segment,
   * backslashes and NUL keep the URI from matching, whether plain, percent-encoded (`..%2F`), or encoded several times
   * (`%252e%252e%252f`, in case the handler decodes again). A value may contain "/", even in `{x}` if sent as `%2F`,
   * and may start with it. Join the value to a directory instead of resolving it as a path.
   *
   * The time is linear in the length of the URI. URIs longer than 65,536 characters don't match.
   */
  match(uri: string): TemplateMatch | undefined {
    if (uri.length > LONGEST_URI || /[^!-~]/.test(uri)) return undefined;
    if (comparable(uri.slice(0, this.prefix.length), this.anyCase) !== this.head) return undefined;
    const subject = subjectFor(uri.slice(this.prefix.length));
    if (subject === undefined || !this.hasLiterals(subject.text)) return undefined;
    const captures = runMachine(this.machine, subject);
    return captures && readValues(captures);
  }

  /** Whether a text has all literals in order. Most texts for another template don't, and searching is fast. */
  private hasLiterals(text: string): boolean {
    let at = 0;
    for (const literal of this.literals) {
      const found = text.indexOf(literal, at);
      if (found < 0) return false;
      at = found + literal.length;
    }
    return !this.endsWithLiteral || text.endsWith(this.literals.at(-1) ?? '');
  }
}

/** Length of the scheme and host in a literal prefix. User information before the host is case-sensitive. */
function anyCaseLength(prefix: string): number {
  return /^[a-z][a-z0-9+.-]*:(?:\/\/[^/?#@]*(?![^/?#]))?/i.exec(prefix)?.[0].length ?? 0;
}

function comparable(prefix: string, anyCase: number): string {
  return upperCaseOctets(prefix.slice(0, anyCase).toLowerCase() + prefix.slice(anyCase));
}

let latest: { readonly text: string; readonly subject: Subject | undefined } | undefined;

/** Prepares a text for matching; undefined if it can't be decoded. Templates with one prefix see the same text. */
function subjectFor(text: string): Subject | undefined {
  if (latest?.text !== text) latest = { text, subject: isDecodable(text) ? subjectOf(text) : undefined };
  return latest.subject;
}

function isDecodable(uri: string): boolean {
  try {
    decodeURIComponent(uri);
    return true;
  } catch {
    return false;
  }
}

function expand({ operator, variables }: Expression, values: Readonly<Record<string, TemplateValue>>): string {
  const written = variables.flatMap((variable) => {
    const value = Object.hasOwn(values, variable.name) ? values[variable.name] : undefined;
    return write(variable, operator, value);
  });
  return written.length === 0 ? '' : operator.first + written.join(operator.separator);
}

/** The values to join with the operator's separator; none for an undefined value. RFC 6570, section 3.2.1. */
function write(variable: Variable, operator: Operator, value: TemplateValue): string[] {
  if (value === undefined || value === null) return [];
  const { name, prefix, explode } = variable;
  const encode = operator.reserved ? encodeReserved : encodeUnreserved;
  const pair = (key: string, text: string) => (text === '' ? key + operator.ifEmpty : `${key}=${text}`);
  const member = (text: string) => (operator.named ? pair(name, text) : text);
  if (typeof value !== 'object') return [member(encode(firstCharacters(String(value), prefix)))];
  if (prefix !== undefined) throw new TypeError(`"{${name}:${prefix}}" takes a string, not a list`);

  if (isList(value)) {
    const items = value.flatMap((item) => item ?? []).map((item) => encode(String(item)));
    if (items.length === 0) return [];
    return explode ? items.map(member) : [member(items.join(','))];
  }
  const entries = Object.entries(value).flatMap(([key, item]): [string, string][] =>
    item === undefined || item === null ? [] : [[encode(key), encode(String(item))]],
  );
  if (entries.length === 0) return [];
  if (!explode) return [member(entries.flat().join(','))];
  return entries.map(([key, text]) => (operator.named ? pair(key, text) : `${key}=${text}`));
}

function isList(value: object): value is readonly (Scalar | null | undefined)[] {
  return Array.isArray(value);
}
