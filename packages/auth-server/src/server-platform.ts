import type { Platform } from '@decorum/auth/internal';

import type { Network } from './clients/public-fetch.js';
import { type Clock, SYSTEM_CLOCK } from './platform.js';

/** What an authorization server uses of its process. Tests pass their own. */
export interface ServerPlatform extends Clock, Platform {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** How the documents of clients are reached. */
  readonly network?: Network;
}

/** This process. */
export const PLATFORM: ServerPlatform = {
  ...SYSTEM_CLOCK,
  env: process.env,
  fetch: (url, init) => fetch(url, init),
};
