import { CommandFailure, EXIT } from 'create-decorum';

import { say } from './print.js';
import type { Target } from './request.js';
import { TokenFile } from './sign-in/token-file.js';

/**
 * Forgets the tokens of a server.
 * @throws {CommandFailure} with `EXIT.usage` unless the target is a URL
 */
export function signOut(target: Target): void {
  if (!('url' in target) || !URL.canParse(target.url)) {
    throw new CommandFailure('Pass the URL that you have signed in to.', EXIT.usage);
  }
  say(new TokenFile(new URL(target.url)).remove() ? 'Signed out.' : 'You are not signed in.');
}
