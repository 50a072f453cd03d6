import { type Kernel, type Session } from '@decorum/core/transport';

import type { Auth } from '../auth/auth.js';
import type { Sender } from '../endpoint/caller.js';
import { denied } from '../auth/challenge.js';
import type { HttpError } from '../endpoint/http-error.js';
import { transportInfo } from '../endpoint/http-context.js';
import type { SessionSettings } from './session-settings.js';

/** The parts of an endpoint that tell the callers of its sessions apart. */
export interface CallerParts {
  readonly kernel: Kernel;
  readonly auth: Auth<never> | undefined;
  /** Lower-case names of the headers that are hidden from handlers. */
  readonly credentials: ReadonlySet<string>;
}

/** What sessions need for callers that sign in: the error for the others, and the check of their subscriptions. */
export function sessionCallers(parts: CallerParts): Pick<SessionSettings, 'unauthorized' | 'recheck'> {
  const { kernel, auth, credentials } = parts;
  const { scopes = [] } = auth ?? {};
  const authorization = auth && { scopes };
  return {
    unauthorized: (): HttpError =>
      denied({ reason: 'unauthorized', scopes, principal: undefined, inSession: true }, auth),
    recheck: async (session: Session, sender: Sender) => {
      const transport = transportInfo(sender, credentials);
      await kernel.adoptions.recheck(session, { principal: sender.principal, authorization, transport, owner: parts });
    },
  };
}
