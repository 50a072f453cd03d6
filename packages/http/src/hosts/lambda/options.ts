import { type Host, hostOf } from '@decorum/core/transport';
import { invalidOption } from '@decorum/schema/internal';

import type { Cluster } from '../../cluster/cluster.js';
import { checkOptionNames, type EndpointOptions, type ResolvedOptions } from '../../endpoint/options.js';
import type { LambdaEvent } from './event.js';

/** Options of both handlers. */
interface DeadlineOptions {
  /**
   * Milliseconds before the end of the invocation at which a request that still runs is cancelled, so that its caller
   * gets an error instead of silence. By default 500.
   */
  readonly deadlineMarginMs?: number;
}

/** Options of `lambdaHandler`. */
export interface LambdaHandlerOptions
  extends
    Omit<EndpointOptions<LambdaEvent>, 'sessions' | 'sessionStore' | 'courier' | 'events' | 'legacySse'>,
    DeadlineOptions {}

/** Options of `streamingLambdaHandler`. */
export interface StreamingLambdaHandlerOptions
  extends Omit<EndpointOptions<LambdaEvent>, 'events' | 'legacySse' | 'sessions'>, DeadlineOptions {
  /**
   * Whether clients of the revisions with sessions get one. Needs a `sessionStore` and a `courier`, or a `cluster` of the
   * server, because each event may reach another instance of the function. By default `false`.
   */
  readonly sessions?: boolean;
}

/** The options, checked. */
export interface LambdaSettings {
  readonly endpoint: EndpointOptions<LambdaEvent>;
  readonly deadlineMarginMs: number;
  /** Whether the hosts of a gateway are accepted as they are. */
  readonly trustsGateway: boolean;
}

/** The name of a function that creates a handler. */
export type Where = 'lambdaHandler' | 'streamingLambdaHandler';

const BUFFERED = 'needs responses that stay open. Remove it, or serve with `streamingLambdaHandler`';

const IMPOSSIBLE: Readonly<Record<Where, Readonly<Record<string, string>>>> = {
  lambdaHandler: {
    sessions: BUFFERED,
    sessionStore: BUFFERED,
    courier: BUFFERED,
    events: 'has no use, because clients can open no streams. Remove it',
    legacySse: 'needs a stream that stays open. Remove it',
  },
  streamingLambdaHandler: {
    events: 'has no use, because clients can open no streams. Remove it',
    legacySse: 'needs a stream that stays open. Remove it',
  },
};

/**
 * Checks the options that Lambda adds or rules out. The others are checked with the endpoint's.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function lambdaSettings(where: Where, options: StreamingLambdaHandlerOptions, server: Host): LambdaSettings {
  checkOptionNames(where, options, { deadlineMarginMs: [0, 600_000] });
  const { deadlineMarginMs = 500, ...given } = options;
  for (const [name, problem] of Object.entries(IMPOSSIBLE[where])) {
    const value = (given as Readonly<Record<string, unknown>>)[name];
    if (value !== undefined && value !== false) throw invalidOption(where, name, problem);
  }
  const { sessions = false, sessionStore, courier, allowedHosts } = given;
  if (sessions) requireShared(where, { sessionStore, courier }, server);
  else if (sessionStore ?? courier) {
    throw invalidOption(where, sessionStore ? 'sessionStore' : 'courier', 'needs sessions. Add `sessions: true`');
  }
  return {
    endpoint: { ...given, sessions, events: false },
    deadlineMarginMs,
    trustsGateway: allowedHosts === undefined,
  };
}

type Shared = Pick<ResolvedOptions<never>, 'sessionStore' | 'courier'>;

function requireShared(where: Where, { sessionStore, courier }: Shared, server: Host): void {
  const cluster = hostOf(server, where).sharing.cluster as Cluster | undefined;
  const lacks = Object.entries({ sessionStore: sessionStore ?? cluster, courier: courier ?? cluster })
    .filter(([, found]) => found === undefined)
    .map(([name]) => `\`${name}\``);
  if (lacks.length === 0) return;
  const problem =
    `needs ${lacks.join(' and ')}, because each event may reach another instance of the function. Pass ` +
    '`cluster: redis(…)` of @decorum/redis to the server, or remove `sessions`';
  throw invalidOption(where, 'sessions', problem);
}
