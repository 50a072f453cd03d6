import { isWorker } from '@decorum/core/internal';
import type { HostPort } from '@decorum/core/transport';

import type { ResolvedOptions } from '../endpoint/options.js';
import { requireNode } from '../endpoint/store-options.js';
import { startupError } from '../errors.js';
import type { Cluster } from './cluster.js';

const REMEDY =
  'Start the program with `decorum start --workers`, pass `cluster`, or serve each request on its own: `sessions: false`';

/**
 * The options of an endpoint with the parts of its server's `cluster`, unless it has its own.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION` if this is one of several workers of `node:cluster`, and lacks something
 *   that they must share
 */
export function sharedOptions<R>(settings: ResolvedOptions<R>, { sharing }: HostPort): ResolvedOptions<R> {
  const cluster = sharing.cluster as Cluster | undefined;
  if (cluster !== undefined) requireNode('cluster.courier.node', cluster.courier.node);
  const { sessions } = settings;
  const shared = {
    ...settings,
    sessionStore: settings.sessionStore ?? (sessions ? cluster?.sessions : undefined),
    events: settings.events ?? cluster?.events,
    courier: settings.courier ?? (sessions ? cluster?.courier : undefined),
  };
  const parts = ['sessionStore', 'courier', 'events'] as const;
  const lacks = [...sharing.lacks, ...(sessions ? parts.filter((part) => shared[part] === undefined) : [])];
  if (lacks.length === 0 || !isWorker()) return shared;
  // the error puts the ends into backticks
  const names = lacks.join('`, `');
  const problem = `not set, so the workers of \`node:cluster\` can't serve the same clients. ${REMEDY}`;
  throw startupError('DECORUM_INVALID_OPTION', '@decorum/http', names, `${lacks.length > 1 ? 'are' : 'is'} ${problem}`);
}
