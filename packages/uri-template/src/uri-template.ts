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
import { compileMachine, type Machine, runMachine, unitsOf, upperCaseOctets } from './machine.js';
import { firstCharacters, readValues, type TemplateMatch } from './values.js';

export type { TemplateMatch } from './values.js';

/** What is written as a string. */
type Scalar = string | number | boolean;

/** What a variable may stand for when expanding: a string, a list, an associative array or nothing. RFC 6570, section 2.3. */
export type TemplateValue =
  | Scalar
  | readonly (Scalar | null | undefined)[]
  | Readonly<{ [key: string]: Scalar | null | undefined }>
  | null
  | undefined;

/** A longer URI matches nothing, so that a match needs little memory, too. RFC 9110, section 4.1, asks for 8,000 octets. */
const LONGEST_URI = 65_536;

/** A URI template: RFC 6570, all four levels. */
export class UriTemplate {
  /** As it was written. */
  readonly template: string;
  /** The names of the variables, each once, in order of appearance. */
  readonly variables: readonly string[];
  /** The text before the first expression: every URI of the template starts with it. */
  readonly prefix: string;
  /** How many characters are literal. Of two templates that match a URI, the one with more of them says more about it. */
  readonly specificity: number;
  private readonly parts: readonly Part[];
  /** The prefix as it is compared: its first `anyCase` characters are in lower case. */
  private readonly head: string;
  private readonly anyCase: number;
  private readonly machine: Machine;

  /** @throws {SyntaxError} with the reason, when the text is not a template */
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
  }

  /** Whether a text is meant as a template: a URI has no braces (RFC 3986, section 2). */
  static isTemplate(text: string): boolean {
    return /[{}]/.test(text);
  }

  /**
   * Writes the URI for some values: RFC 6570, section 3. An undefined variable is left out.
   * @throws {TypeError} for a list or an associative array where the template wants a prefix: `{list:3}`
   * @throws {URIError} for a value that is not well-formed Unicode
   */
  expand(values: Readonly<Record<string, TemplateValue>>): string {
    return this.parts.map((part) => (typeof part === 'string' ? part : expand(part, values))).join('');
  }

  /**
   * Finds the values for which a URI would be written: RFC 6570, section 1.4, leaves open how.
   *
   * The whole URI must match. Where it can be read in several ways, each value is as short as the rest allows, and
   * variables are filled from the left. Scheme and host of the literal beginning match in any case (RFC 3986,
   * section 6.2.2.1). Every value is percent-decoded exactly once; what is not valid ASCII, percent-encoding or UTF-8
   * matches nothing.
   *
   * | expression | matches |
   * |---|---|
   * | `{x}` `{x,y}` | all variables, each of one or more unreserved or percent-encoded characters |
   * | `{+x}` `{+x,y}` | the same, and reserved characters such as "/" |
   * | `{.x}` `{/x,y}` `{#x}` | as `{x}`, and `{#x}` as `{+x}`; variables may be missing from the right |
   * | `{;x,y}` | parameters in any order, each optional |
   * | `{?x,y}` `{&x}` | the same, and unknown ones are ignored |
   * | `{x:3}` | at most three characters |
   * | `{x*}` | a list, always as an array; associative arrays are not matched |
   *
   * A missing variable is absent from the result. A parameter that is not a list and is sent twice, a variable with
   * two different values, and a prefix that is too long match nothing; another way to read the URI is not tried then.
   *
   * **No value leads out of a directory.** In every variable, whatever its operator, "." and ".." as a segment between
   * slashes, backslashes and NUL make the URI match nothing: written plainly, percent-encoded (`..%2F`), or encoded
   * several times (`%252e%252e%252f`), should the handler decode once more. A value may contain "/", also in `{x}` if
   * sent as `%2F`, and may begin with it: join it to a directory, do not resolve it as a path of its own.
   *
   * The time is linear in the length of the URI, and a URI of more than 65,536 characters matches nothing.
   */
  match(uri: string): TemplateMatch | undefined {
    if (uri.length > LONGEST_URI || /[^!-~]/.test(uri)) return undefined;
    if (comparable(uri.slice(0, this.prefix.length), this.anyCase) !== this.head) return undefined;
    const rest = uri.slice(this.prefix.length);
    if (!isDecodable(rest)) return undefined;
    const captures = runMachine(this.machine, unitsOf(rest));
    return captures && readValues(captures);
  }
}

/** How much of a literal beginning is scheme and host. A user name before the host has its case. */
function anyCaseLength(prefix: string): number {
  return /^[a-z][a-z0-9+.-]*:(?:\/\/[^/?#@]*(?![^/?#]))?/i.exec(prefix)?.[0].length ?? 0;
}

function comparable(prefix: string, anyCase: number): string {
  return upperCaseOctets(prefix.slice(0, anyCase).toLowerCase() + prefix.slice(anyCase));
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

/** What the operator's separator joins: nothing for an undefined value. RFC 6570, section 3.2.1. */
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
