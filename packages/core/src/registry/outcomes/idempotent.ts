import { invalidOption, type JsonObject, type OptionTypes, requireOptions } from '@decorum/schema/internal';

import type { IdempotentOptions, ToolOptions } from '../../metadata/member-options.js';
import { McpError } from '../../protocol/errors.js';
import { holderOf } from '../../protocol/owner.js';
import { type Caller, RUN, type RunFacts } from '../caller.js';
import { admitsOf } from '../policies/admits.js';
import { digestOf } from '../policies/digest.js';
import { millisecondsOf } from '../durations.js';
import type { Policy, PolicyParts } from '../policies/policy.js';
import { idempotencyKeyOf } from './idempotency-key.js';
import { KeyedCalls } from './keyed-calls.js';

const OPTIONS: OptionTypes<IdempotentOptions> = { ttl: true, key: true, maxBytes: [1, 16_777_216] };

const MAX_BYTES = 65_536;

/**
 * The policy of a tool's `idempotent`; undefined if it has none.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function idempotentPolicy(parts: PolicyParts): Policy | undefined {
  const { where, record, defaults } = parts;
  const { idempotent: option, memoize, preview, timeoutMs = defaults.timeoutMs } = record.options as ToolOptions;
  if (option === undefined) return undefined;
  const { ttlMs, usesArguments, maxBytes } = settingsOf(option, where);
  if (memoize !== undefined && memoize !== false) throw invalidOption(where, 'idempotent', NOT_BOTH);
  const waitMs = timeoutMs === false ? undefined : timeoutMs;
  const calls = new KeyedCalls({
    where,
    ttlMs,
    maxBytes,
    waitMs,
    admits: admitsOf(parts),
    reporter: defaults.reporter,
  });
  return (run, next) => {
    const { args: given, caller } = run;
    const facts = caller[RUN];
    const own = keyOf(facts, caller);
    if (own === undefined && !usesArguments) return next(caller);
    const holder = holderOf(caller);
    if (holder === undefined) throw new McpError('invalid-request', own === undefined ? ANONYMOUS : NOBODY);
    const args = digestOf(preview === undefined ? given : withoutTicket(given));
    const key = own === undefined ? (['arguments', args] as const) : (['key', own] as const);
    const place = ['outcome', holder, facts.member ?? record.key, ...key] as const;
    return calls.call({ place, key: own, args, facts, run, next });
  };
}

/**
 * The idempotency key of a call; undefined if it has none.
 * @throws {McpError} `invalid-params` for one that is not valid, or that an earlier round of the call didn't have
 */
function keyOf({ meta, effects }: RunFacts, { transport }: Caller): string | undefined {
  const sent = idempotencyKeyOf(meta, transport);
  if (!effects.isContinuing) return sent;
  const { idempotencyKey } = effects;
  // under another key, the effects of a call would happen once for each
  if (sent !== undefined && sent !== idempotencyKey) throw new McpError('invalid-params', OTHER_KEY);
  return idempotencyKey;
}

function settingsOf(option: NonNullable<ToolOptions['idempotent']>, where: string) {
  const options = typeof option === 'object' && option !== null ? option : { ttl: option };
  requireOptions(`${where} (idempotent)`, options, OPTIONS);
  const { key, maxBytes = MAX_BYTES } = options;
  const ttlMs = millisecondsOf(options.ttl);
  if (ttlMs === undefined) {
    const problem = `must say how long outcomes are kept, up to 30 days. Write \`idempotent: '24h'\`, with ms, s, m, h or d, or a number of milliseconds`;
    throw invalidOption(where, 'idempotent', problem);
  }
  if (key !== undefined && key !== 'arguments') {
    const problem = `can only be 'arguments', for calls without a key of their own. Otherwise, leave it out`;
    throw invalidOption(`${where} (idempotent)`, 'key', problem);
  }
  return { ttlMs, usesArguments: key === 'arguments', maxBytes };
}

/** The arguments without the ticket of a plan: the call that brings it is the one that was planned. */
function withoutTicket({ ticket: _ticket, ...args }: JsonObject): JsonObject {
  return args;
}

const NOT_BOTH =
  'keeps the outcome of a call that changes something, and `memoize` the results of calls that only read. Remove one of them';

const OTHER_KEY =
  'The call began with another idempotency key, or without one. Send its answers with the key that it began with.';

const ANONYMOUS =
  "The server can't tell its callers apart, so it can't know whether this call is a repetition. Sign in, or call within a session.";

/** What callers with a key are told whom nothing tells apart. */
export const NOBODY =
  "The server can't tell its callers apart, so it can't keep the outcome of a call for you. Sign in, or call within a session. To call without that, leave out the idempotency key.";
