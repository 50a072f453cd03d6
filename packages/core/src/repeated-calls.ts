import { randomUUID } from 'node:crypto';

import type { Kernel } from './kernel/kernel.js';
import type { RequestOutcome } from './kernel/observed.js';
import { MOUNTABLE, type MountableServer } from './mountable.js';
import type { Effect } from './protocol/effects.js';
import type { SessionLink, SessionOrigin } from './protocol/eras/session-record.js';
import type { ObservedRequest } from './protocol/observed.js';
import type { TransportInfo, Wire } from './protocol/wire.js';
import { type Host, HOST } from './transports/transport.js';

/** How calls are repeated. */
export interface Repeating {
  /** The transport that handlers see. */
  readonly transport: TransportInfo;
  /** Results of effects that don't run again. */
  readonly effects: readonly Effect[];
  /** Called with the outcome of each request. */
  ended(request: ObservedRequest, outcome: RequestOutcome): void;
}

/**
 * A server with the same members, for calls that were recorded and are made again in this process. The server runs its
 * hooks as soon as a transport opens. Its plugins see none of the calls: they would log and count what never happened.
 */
export function repeating(server: Host & MountableServer, { transport, effects, ended }: Repeating): Host {
  const port = server[HOST];
  if (typeof server[MOUNTABLE]?.observed !== 'function')
    throw new Error(
      'The server is of a version of @decorum/core that cannot repeat calls. Update all packages together.',
    );
  const told = [{ plugin: 'replay', name: 'ended', call: ended }];
  const kernel = server[MOUNTABLE].observed({
    requests: { around: [], told },
    questions: { around: [], told: [] },
    sessions: [],
    detached: [],
  });
  const repeated = Object.create(kernel, {
    openSession: {
      // sessions in memory have no id, and nobody who is anonymous is remembered over HTTP without one
      value: (origin: SessionOrigin, link: SessionLink) =>
        kernel.openSession(transport.kind === 'http' ? { ...origin, id: randomUUID() } : origin, link),
    },
    handle: {
      value: (message: unknown, wire: Wire, conversation: Parameters<Kernel['handle']>[2]) =>
        kernel.handle(message, { ...wire, transport, effects }, conversation),
    },
  }) as Kernel;
  return { [HOST]: { ...port, open: async (create) => await port.open(() => create(repeated)) } };
}
