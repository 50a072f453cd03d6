// Reads and changes single values in the text of valid JSON, and leaves every other character alone. Parsing loses the
// digits of large numbers, and `JSON.stringify` writes others as null (RFC 8259, section 6).

type Path = readonly string[];

/** The first and the last character of a value, the latter exclusive. */
interface Span {
  readonly start: number;
  readonly end: number;
}

function skipSpace(text: string, at: number): number {
  let next = at;
  while (' \t\n\r'.includes(text.charAt(next)) && next < text.length) next += 1;
  return next;
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

function endOfValue(text: string, start: number): number {
  if (text[start] === '"') return endOfString(text, start);
  let depth = 0;
  let at = start;
  do {
    const char = text.charAt(at);
    if (char === '"') at = endOfString(text, at);
    else {
      if (char === '{' || char === '[') depth += 1;
      if (char === '}' || char === ']') depth -= 1;
      at += 1;
    }
  } while (at < text.length && (depth > 0 || !',]} \t\n\r'.includes(text.charAt(at))));
  return at;
}

/** The value of a member of the object or array at `start`. If a name occurs twice, the last one counts, as in `JSON.parse`. */
function memberOf(text: string, start: number, name: string): Span | undefined {
  const isArray = text[start] === '[';
  if (!isArray && text[start] !== '{') return undefined;
  let found: Span | undefined;
  let index = 0;
  let at = skipSpace(text, start + 1);
  while (text[at] !== '}' && text[at] !== ']') {
    let own = String(index++);
    if (!isArray) {
      const end = endOfString(text, at);
      own = JSON.parse(text.slice(at, end)) as string;
      at = skipSpace(text, skipSpace(text, end) + 1);
    }
    const end = endOfValue(text, at);
    if (own === name) found = { start: at, end };
    at = skipSpace(text, end);
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return found;
}

function spanOf(text: string, path: Path): Span | undefined {
  const start = skipSpace(text, 0);
  let span: Span | undefined = { start, end: endOfValue(text, start) };
  for (const name of path) span = span && memberOf(text, span.start, name);
  return span;
}

/**
 * The text of a value; undefined if there is none.
 * @param text valid JSON
 * @param path names of members; an index for an array
 */
export function textAt(text: string, path: Path): string | undefined {
  const span = spanOf(text, path);
  return span && text.slice(span.start, span.end);
}

/**
 * Replaces a value. Adds it, and the objects around it, if there is none.
 * @param text a JSON object
 * @param path names of members
 * @param json the new value as JSON
 */
export function withText(text: string, path: Path, json: string): string {
  const [last] = path.slice(-1);
  const span = spanOf(text, path);
  if (span || last === undefined) return text.slice(0, span?.start) + json + text.slice(span?.end);
  const outer = path.slice(0, -1);
  const around = spanOf(text, outer);
  const member = `${JSON.stringify(last)}:${json}`;
  if (around === undefined || text[around.start] !== '{') return withText(text, outer, `{${member}}`);
  const inside = around.start + 1;
  const comma = text[skipSpace(text, inside)] === '}' ? '' : ',';
  return `${text.slice(0, inside)}${member}${comma}${text.slice(inside)}`;
}
