import { INITIALIZE, META, type Sent, stateless } from './client.js';
import { SIBLINGS } from './target.js';

/** The two ways to talk to a server. */
export type Era = 'session' | 'stateless';

/** The most that a kind of message may cost, from any client and over any transport. */
export interface Price {
  /** CPU time, as a multiple of the time in which a bare Fastify route parses the same bytes. */
  readonly cpu: number;
  /** Bytes that stay in memory per KiB sent, until the limits on sessions and streams apply. */
  readonly kept: number;
}

/** A kind of message. */
export interface Kind extends Price {
  readonly name: string;
  /** The message, sent over HTTP and stdio in these eras. */
  readonly message?: { readonly method: string; readonly params?: Params; readonly isNotification?: boolean };
  readonly eras?: readonly Era[];
  /** Sent as is, over HTTP and stdio. */
  readonly body?: string | Buffer;
  /** Sent over HTTP only. */
  readonly http?: (world: World) => Sent;
}

/** Values that requests may refer to. */
export interface World {
  /** The headers of requests in a session. */
  readonly session: Readonly<Record<string, string>>;
  /** The state of a request that has asked a question. */
  readonly state: string;
}

type Params = Readonly<Record<string, unknown>>;

const BOTH = ['session', 'stateless'] as const;
const SIZE = 30 * 1024;
const LONG = 'x'.repeat(SIZE);
/** A value that fits into the headers that Node.js accepts. */
const HEADER = 'x'.repeat(12 * 1024);

/** As many copies of a value as fit into `SIZE`. */
const many = <T>(value: T): T[] =>
  Array.from({ length: Math.floor(SIZE / (JSON.stringify(value).length + 1)) }, () => value);
const call = (name: string, args: Params) => ({ method: 'tools/call', params: { name, arguments: args } });

/**
 * Prices are several times the cost on an idle machine, because CPU time depends on the state of compilers and caches.
 */
const ORDINARY: Price = { cpu: 10, kept: 0 };
/** Unions and references are followed for each value. */
const BRANCHING: Price = { cpu: 40, kept: 0 };
/** A library describes each problem, at several times the usual price before its code is compiled. */
const LIBRARY: Price = { cpu: 80, kept: 0 };
/** class-transformer and class-validator process each instance. */
const INSTANCES: Price = { cpu: 150, kept: 0 };
const URI = { uri: 'docs://readme' };

/** Valid messages, by method. */
const METHODS: readonly Kind[] = [
  // sessions stay in memory; `maxSessions` limits their number
  { name: 'initialize', cpu: 10, kept: 20_000, http: () => ({ body: JSON.stringify(INITIALIZE) }) },
  {
    name: 'DELETE of an unknown session',
    ...ORDINARY,
    http: ({ session }) => ({ method: 'DELETE', headers: { ...session, 'mcp-session-id': 'x' } }),
  },
  // the session remembers a stream for the client to resume
  {
    name: 'GET, a stream',
    ...ORDINARY,
    kept: 20_000,
    http: ({ session }) => ({ method: 'GET', headers: session, leaves: true }),
  },
  inSession('ping', {}),
  inSession('logging/setLevel', { level: 'info' }),
  inSession('resources/subscribe', URI),
  inSession('resources/unsubscribe', URI),
  notification('notifications/initialized'),
  notification('notifications/cancelled'),
  notification('notifications/roots/list_changed'),
  notification('notifications/progress'),
  { ...inBoth('server/discover', {}), eras: ['stateless'] },
  {
    name: 'subscriptions/listen',
    ...ORDINARY,
    http: () => ({ ...stateless('subscriptions/listen', { notifications: { toolsListChanged: true } }), leaves: true }),
  },
  inBoth('tools/list', {}),
  inBoth('tools/call', { name: 'texts', arguments: { date: '2026-01-31' } }),
  inBoth('resources/list', {}),
  inBoth('resources/templates/list', {}),
  inBoth('resources/read', URI),
  inBoth('prompts/list', {}),
  inBoth('prompts/get', { name: 'pack', arguments: { city: 'Oslo' } }),
  inBoth('completion/complete', { ref: { type: 'ref/prompt', name: 'pack' }, argument: { name: 'city', value: 'O' } }),
];

function inBoth(method: string, params: Params): Kind {
  return { name: method, ...ORDINARY, message: { method, params }, eras: BOTH };
}

function inSession(method: string, params: Params): Kind {
  return { name: method, ...ORDINARY, message: { method, params }, eras: ['session'] };
}

function notification(method: string): Kind {
  const message = { method, params: { requestId: 'none' }, isNotification: true };
  return { name: method, ...ORDINARY, message, eras: ['session'] };
}

/** Makes objects large enough to stay within the cap on objects for class-transformer and class-validator. */
const NAME = 'an ordinary name';
const LONG_ITEM = { name: NAME, text: NAME.repeat(3) };
const ITEM = { sku: 'a', count: 1 };
const FORM = { name: 'Ada' };

/** Valid messages of 30 KiB. */
const LARGE: readonly Kind[] = [
  { name: 'a large text', message: call('formats', { haystack: `needle${LONG}` }) },
  { name: 'a list of objects', message: call('lists', { items: many(ITEM) }) },
  { name: 'a list of texts', message: call('lists', { texts: many('abc') }) },
  { name: 'a union per item', ...BRANCHING, message: call('unions', { kinds: many({ kind: 'kind11', value: 'a' }) }) },
  { name: 'a recursive value', ...BRANCHING, message: call('recursive', { any: many([1]) }) },
  {
    name: 'arguments that are converted',
    ...INSTANCES,
    message: call('transforms', { converted: many({ name: NAME }) }),
  },
  {
    name: 'arguments with custom rules',
    ...INSTANCES,
    message: call('customs', { odds: many({ even: 2, codes: ['code-7'] }) }),
  },
].map((kind) => ({ ...ORDINARY, eras: BOTH, ...kind }));

const messageWith = (id: unknown, params: Params = {}) =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/list', params });

/** Messages that are rejected before any member is looked up. */
const MALFORMED: readonly Kind[] = [
  { name: 'not JSON', body: '['.repeat(SIZE) },
  { name: 'not UTF-8', body: Buffer.alloc(SIZE, 0xff) },
  { name: 'not a message', body: JSON.stringify(many({})) },
  {
    name: 'nested too deep',
    body: messageWith(1, { a: 0 }).replace('0}', `${'['.repeat(SIZE / 2)}${']'.repeat(SIZE / 2)}}`),
  },
  { name: 'too many values', body: messageWith(1, { a: Array.from({ length: 100_001 }, () => 0) }) },
  { name: 'a member called __proto__', body: messageWith(1, { a: many(1) }).replace(/\}\}$/, ',"__proto__":1}}') },
  { name: 'an id that is too long', body: messageWith(LONG) },
].map((kind) => ({ ...ORDINARY, ...kind }));

/** The literals of all templates with this prefix. */
const EDITS = Array.from({ length: SIBLINGS }, (_, index) => `/edit${index}`).join('');

/** Requests for things that don't exist. */
const UNKNOWN: readonly Kind[] = [
  { name: 'an unknown method', message: { method: LONG } },
  { name: 'an unknown tool', message: call(LONG, {}) },
  {
    name: 'an unknown resource',
    ...BRANCHING,
    cpu: 50,
    message: { method: 'resources/read', params: { uri: `files://${LONG}/../x` } },
  },
  {
    name: 'a URI for many templates',
    ...BRANCHING,
    cpu: 200,
    message: { method: 'resources/read', params: { uri: `items://${EDITS}${'/a'.repeat(3700)}` } },
  },
  { name: 'an unknown prompt', message: { method: 'prompts/get', params: { name: LONG } } },
  {
    name: 'an unknown completion',
    message: { method: 'completion/complete', params: { ref: { type: 'ref/resource', uri: LONG }, argument: FORM } },
  },
  { name: 'an invalid cursor', message: { method: 'tools/list', params: { cursor: LONG } } },
  { name: 'an invalid level', message: { method: 'logging/setLevel', params: { level: LONG } } },
].map((kind) => ({ ...ORDINARY, eras: BOTH, ...kind }));

/** Arguments that a tool's schema rejects. */
const WRONG: readonly Kind[] = [
  { name: 'wrong items', message: call('lists', { items: many({ sku: 1, count: 'a' }) }) },
  {
    name: 'unknown fields',
    message: call('lists', Object.fromEntries(many('abcdefgh').map((key, n) => [key + n, 1]))),
  },
  { name: 'unknown choices', message: call('lists', { codes: many('x') }) },
  { name: 'no variant per item', message: call('recursive', { unions: many({ kind: 'k9', value: 1, inner: {} }) }) },
  { name: 'a text that fits no pattern', message: call('texts', { pattern0: LONG, pattern1: LONG.slice(99) }) },
  { name: 'an item twice', message: call('objects', { unique: many({ a: 1 }) }) },
  { name: 'several ways through a schema', ...BRANCHING, cpu: 100, message: call('recursive', { twice: nested(60) }) },
  ...['zod', 'valibot', 'arktype'].flatMap((library) => [
    { name: `no alternative per item, ${library}`, ...LIBRARY, message: call(library, { scalars: many({}) }) },
    { name: `wrong e-mail addresses, ${library}`, ...LIBRARY, message: call(library, { emails: many('x') }) },
    { name: `wrong dates, ${library}`, ...LIBRARY, message: call(library, { dates: many('x') }) },
  ]),
  { name: 'a text for a slow pattern', message: call('zod', { slow: `${' '.repeat(SIZE)}x` }) },
  { name: 'a name for a slow pattern', message: call('zod', { named: { ['a'.repeat(SIZE)]: 1 } }) },
  { name: 'items to repair', message: call('lists_coerced', { items: many('{"a":1}') }) },
  { name: 'thousands of tiny objects', message: call('transforms', { converted: many({}) }) },
  { name: 'wrong items to convert', ...INSTANCES, message: call('transforms', { converted: many(LONG_ITEM) }) },
  {
    name: 'wrong items with custom rules',
    ...INSTANCES,
    message: call('customs', { odds: many({ even: 1, codes: ['code-7'] }) }),
  },
].map((kind) => ({ ...BRANCHING, eras: BOTH, ...kind }));

function nested(depth: number): object {
  return depth === 0 ? {} : { a: nested(depth - 1) };
}

const LIST = stateless('tools/list', {});

/** Requests that the HTTP endpoint rejects. */
const HTTP: readonly Kind[] = [
  { name: 'another host', headers: { host: 'evil.example' } },
  { name: 'another origin', headers: { origin: `http://${HEADER}` } },
  { name: 'another content type', headers: { 'content-type': HEADER } },
  { name: 'nothing accepted', headers: { accept: HEADER.replaceAll('xx', 'x,') } },
  { name: 'headers that differ', headers: { 'mcp-method': HEADER } },
  { name: 'an unknown version', headers: { 'mcp-protocol-version': HEADER } },
  { name: 'an unknown session', headers: { 'mcp-session-id': HEADER, 'mcp-protocol-version': '2025-11-25' } },
].map(({ name, headers }) => ({
  name,
  cpu: 12,
  kept: 0,
  http: () => ({ headers: { ...LIST.headers, ...headers }, body: LIST.body }) as Sent,
}));

/** Answers and resumptions that match no question or stream. */
const ASTRAY: readonly Kind[] = [
  {
    name: 'an unknown event',
    http: ({ session: headers }: World) => ({ method: 'GET', headers: { ...headers, 'last-event-id': HEADER } }),
  },
  {
    name: 'an answer to nothing',
    http: ({ session: headers }: World) => ({
      headers,
      body: JSON.stringify({ jsonrpc: '2.0', id: 's999', result: { content: many(FORM) } }),
    }),
  },
  {
    name: 'a forged state',
    http: () => stateless('tools/call', { name: 'ask', arguments: {}, requestState: LONG }),
  },
  {
    name: 'an invalid answer',
    http: ({ state }: World) => {
      const inputResponses = { who: { action: 'accept', content: { name: LONG, tags: many('d').slice(0, 999) } } };
      return stateless('tools/call', { name: 'ask', arguments: {}, requestState: state, inputResponses });
    },
  },
  {
    name: 'an invalid envelope',
    http: () => stateless('tools/list', { _meta: { ...META, a: many(FORM), [Object.keys(META)[1] as string]: 1 } }),
  },
].map((kind) => ({ ...BRANCHING, ...kind }));

/** All kinds of messages, with their prices. */
export const KINDS: readonly Kind[] = [...METHODS, ...LARGE, ...MALFORMED, ...UNKNOWN, ...WRONG, ...HTTP, ...ASTRAY];
