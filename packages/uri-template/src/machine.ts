import type { Expression, Operator, Part, Variable } from './grammar.js';

/** A step of the matching machine. */
export type Step = Take | Fork | Open | Close | Done;

/** Consumes a unit if it is acceptable. */
interface Take {
  readonly op: 'take';
  readonly accepts: Accepts;
  readonly next: Step;
}

/** Tries the first branch, then the second. */
interface Fork {
  readonly op: 'fork';
  readonly id: number;
  readonly first: Step;
  second: Step;
}

/** Starts a value. */
interface Open {
  readonly op: 'open';
  readonly next: Step;
}

/** Ends a value. */
interface Close {
  readonly op: 'close';
  readonly variable: Variable;
  readonly next: Step;
}

/** Succeeds at the end of the input. */
interface Done {
  readonly op: 'done';
}

type Accepts = (unit: string, kind: number) => boolean;

/** A text to match, prepared once for all templates with the same prefix. */
export interface Subject {
  /** The text, with octets in upper case. */
  readonly text: string;
  readonly units: readonly string[];
  /** The kind of each unit. */
  readonly kinds: Uint8Array;
}

/** A compiled template. */
export interface Machine {
  readonly start: Step;
  readonly forks: number;
}

/** The text captured for a variable at one position. */
export interface Capture {
  readonly variable: Variable;
  readonly encoded: string;
}

/** A captured range of units, linked to the previous capture. */
interface Mark {
  readonly variable: Variable;
  readonly from: number;
  readonly to: number;
  readonly before: Mark | undefined;
}

/** A branch that is still to be tried. */
interface Way {
  readonly step: Step;
  readonly at: number;
  readonly from: number;
  readonly last: Mark | undefined;
}

/** Kinds of units: RFC 3986, sections 2.2 and 2.3. */
const RESERVED = 1;
const UNRESERVED = 2;

const isUnreserved: Accepts = (_, kind) => kind === UNRESERVED;
const isReserved: Accepts = (_, kind) => kind !== 0;
// More lenient than expansion: people type queries with "/", ":" or "," in the values.
const isInQuery: Accepts = (unit, kind) => kind !== 0 && unit !== '&' && unit !== '#';

/**
 * Compiles the parts of a template. A leading literal is left out, because it is compared separately. Steps are linked
 * from last to first, because each refers to the next.
 */
export function compileMachine(parts: readonly Part[]): Machine {
  const chain = new Chain();
  const joined = joinQueries(parts);
  const query = joined.findIndex((part) => typeof part === 'string' && part.includes('?'));
  const start = joined.reduceRight<Step>(
    (next, part, index) => {
      if (typeof part === 'string') return index === 0 ? next : chain.text(part, next);
      return part.operator.named
        ? chain.parameters(part, query >= 0 && query < index, next)
        : chain.positions(part, next);
    },
    { op: 'done' },
  );
  return { start, forks: chain.forks };
}

/** Joins `{?a}{&b}` into one query with parameters in any order. If `a` is undefined, the query starts with "&". */
function joinQueries(parts: readonly Part[]): Part[] {
  const joined: Part[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (isQuery(part) && isQuery(last) && part.operator.first === '&') {
      const operator = { ...last.operator, first: last.operator.first + part.operator.first };
      joined[joined.length - 1] = { operator, variables: [...last.variables, ...part.variables] };
    } else {
      joined.push(part);
    }
  }
  return joined;
}

function isQuery(part: Part | undefined): part is Expression {
  return typeof part === 'object' && part.operator.separator === '&';
}

class Chain {
  forks = 0;

  text(text: string, next: Step): Step {
    return unitsOf(text).reduceRight<Step>((rest, unit) => this.take((other) => other === unit, rest), next);
  }

  /** Positional values, as in `a,b` and `/a/b`. With an operator, values may be missing from the right. */
  positions({ operator, variables }: Expression, next: Step): Step {
    return variables.reduceRight<Step>((rest, variable, index) => {
      const value = this.listOrValue(variable, operator, rest);
      const opened = this.text(index === 0 ? operator.first : operator.separator, value);
      return operator.first === '' ? opened : this.fork(opened, next);
    }, next);
  }

  /** Named values, as in `?a=1&b=2`, in any order. Each is optional. */
  parameters({ operator, variables }: Expression, inQuery: boolean, next: Step): Step {
    const { first, separator } = operator;
    const accepts = separator === '&' ? isInQuery : isUnreserved;
    // the branch back to another parameter is set below
    const more = this.fork(next, next);
    const known = variables.map((variable) => {
      const close: Close = { op: 'close', variable, next: more };
      const value = this.text('=', { op: 'open', next: this.shortest(accepts, close) });
      return this.text(variable.name, this.fork(value, { op: 'open', next: close }));
    });
    // clients may add query parameters, such as a cache key, but parameters in a path would name another resource
    const all = this.oneOf(separator === '&' ? [...known, this.shortest(accepts, more)] : known);
    more.second = this.text(separator, all);
    // without a "?", an "&" may belong to the path, which must not be cut off as an unknown parameter
    const opened = Array.from(first, (sign) => this.text(sign, sign === '&' && !inQuery ? this.oneOf(known) : all));
    return this.oneOf([...opened, next]);
  }

  private oneOf(steps: readonly Step[]): Step {
    return steps.reduceRight((others, step) => this.fork(step, others));
  }

  private listOrValue(variable: Variable, { reserved, separator }: Operator, next: Step): Step {
    const isAccepted = reserved ? isReserved : isUnreserved;
    if (!variable.explode) return this.value(variable, isAccepted, next);
    const more = this.fork(next, next);
    const item = this.value(variable, (unit, kind) => unit !== separator && isAccepted(unit, kind), more);
    more.second = this.text(separator, item);
    return item;
  }

  /** One or more units, as few as possible. */
  private value(variable: Variable, accepts: Accepts, next: Step): Step {
    const rest = this.shortest(accepts, { op: 'close', variable, next });
    return { op: 'open', next: this.take(accepts, rest) };
  }

  /** Any number of units, as few as possible. */
  private shortest(accepts: Accepts, next: Step): Step {
    const loop = this.fork(next, next);
    loop.second = this.take(accepts, loop);
    return loop;
  }

  private take(accepts: Accepts, next: Step): Step {
    return { op: 'take', accepts, next };
  }

  private fork(first: Step, second: Step): Fork {
    return { op: 'fork', id: this.forks++, first, second };
  }
}

/** Normalizes percent-encoded octets to upper case for comparison: RFC 3986, section 6.2.2.1. */
export function upperCaseOctets(uri: string): string {
  return uri.replaceAll(/%[\da-f]{2}/gi, (octet) => octet.toUpperCase());
}

/** Splits a URI into units: single characters, or all percent-encoded octets of one character (RFC 3629, section 3). */
export function unitsOf(uri: string): readonly string[] {
  return upperCaseOctets(uri).match(/%[CD].{4}|%E.{7}|%F.{10}|%..|./gs) ?? [];
}

function kindOf(unit: string): number {
  // longer units are percent-encoded
  if (unit.length > 1 || /[\w\-.~]/.test(unit)) return UNRESERVED;
  return /[:/?#[\]@!$&'()*+,;=]/.test(unit) ? RESERVED : 0;
}

/** Prepares a text for `runMachine`. */
export function subjectOf(uri: string): Subject {
  const units = unitsOf(uri);
  const kinds = new Map<string, number>();
  return {
    text: upperCaseOctets(uri),
    units,
    kinds: Uint8Array.from(units, (unit) => {
      const known = kinds.get(unit) ?? kindOf(unit);
      kinds.set(unit, known);
      return known;
    }),
  };
}

/** Whether a branch fails at once, because its next unit isn't acceptable. Most branches do, so none is queued for them. */
function failsAt(branch: Step, { units, kinds }: Subject, at: number): boolean {
  let step = branch;
  while (step.op === 'open' || step.op === 'close') step = step.next;
  return step.op === 'take' && !(at < units.length && step.accepts(units[at] as string, kinds[at] as number));
}

/**
 * Runs the machine on the whole text and returns the captures. No fork is taken twice at the same position, because it
 * would fail again. The time is therefore at most the product of the lengths of template and text.
 */
export function runMachine({ start, forks }: Machine, subject: Subject): readonly Capture[] | undefined {
  const { units, kinds } = subject;
  const taken = new Uint8Array(forks * (units.length + 1));
  const ways: Way[] = [{ step: start, at: 0, from: 0, last: undefined }];
  for (let way = ways.pop(); way; way = ways.pop()) {
    let { at, from, last } = way;
    let step: Step | undefined = way.step;
    while (step) {
      switch (step.op) {
        case 'take': {
          const isTaken: boolean = at < units.length && step.accepts(units[at] as string, kinds[at] as number);
          at += 1;
          step = isTaken ? step.next : undefined;
          break;
        }
        case 'fork': {
          const key: number = step.id * (units.length + 1) + at;
          const isNew: boolean = taken[key] === 0;
          taken[key] = 1;
          if (!isNew) step = undefined;
          else if (failsAt(step.first, subject, at)) step = step.second;
          else {
            ways.push({ step: step.second, at, from, last });
            step = step.first;
          }
          break;
        }
        case 'open':
          from = at;
          step = step.next;
          break;
        case 'close':
          last = { variable: step.variable, from, to: at, before: last };
          step = step.next;
          break;
        case 'done':
          if (at === units.length) return capturesOf(last, units);
          step = undefined;
      }
    }
  }
  return undefined;
}

function capturesOf(last: Mark | undefined, units: readonly string[]): readonly Capture[] {
  const captures: Capture[] = [];
  for (let mark = last; mark; mark = mark.before) {
    captures.push({ variable: mark.variable, encoded: units.slice(mark.from, mark.to).join('') });
  }
  return captures.toReversed();
}
