// https://www.w3.org/TR/trace-context/, "traceparent": ids of only zeros and version ff are invalid
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

// https://www.w3.org/TR/trace-context/, "tracestate": at most 32 members with distinct keys
const MEMBER =
  /^((?:[a-z0-9][a-z0-9_\-*/]{0,240}@)?[a-z0-9][a-z0-9_\-*/]{0,255})=([\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e])$/;
const MAX_MEMBERS = 32;

// https://www.w3.org/TR/baggage/
const TOKEN = String.raw`[\w!#$%&'*+.^\x60|~-]+`;
const VALUE = String.raw`[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*`;
const PROPERTY = String.raw`[ \t]*;[ \t]*${TOKEN}(?:[ \t]*=[ \t]*${VALUE})?`;
const ENTRY = new RegExp(String.raw`^${TOKEN}[ \t]*=[ \t]*${VALUE}(?:${PROPERTY})*$`);

const listed = (text: string): string[] => text.split(',').map((item) => item.trim());

/** Header characters only. Among these, `trim` removes nothing but spaces and tabs. */
const PRINTABLE = /^[\t\x20-\x7e]*$/;

function isTracestate(text: string): boolean {
  const members = listed(text).filter((member) => member !== '');
  const keys = members.map((member) => MEMBER.exec(member)?.[1]);
  return members.length <= MAX_MEMBERS && !keys.includes(undefined) && new Set(keys).size === keys.length;
}

const FORMATS: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ['traceparent', (text: string) => TRACEPARENT.test(text)],
  ['tracestate', isTracestate],
  ['baggage', (text: string) => listed(text).every((entry) => ENTRY.test(entry))],
]);

/** Whether a `_meta` key belongs to a trace. Such keys are reserved, though they have no prefix. */
export const isTraceKey = (key: string): boolean => FORMATS.has(key);

/** Whether the value of a trace key is in its W3C format. */
export const isTraceValue = (key: string, value: unknown): boolean =>
  typeof value === 'string' && PRINTABLE.test(value) && FORMATS.get(key)?.(value) === true;
