import type { Implementation } from '@decorum/core';

import type { ThrownError } from '../build/messages.js';
import type { Contract } from './contract.js';

/** The message from the process that runs a program for its contract. */
export type Reply =
  | { readonly type: 'contract'; readonly contract: Contract; readonly info: Implementation }
  /** The program creates no server. */
  | { readonly type: 'nothing' }
  | { readonly type: 'failed'; readonly error: ThrownError; readonly sources: readonly string[] };
