import { type Call, CALLS, type Style } from './calls.js';
import type { PartName } from './parts.js';

/** One side of a comparison. */
export interface EntrantSpec {
  readonly name: string;
  readonly part: PartName;
  readonly style: Style;
}

/** A row of the result: an entrant and its reference. */
export interface Line {
  readonly name: string;
  /** Name of the entrant whose cost is shown. */
  readonly cost: string;
  /** Name of the entrant that it is compared with. Defaults to the limit with plain requests. */
  readonly against?: string;
}

/** How load is generated. */
export type Load = 'http' | 'listen' | 'lines' | 'in process';

/** Entrants that are compared in slices. */
export interface SliceCase {
  readonly kind: 'slices';
  readonly name: string;
  readonly load: Load;
  readonly call: Call;
  /** Number of additional tools. */
  readonly moreTools: number;
  /** Warm-up calls of each entrant. */
  readonly warmUp: number;
  /** Cap on connections. For slow calls, a few are enough to keep the server busy. */
  readonly maxConnections: number;
  readonly entrants: readonly EntrantSpec[];
  readonly lines: readonly Line[];
}

/** A case, by how it is measured. */
export type Case =
  | SliceCase
  | { readonly kind: 'sessions'; readonly name: string }
  | { readonly kind: 'cold'; readonly name: string }
  | { readonly kind: 'interpreted'; readonly name: string };

const LIMIT: EntrantSpec = { name: 'limit', part: 'limit', style: 'plain' };
/** The limit with the same requests as the server. */
const SAME_BYTES: readonly EntrantSpec[] = [
  { name: 'limit, session bytes', part: 'limit', style: 'session' },
  { name: 'limit, stateless bytes', part: 'limit', style: 'stateless' },
];
const erasOf = (part: PartName, suffix = ''): readonly EntrantSpec[] => [
  { name: `session${suffix}`, part, style: 'session' },
  { name: `stateless${suffix}`, part, style: 'stateless' },
];
const ERA_LINES: readonly Line[] = [
  { name: 'session', cost: 'session' },
  { name: 'stateless', cost: 'stateless' },
];

const overHttp: Omit<SliceCase, 'name'> = {
  kind: 'slices',
  load: 'http',
  call: CALLS.add,
  moreTools: 0,
  warmUp: 8000,
  maxConnections: Number.POSITIVE_INFINITY,
  entrants: [LIMIT, ...SAME_BYTES, ...erasOf('listen')],
  lines: ERA_LINES,
};
const heavy: Omit<SliceCase, 'name'> = { ...overHttp, entrants: [LIMIT, ...erasOf('listen')], maxConnections: 8 };
const FEW = ', 4 tools';

const PLAIN = ', no option';
/** Options of a server. Each is compared with none. */
const OPTIONS = ['maxResultChars'] as const;

const NONE = ', no plugin';
/** Servers that differ only in their plugin. `telemetry` has no SDK. */
const PLUGINS = ['none', 'observe', 'telemetry', 'metrics'] as const;

/** All cases in running order. */
export const CASES: readonly Case[] = [
  {
    ...overHttp,
    name: 'noise',
    entrants: [LIMIT, { name: 'limit again', part: 'limit again', style: 'plain' }],
    lines: [{ name: 'limit again', cost: 'limit again' }],
  },
  { ...overHttp, name: 'add' },
  { ...overHttp, name: 'echo', call: CALLS.echo, warmUp: 4000 },
  {
    ...overHttp,
    name: 'add-1000',
    moreTools: 1000,
    entrants: [LIMIT, ...erasOf('few tools', FEW), ...erasOf('listen')],
    lines: [
      ...ERA_LINES,
      ...ERA_LINES.map(({ cost }) => ({ name: `${cost} ÷${FEW.slice(1)}`, cost, against: `${cost}${FEW}` })),
    ],
  },
  { ...heavy, name: 'list-1000', call: CALLS.list, moreTools: 1000, warmUp: 400 },
  { ...heavy, name: 'blob', call: CALLS.blob, warmUp: 160 },
  { ...heavy, name: 'progress-1000', call: CALLS.progress, warmUp: 240 },
  {
    ...heavy,
    name: 'listen-500',
    load: 'listen',
    warmUp: 20_000,
    maxConnections: 500,
    entrants: [LIMIT, { name: 'stateless', part: 'listen', style: 'stateless' }],
    lines: [{ name: 'stateless', cost: 'stateless' }],
  },
  {
    ...overHttp,
    name: 'auth',
    entrants: [
      { name: 'off', part: 'listen', style: 'stateless' },
      { name: 'cached', part: 'auth', style: 'stateless' },
      { name: 'RS256', part: 'auth, RS256', style: 'stateless' },
      { name: 'ES256', part: 'auth, ES256', style: 'stateless' },
      LIMIT,
      { name: 'embedded', part: 'auth, embedded', style: 'stateless' },
    ],
    lines: [
      { name: 'token cached', cost: 'cached', against: 'off' },
      { name: 'RS256 verified each time', cost: 'RS256', against: 'off' },
      { name: 'ES256 verified each time', cost: 'ES256', against: 'off' },
      { name: 'embedded token', cost: 'embedded' },
    ],
  },
  {
    ...overHttp,
    name: 'plugins',
    entrants: PLUGINS.flatMap((plugin) => (plugin === 'none' ? erasOf('listen', NONE) : erasOf(plugin, `, ${plugin}`))),
    lines: PLUGINS.filter((plugin) => plugin !== 'none').flatMap((plugin) =>
      ERA_LINES.map(({ cost }) => ({
        name: `${cost}, ${plugin}`,
        cost: `${cost}, ${plugin}`,
        against: `${cost}${NONE}`,
      })),
    ),
  },
  {
    ...overHttp,
    name: 'options',
    entrants: [...erasOf('listen', PLAIN), ...OPTIONS.flatMap((option) => erasOf(option, `, ${option}`))],
    lines: OPTIONS.flatMap((option) =>
      ERA_LINES.map(({ cost }) => ({
        name: `${cost}, ${option}`,
        cost: `${cost}, ${option}`,
        against: `${cost}${PLAIN}`,
      })),
    ),
  },
  { ...overHttp, name: 'fastify', entrants: [LIMIT, ...erasOf('fastify')] },
  {
    ...overHttp,
    name: 'node',
    entrants: [LIMIT, ...erasOf('node'), { name: 'bare node', part: 'bare node', style: 'plain' }],
    lines: [...ERA_LINES, { name: 'bare node', cost: 'bare node' }],
  },
  {
    ...overHttp,
    name: 'fetch',
    load: 'in process',
    entrants: [{ name: 'limit', part: 'bare fetch', style: 'plain' }, ...erasOf('fetch')],
    warmUp: 8000,
  },
  {
    ...overHttp,
    name: 'stdio',
    load: 'lines',
    warmUp: 48_000,
    entrants: [
      { name: 'limit', part: 'bare lines', style: 'plain' },
      { name: 'limit, stateless bytes', part: 'bare lines', style: 'stateless' },
      ...erasOf('stdio'),
    ],
    lines: [...ERA_LINES, { name: 'stateless ÷ same bytes', cost: 'stateless', against: 'limit, stateless bytes' }],
  },
  { kind: 'sessions', name: 'sessions' },
  { kind: 'cold', name: 'cold' },
  { kind: 'interpreted', name: 'interpreted' },
];
