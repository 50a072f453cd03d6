import type { JsonObject } from '@decorum/schema/internal';

import type { Effect } from '../../protocol/effects.js';
import { McpError } from '../../protocol/errors.js';
import type { Outcome } from './outcome.js';

/** What is recorded of a key. */
export interface KeyRecord extends JsonObject {
  /** Digest of the arguments. */
  readonly args: string;
  /** The id of the first request with the key. Whoever goes on has the same one, and so the same keys of effects. */
  readonly id: string;
  /** The request that has the key. */
  readonly run: string;
  /** The turn of a run. Undefined if none is running. */
  readonly turn?: string;
  /** Changes while the process lives that runs it. */
  readonly beat: number;
  /** Whether it waits for the client to answer, in a request that is still to come. */
  readonly isAsking?: true;
  /** Results of effects. */
  readonly effects: readonly Effect[];
  readonly outcome?: Outcome;
}

/** The first beat. All have as many digits: a full store refuses records that grow, and their processes would seem dead. */
export const FIRST_BEAT = 1_000_000;

/** The turn of a process, as seen at some time. */
export interface Turn {
  readonly turn: string | undefined;
  readonly beat: number;
}

/** Whoever wants a key. */
export interface Claimant {
  /** Digest of the arguments. */
  readonly args: string;
  /** The request. */
  readonly run: string;
  /** Whether an earlier round of the request had the key. */
  readonly isContinuing: boolean;
  /** A turn whose process seems to have died. */
  readonly dead: Turn | undefined;
}

/** What a record means for whoever wants its key. */
export type Verdict = { readonly outcome: Outcome } | { readonly busy: Turn } | { readonly isFree: true };

/**
 * Decides who gets a key.
 * @throws {McpError} `invalid-params` for other arguments, and `invalid-state` for a request whose key was taken over
 */
export function judge(now: KeyRecord | undefined, { args, run, isContinuing, dead }: Claimant): Verdict {
  if (now === undefined) return FREE;
  if (now.args !== args) throw otherArguments();
  const { outcome, turn, beat } = now;
  if (outcome !== undefined) return { outcome };
  if (turn !== undefined && !(turn === dead?.turn && beat === dead.beat)) return { busy: { turn, beat } };
  if (now.isAsking && now.run !== run && isContinuing) throw new McpError('invalid-state', TAKEN_OVER);
  return FREE;
}

const FREE = { isFree: true } as const;

/** The error for other arguments under a key. */
export const otherArguments = (): McpError =>
  new McpError(
    'invalid-params',
    'The idempotency key was used with other arguments. Send the same arguments, or use a new key for a new call.',
  );

const TAKEN_OVER =
  'The call was repeated with the same idempotency key, and goes on there. Answer what that call asks.';
