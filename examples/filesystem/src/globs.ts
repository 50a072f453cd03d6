import { sep } from 'node:path';

import { ToolError } from '@decorum/core';

/** Whether a path matches. It is relative to the folder that is searched. */
export type Matcher = (path: string) => boolean;

const MAX_LENGTH = 1000;
const MAX_PATTERNS = 100;
const MAX_ALTERNATIVES = 100;

/** Steps of all comparisons of a call: about half a second of CPU, and 50 times what a large repository needs. */
const MAX_STEPS = 50_000_000;

/** Any number of characters in a name, or of names in a path. */
const ANY = Symbol('any');

/** One character of a name. */
type Fits = (character: string, steps: Steps) => boolean;
type Name = readonly (Fits | typeof ANY)[];
type Glob = readonly (Name | typeof ANY)[];

/** The steps that a call has left. Regular expressions would take exponential time for some globs. */
class Steps {
  #left = MAX_STEPS;

  take(): true {
    this.#left -= 1;
    if (this.#left < 0) {
      throw new ToolError(
        'Comparing these patterns takes too long here. Send fewer or shorter ones, or a subdirectory.',
      );
    }
    return true;
  }
}

/**
 * Compiles a function that finds the paths that match one of the patterns.
 * @param patterns globs of `*`, `**`, `?`, `[a-z]` and `{a,b}`
 * @throws {ToolError} for patterns that are too long or too many, or with other syntax
 */
export function matchingAny(patterns: readonly string[]): Matcher {
  if (patterns.length > MAX_PATTERNS) throw new ToolError(`Send at most ${MAX_PATTERNS} patterns.`);
  const globs = patterns.flatMap(alternativesOf);
  if (globs.length > MAX_ALTERNATIVES) throw tooMany();
  const compiled = globs.map(globOf);
  const steps = new Steps();
  const characters = { steps, fits: (fits: Fits, character: string) => fits(character, steps) };
  const names = { steps, fits: (name: Name, text: readonly string[]) => fitsAll(text, name, characters) };
  return (path) => {
    const parts = path.split(sep).map((name) => [...name]);
    return compiled.some((glob) => fitsAll(parts, glob, names));
  };
}

const tooMany = () => new ToolError(`Send fewer braces: they stand for more than ${MAX_ALTERNATIVES} patterns.`);

/** Whether a list fits. It goes back to the last `ANY` only, so it takes at most `list.length * pattern.length` steps. */
function fitsAll<Item, Part>(
  list: readonly Item[],
  pattern: readonly (Part | typeof ANY)[],
  { steps, fits }: { readonly steps: Steps; readonly fits: (part: Part, item: Item) => boolean },
): boolean {
  let [at, next] = [0, 0];
  let back: { at: number; readonly next: number } | undefined;
  while (at < list.length) {
    steps.take();
    const part = pattern[next];
    if (part === ANY) back = { at, next: (next += 1) };
    else if (part !== undefined && fits(part, list[at] as Item)) [at, next] = [at + 1, next + 1];
    else if (back) [at, next] = [(back.at += 1), back.next];
    else return false;
  }
  // `ANY` is never repeated
  return next === pattern.length || (pattern[next] === ANY && next === pattern.length - 1);
}

/** The patterns that the braces of a pattern stand for. */
function alternativesOf(pattern: string): string[] {
  if (pattern.length > MAX_LENGTH) throw new ToolError(`Send patterns of at most ${MAX_LENGTH} characters.`);
  if (/[?*+@!]\(/.test(pattern)) {
    const remedy = 'Use {a,b} or several patterns instead, and write \\( for a parenthesis.';
    throw new ToolError(`Write ${JSON.stringify(pattern)} without groups such as *(a). ${remedy}`);
  }
  if (pattern.startsWith('!') || /(?<!\\)\{[^{},]+\.\.[^{},]+\}|\[\[:/.test(pattern)) {
    const remedy = 'List them, as in {1,2,3} and [a-zA-Z], and write \\! for a leading exclamation mark.';
    throw new ToolError(`Write ${JSON.stringify(pattern)} without {1..3}, [[:alpha:]] and a leading !. ${remedy}`);
  }
  if (!isBalanced(pattern)) {
    throw new ToolError(
      `Balance the braces of ${JSON.stringify(pattern)}, as in *.{js,ts}, and write \\{ or \\} for a single brace.`,
    );
  }
  const done: string[] = [];
  const pending = [pattern];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    // innermost braces first
    const [braces, inner = ''] = /(?<!\\)\{((?:\\.|[^{},\\])*,(?:\\.|[^{}\\])*)\}/.exec(next) ?? [];
    if (braces === undefined) done.push(next);
    else for (const each of inner.split(',')) pending.push(next.replace(braces, () => each));
    if (done.length + pending.length > MAX_ALTERNATIVES) throw tooMany();
  }
  return done;
}

/** Whether each brace has its counterpart, except those after a backslash and in brackets. */
function isBalanced(pattern: string): boolean {
  let depth = 0;
  for (const part of pattern.match(PARTS) ?? []) {
    if (part === '{') depth += 1;
    else if (part === '}') depth -= 1;
    if (depth < 0) return false;
  }
  return depth === 0;
}

/** An escaped character, a class such as `[a-z]`, or a character. */
const PARTS = /\\.|\[[!^]?\]?[^\]]*\]|[^]/gu;

function globOf(pattern: string): Glob {
  // at the end, it stands for at least one name: `docs/**` doesn't match `docs`
  const names = pattern.replace(/\/\*\*$/, '/**/*').split('/');
  return withoutRepeats(names.map((name) => (name === '**' ? ANY : nameOf(name))));
}

function nameOf(text: string): Name {
  const parts = text.match(PARTS) ?? [];
  const name = parts.map((part): Fits | typeof ANY => {
    if (part === '*') return ANY;
    if (part === '?') return () => true;
    if (part.length > 1 && part.startsWith('[')) return classOf(part.slice(1, -1));
    const literal = part.startsWith('\\') ? part.slice(1) || part : part;
    return (character) => character === literal;
  });
  return withoutRepeats(name);
}

/** A pattern with one `ANY` for several in a row. */
const withoutRepeats = <Part>(parts: readonly (Part | typeof ANY)[]) =>
  parts.filter((part, index) => part !== ANY || parts[index - 1] !== ANY);

/** One of some characters, as between the brackets of `[a-z_]` or `[!a-z_]`. */
function classOf(text: string): Fits {
  const isNegated = /^[!^]/.test(text);
  const ranges = (isNegated ? text.slice(1) : text).match(/[^]-[^]|[^]/gu) ?? [];
  return (character, steps) =>
    ranges.some((range) =>
      steps.take() && range.length > 1
        ? character >= range.charAt(0) && character <= range.charAt(2)
        : character === range,
    ) !== isNegated;
}
