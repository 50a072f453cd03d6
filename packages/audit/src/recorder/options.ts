import { resolve } from 'node:path';

import {
  type ObservedRequest,
  type OptionTypes,
  requireOptions,
  type RequestOutcome,
  startupError,
} from '@decorum/core/plugin';

import type { RedactOptions } from './secrets.js';

/** Options of `recorder`. */
export interface RecorderOptions {
  /** Folder of the recordings. It is created if it is missing. Several processes may share it. */
  readonly folder: string;
  /**
   * Which calls to keep: those that `failed` (default), a share of all calls from 0 to 1, or those for which a function
   * returns `true`. The function is called when the call has ended.
   */
  readonly when?: 'failed' | number | ((request: ObservedRequest, outcome: RequestOutcome) => boolean);
  /** What to replace besides what looks like a secret. */
  readonly redact?: RedactOptions;
  /** Whether recordings name the caller's `subject`. By default, a placeholder stands for it. */
  readonly subject?: boolean;
  /** Names of the claims of the caller that recordings have. Defaults to none. */
  readonly claims?: readonly string[];
  /** Bytes of one recording. Longer ones lack what doesn't fit, and can't be replayed. Defaults to 262,144. */
  readonly maxBytes?: number;
  /** Number of recordings to keep. The oldest are deleted first. Defaults to 1000. */
  readonly maxFiles?: number;
  /** Bytes of all recordings. The oldest are deleted first. Defaults to 104,857,600. */
  readonly maxTotalBytes?: number;
}

const OPTIONS: OptionTypes<RecorderOptions> = {
  folder: 'string',
  when: true,
  redact: 'object',
  subject: 'boolean',
  claims: 'array',
  maxBytes: [4096, 16_777_216],
  maxFiles: [1, 1_000_000],
  maxTotalBytes: [4096, Number.MAX_SAFE_INTEGER],
};

const REDACT: OptionTypes<RedactOptions> = { names: 'array', patterns: 'array', find: 'function' };

/** The options with their defaults. */
export type RecorderSettings = Required<RecorderOptions>;

const wrong = (option: string, problem: string) => startupError('DECORUM_INVALID_OPTION', 'recorder', option, problem);

function requireWhen(when: unknown): void {
  const isShare = typeof when === 'number' && when >= 0 && when <= 1;
  if (when === 'failed' || isShare || typeof when === 'function') return;
  throw wrong('when', "must be 'failed', a number from 0 to 1, or a function of the request and its outcome");
}

function requireRedact(redact: RedactOptions): void {
  requireOptions('recorder.redact', redact, REDACT);
  const { names = [], patterns = [] } = redact;
  if (!names.every((each) => each instanceof RegExp || (typeof each === 'string' && each !== '')))
    throw wrong('redact.names', "has what is neither a name nor a pattern. Write `['ssn', /^customer/i]`");
  if (!patterns.every((each) => each instanceof RegExp))
    throw wrong('redact.patterns', 'has what is not a regular expression. Write `[/\\bCUST-\\d+/]`');
  if (patterns.some((each) => each.test('')))
    throw wrong('redact.patterns', 'has a pattern that fits the empty text. Let it begin with what secrets begin with');
}

/**
 * The options with their defaults.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function settingsOf(options: RecorderOptions): RecorderSettings {
  requireOptions('recorder', options, OPTIONS);
  const { folder, when = 'failed', redact = {}, subject = false, claims = [] } = options;
  const { maxBytes = 262_144, maxFiles = 1000, maxTotalBytes = 104_857_600 } = options;
  if (folder === undefined || folder.trim() === '') throw wrong('folder', "is missing. Write `folder: 'recordings'`");
  requireWhen(when);
  requireRedact(redact);
  if (!claims.every((each) => typeof each === 'string' && each !== ''))
    throw wrong('claims', "has what is not the name of a claim. Write `['tenant']`");
  if (maxTotalBytes < maxBytes)
    throw wrong('maxTotalBytes', `is less than \`maxBytes\`, which is ${maxBytes}. Pass at least as much`);
  return { folder: resolve(folder), when, redact, subject, claims, maxBytes, maxFiles, maxTotalBytes };
}
