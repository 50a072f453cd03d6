import { randomBytes } from 'node:crypto';

import { isObject, withDefaults } from '@decorum/schema/internal';

import { serverHostOf } from './hosting.js';
import { Sharing } from './kernel/cluster.js';
import { checkExtensions } from './kernel/extensions/check-extensions.js';
import { ExtendedTools } from './kernel/extensions/extended-tools.js';
import { claimState, MemorySingleUse, SealedStates } from './kernel/request-states.js';
import { KeyRing } from './kernel/key-ring.js';
import type { ErrorReporter } from './kernel/error-reporter.js';
import { intercepting } from './kernel/interceptors.js';
import { CallerRoom } from './kernel/records/caller-room.js';
import { SealedRecords } from './kernel/records/sealed-records.js';
import type { KernelParts } from './kernel/methods/method.js';
import { SealedTickets } from './kernel/tickets.js';
import { type Implementation, LOG_LEVELS } from './protocol/model.js';
import { DEFAULT_LIMITS, limitReporter } from './protocol/limits.js';
import { pick } from './protocol/revisions/fields.js';
import { checkCache, checkIcons } from './registry/plan.js';
import { requireTags } from './registry/tags.js';
import { checkSecrets, derive, hasSecret, secretsOfEnvironment } from './secrets.js';
import { demand, type McpServerOptions } from './options.js';
import { storeOf } from './stores.js';

/**
 * Turns the user's options into the kernel's settings.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`, `DECORUM_INVALID_EXTENSION`
 */
export function kernelOptions(
  options: McpServerOptions<readonly object[]>,
  reporter: ErrorReporter,
): Omit<KernelParts, 'registry' | 'reporter' | 'events'> {
  const warn = (message: string) => reporter.warn({}, message);
  const { instructions, experimental, pageSize = 1000, logLevel = 'info', listing = 'all', cluster } = options;
  const { questionTimeoutMs = 600_000, requestStateTtlMs = 600_000, cache = { ttlMs: 0, scope: 'private' } } = options;
  const { secret = secretsOfEnvironment() } = options;
  const secrets = secret === undefined ? [randomBytes(32).toString('hex')] : [secret].flat();
  checkSecrets(secrets, options.secret === undefined);
  demand(cluster === undefined || secret !== undefined, 'secret', NO_SHARED_SECRET);
  const { singleUse: given } = options;
  const singleUse = given === true ? (cluster?.singleUse ?? new MemorySingleUse()) : given;
  demand(['all', 'usable'].includes(listing), 'listing', "must be 'all' or 'usable'");
  if ('hiddenTags' in options) requireTags(options.hiddenTags, 'McpServer', 'hiddenTags');
  demand(LOG_LEVELS.includes(logLevel), 'logLevel', `must be one of ${LOG_LEVELS.join(', ')}`);
  const interceptors = options.interceptors ?? [];
  demand(isNested(experimental), 'experimental', 'must be an object whose members are objects');
  checkCache(cache, 'McpServer');
  checkIcons(options.icons, 'McpServer');
  const server = pick(options, IMPLEMENTATION_FIELDS) as unknown as Implementation;
  const warnOnce = secret === undefined ? once(() => warn(RANDOM_SECRET)) : () => {};
  const keysFor = (purpose: string) => secrets.map((text) => derive(text, `${purpose} ${server.name}`));
  const ringFor = (purpose: string) => new KeyRing(keysFor(purpose), requestStateTtlMs, warnOnce);
  // the store decides how long records live
  const keptRing = new KeyRing(keysFor('records'), Infinity, () => {});
  const extensions = checkExtensions(options.extensions ?? []);
  const limits = withDefaults(DEFAULT_LIMITS, options.limits);
  const room = new CallerRoom(limits.maxStoredBytesPerCaller);
  return {
    server,
    instructions,
    extensions,
    extended: new ExtendedTools(extensions),
    hostMethod: hostMethodOf(options),
    experimental,
    intercept: intercepting(singleUse ? [...interceptors, claimState] : interceptors),
    cache,
    logLevel,
    pageSize,
    questionTimeoutMs,
    maxResultChars: options.maxResultChars,
    limits,
    hit: limitReporter(options.onLimit, (error) => void reporter.report(error)),
    cursorKeys: keysFor('cursors'),
    requestStates: new SealedStates(ringFor('flows'), singleUse, reporter),
    tickets: new SealedTickets(ringFor('tickets')),
    records: new SealedRecords({ store: storeOf(options), ring: keptRing, server: server.name, reporter, room }),
  };
}

function once(tell: () => void): () => void {
  let isTold = false;
  return () => {
    if (!isTold) tell();
    isTold = true;
  };
}

/** How a framework runs the methods of extensions; undefined without one. */
function hostMethodOf(options: McpServerOptions<readonly object[]>): KernelParts['hostMethod'] {
  const host = serverHostOf(options);
  return host && ((name, handle) => host.method(name, handle));
}

/** What a server shares with other processes. */
export function sharingOf({ cluster, changeBus, secret }: McpServerOptions<readonly object[]>): Sharing {
  const lacks = [...(hasSecret({ secret }) ? [] : ['secret']), ...((changeBus ?? cluster) ? [] : ['changeBus'])];
  return new Sharing(cluster, lacks);
}

const isNested = (object: unknown) =>
  object === undefined || (isObject(object) && Object.values(object).every(isObject));

const IMPLEMENTATION_FIELDS = ['name', 'version', 'title', 'description', 'icons', 'websiteUrl'] as const;

const RANDOM_SECRET =
  'requestState and tickets are sealed with a random key: they become invalid when this process ends, and no other process can open them. Set `secret` or DECORUM_SECRET.';

const NO_SHARED_SECRET =
  'is missing. The processes of a cluster need the same one: set DECORUM_SECRET to at least 32 random characters';
