import type { Change, FailureKind } from '@decorum/core';

import type { Letter } from '../cluster/courier.js';
import type { HubStores } from './hub-stores.js';

/** Marks the messages of the hub: a program may send its own over the same channel. */
export const MARK = 'hub.1';

/** A batch of messages between a node and the hub. */
export interface Envelope {
  readonly decorum: typeof MARK;
  /** The name of the server that the node serves. */
  readonly server: string;
  readonly node: string;
  readonly items: readonly Item[];
}

/** The name of a function that nodes call in the hub. */
export type HubCall = keyof HubStores;

/** The result of a call or letter. */
export interface Outcome {
  readonly value?: unknown;
  /** Set if it failed. */
  readonly error?: { readonly message: string; readonly kind?: FailureKind | undefined };
}

/** One message, in either direction. */
export type Item =
  /** A node introduces itself, or checks that the hub is there. */
  | { readonly kind: 'hello'; readonly id: number }
  | { readonly kind: 'bye' }
  | { readonly kind: 'call'; readonly id: number; readonly call: HubCall; readonly args: readonly unknown[] }
  | { readonly kind: 'change'; readonly change: Change }
  /** The id is that of the sender. The hub passes the letter on with an id of its own. */
  | { readonly kind: 'letter'; readonly id: number; readonly letter: Letter; readonly to?: string | undefined }
  /** A letter for all others that none of them answers. The hub answers once it is on its way. */
  | { readonly kind: 'tell'; readonly id: number; readonly letter: Letter }
  /** The outcome of a hello, a call or a letter. */
  | { readonly kind: 'outcome'; readonly id: number; readonly outcome: Outcome };

/** Whether a message over the channel is for the hub or one of its nodes. */
export function isEnvelope(message: unknown): message is Envelope {
  return typeof message === 'object' && message !== null && (message as Partial<Envelope>).decorum === MARK;
}
