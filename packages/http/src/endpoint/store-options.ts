import { inspect } from 'node:util';

import type { Courier } from '../cluster/courier.js';
import { startupError } from '../errors.js';
import type { SessionStore } from '../sessions/session-store.js';
import type { EventStore } from '../streams/event-store.js';

const invalid = (option: string, problem: string) =>
  startupError('DECORUM_INVALID_OPTION', '@decorum/http', option, problem);

/**
 * Checks the option `events`.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function requireEventStore(events: EventStore | false): EventStore | false {
  const { append, read, appendBatch } = (events || {}) as Partial<EventStore>;
  if (events !== false && (typeof append !== 'function' || typeof read !== 'function'))
    throw invalid('events', 'must be false or a store with the methods `append` and `read`');
  requireOptionalMethod('events.appendBatch', appendBatch);
  return events;
}

/**
 * Checks the option `sessionStore`.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function requireSessionStore(store: SessionStore | undefined): SessionStore | undefined {
  const { get, set, touch, delete: remove } = (store ?? {}) as Partial<SessionStore>;
  if (store !== undefined && [get, set, touch, remove].some((method) => typeof method !== 'function'))
    throw invalid('sessionStore', 'must be a store with the methods `get`, `set`, `touch` and `delete`');
  return store;
}

/**
 * Checks the option `courier`.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function requireCourier(courier: Courier | undefined, store: SessionStore | undefined): Courier | undefined {
  if (courier === undefined) return undefined;
  const { send, tell, receive, node } = (courier ?? {}) as Partial<Courier>;
  if (typeof send !== 'function' || typeof receive !== 'function')
    throw invalid('courier', 'must be an object with the methods `send` and `receive`');
  requireOptionalMethod('courier.tell', tell);
  requireNode('courier.node', node);
  if (store === undefined) throw invalid('courier', 'needs `sessionStore`');
  return courier;
}

/**
 * Checks the name of a process.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function requireNode(option: string, node: unknown): void {
  if (typeof node === 'string' && /^[\da-z]{1,16}$/i.test(node)) return;
  throw invalid(option, `is ${inspect(node)}, but must be 1 to 16 letters and digits, another one in each process`);
}

function requireOptionalMethod(option: string, method: unknown): void {
  if (method === undefined || typeof method === 'function') return;
  throw invalid(option, `is ${inspect(method)}, but must be a function. Implement it, or leave it out`);
}
