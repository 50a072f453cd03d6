import type { Principal } from '@decorum/core';
import { type OptionTypes, requireOptions } from '@decorum/core/plugin';
import type { Auth, AuthRefusal } from '@decorum/http';

import { startupError } from './errors.js';
import { principalOfUser } from './user.js';

/** What passport calls. */
interface Strategy {
  authenticate(request: object, options: object): unknown;
}

/** Options of `passport`. */
export interface PassportOptions {
  /** The caller for the user that the strategy found. By default, `subject`, `sub`, `id` or `userId` is its subject. */
  // method syntax makes the parameters bivariant: a function may declare its own user
  principal?(user: object, info: unknown): Principal;
  /** Lower-case names of more headers than `Authorization` in which the strategy looks for credentials. */
  readonly credentialHeaders?: readonly string[];
}

const OPTIONS: OptionTypes<PassportOptions> = { principal: 'function', credentialHeaders: 'array' };

/** A strategy's decision about a request. */
type Decision = Principal | AuthRefusal | undefined;

/**
 * Lets a strategy of passport authenticate the requests of an endpoint. As passport does, it puts the user into
 * `request.user`. Only strategies for credentials in the request work, such as those for bearer tokens and API keys, not
 * those that send the user to another page.
 * @param strategy an instance of a strategy, such as the provider of a class that extends `PassportStrategy(Strategy)`
 * @returns the `auth` of an endpoint. Callers whose credentials the strategy rejects get a 401, and those without
 * credentials too unless they ask for something public
 * @throws {DecorumError} `DECORUM_INVALID_OPTION` if the strategy has no `authenticate`
 * @example
 * ```ts
 * import { McpModule, passport } from '@decorum/nestjs';
 * import { Strategy } from 'passport-http-bearer';
 *
 * const strategy = new Strategy((token, done) => done(null, token === process.env['TOKEN'] && { id: 'ada' }));
 * McpModule.forRoot({ name: 'weather', version: '1.0.0', auth: passport(strategy) });
 * ```
 */
export function passport(strategy: object, options: PassportOptions = {}): Auth<object> {
  if (typeof (strategy as Partial<Strategy> | undefined)?.authenticate !== 'function') {
    const problem = "must be an instance of a strategy, with a method `authenticate`. Inject the strategy's class";
    throw startupError('DECORUM_INVALID_OPTION', 'passport', 'strategy', problem);
  }
  requireOptions('passport', options, OPTIONS);
  const { credentialHeaders = [], principal = principalOfUser } = options;
  return {
    credentialHeaders,
    authenticate: (head, request) =>
      new Promise<Decision>((resolve, reject) => {
        const hasCredentials =
          head.authorizations.length > 0 || credentialHeaders.some((name) => name.toLowerCase() in head.headers);
        const decisions = {
          success(user: object, info: unknown) {
            // a strategy may call this from a callback, where nothing would catch an error
            try {
              const found = principal(user, info);
              Object.assign(request, { user });
              resolve(found);
            } catch (error) {
              reject(error);
            }
          },
          fail: (challenge: unknown, status: unknown) =>
            resolve(hasCredentials ? refusal(challenge, status) : undefined),
          pass: () => resolve(undefined),
          error: reject,
          redirect: () => reject(new TypeError(REDIRECTS)),
        };
        // passport, too, gives each request an object of its own that inherits from the strategy
        const running = Object.assign(Object.create(strategy) as Strategy, decisions);
        Promise.resolve(running.authenticate(request, {})).catch(reject);
      }),
  };
}

const REDIRECTS =
  'The strategy sends the user to another page, which an MCP client cannot follow. Pass a strategy for tokens or API keys.';

/** A challenge that is a header's value: a scheme with parameters, all in ASCII. */
const CHALLENGE = /^[A-Za-z]+ [\w-]+=[\t\x20-\x7e]*$/;

/**
 * The response to credentials that a strategy rejects.
 * @param challenge a header's value, or an error or text to log. As in passport, a number in its place is the status
 */
function refusal(challenge: unknown, status: unknown): AuthRefusal {
  const code = typeof challenge === 'number' ? challenge : status;
  const isChallenge = typeof challenge === 'string' && CHALLENGE.test(challenge);
  return {
    status: typeof code === 'number' && code >= 400 && code < 600 ? code : 401,
    headers: { 'www-authenticate': isChallenge ? challenge : 'Bearer error="invalid_token"' },
  };
}
