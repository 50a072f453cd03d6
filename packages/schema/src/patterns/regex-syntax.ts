/** The syntax tree of a regular expression, reduced to what affects matching time. */
export type Part =
  | { readonly kind: 'character'; readonly source: string }
  | { readonly kind: 'sequence' | 'choice'; readonly parts: readonly Part[] }
  | { readonly kind: 'repeat'; readonly body: Part; readonly least: number; readonly most: number }
  | { readonly kind: 'look'; readonly body: Part }
  | { readonly kind: 'start' | 'assertion' | 'backreference' };

const ESCAPE = /\\(?:x[\da-fA-F]{2}|u[\da-fA-F]{4}|u\{[\da-fA-F]+\}|[pP]\{[^}]*\}|c[A-Za-z]|[^])/y;
const CLASS = /\[(?:\\[^]|[^\]\\])*\]/y;
const GROUP = /\((?:\?(?<look><?[=!])|\?:|\?<[^>]*>)?/y;
const QUANTIFIER = /(?:(?<sign>[*+?])|\{(?<least>\d+)(?<comma>,(?<most>\d*))?\})\??/y;
const BACKREFERENCE = /\\(?:[1-9]\d*|k<[^>]*>)/y;
const SIGNS: Readonly<Record<string, readonly [number, number]>> = {
  '*': [0, Number.POSITIVE_INFINITY],
  '+': [1, Number.POSITIVE_INFINITY],
  '?': [0, 1],
};

class Parser {
  #at = 0;
  readonly #source: string;

  constructor(source: string) {
    this.#source = source;
  }

  #take(token: RegExp): RegExpExecArray | undefined {
    token.lastIndex = this.#at;
    const found = token.exec(this.#source) ?? undefined;
    if (found !== undefined) this.#at = token.lastIndex;
    return found;
  }

  choice(): Part {
    const parts: Part[] = [];
    do parts.push(this.#sequence());
    while (this.#take(/\|/y));
    return { kind: 'choice', parts };
  }

  #sequence(): Part {
    const parts: Part[] = [];
    while (!['|', ')', undefined].includes(this.#source[this.#at])) parts.push(this.#repeated());
    return { kind: 'sequence', parts };
  }

  #repeated(): Part {
    let body = this.#atom();
    for (let q = this.#take(QUANTIFIER); q !== undefined; q = this.#take(QUANTIFIER)) {
      const { sign, least = '0', comma, most } = q.groups ?? {};
      const [from, to] = SIGNS[sign ?? ''] ?? [Number(least), Number(comma ? most || Number.POSITIVE_INFINITY : least)];
      body = { kind: 'repeat', body, least: from, most: to };
    }
    return body;
  }

  #atom(): Part {
    const group = this.#take(GROUP);
    if (group !== undefined) {
      const body = this.choice();
      this.#at += 1;
      return group.groups?.['look'] === undefined ? body : { kind: 'look', body };
    }
    if (this.#take(BACKREFERENCE)) return { kind: 'backreference' };
    const { 0: source } = this.#take(CLASS) ?? this.#take(ESCAPE) ?? this.#take(/[^]/uy) ?? [''];
    if (source === '^') return { kind: 'start' };
    if (source === '$' || source === String.raw`\b` || source === String.raw`\B`) return { kind: 'assertion' };
    return { kind: 'character', source };
  }
}

/** Parses a regular expression that JavaScript has accepted. */
export function parseRegex(source: string): Part {
  return new Parser(source).choice();
}

/** A part and all its descendants. */
export function within(part: Part): Part[] {
  const inner = 'parts' in part ? part.parts : 'body' in part ? [part.body] : [];
  return [part, ...inner.flatMap(within)];
}

/** Whether a part or a descendant is of one of these kinds. */
export const contains = (part: Part, kinds: readonly Part['kind'][]): boolean =>
  within(part).some(({ kind }) => kinds.includes(kind));
