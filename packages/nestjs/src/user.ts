import type { Principal } from '@decorum/core';
import { isObject } from '@decorum/core/internal';

/** Where strategies of passport and middleware put the name of a user, the most exact first. */
const SUBJECTS = ['subject', 'sub', 'id', 'userId'];

/**
 * The caller for a user that the application has signed in.
 * @throws {TypeError} for a user without a name that is known here
 */
export function principalOfUser(user: unknown): Principal {
  const fields = isObject(user) ? user : {};
  const subject = SUBJECTS.map((name) => fields[name]).find((value) => value !== undefined && value !== null);
  if ((typeof subject !== 'string' && typeof subject !== 'number') || subject === '') {
    const names = `\`${SUBJECTS.join('`, `')}\``;
    throw new TypeError(
      `The user needs one of ${names}, a string or a number. Or pass a function as \`principal\` that returns \`{ subject }\`.`,
    );
  }
  const { scopes, exp } = fields;
  return {
    subject: String(subject),
    ...(Array.isArray(scopes) && { scopes: scopes.filter((scope) => typeof scope === 'string') }),
    // a payload of a JSON Web Token (RFC 7519, section 4.1.4), in seconds
    ...(typeof exp === 'number' && { expiresAt: exp * 1000 }),
  };
}

/** The caller for `request.user`, if there is one. On Fastify, middleware only has the request of Node.js. */
export function callerOf(request: object): Principal | undefined {
  const { user, raw } = request as { readonly user?: unknown; readonly raw?: { readonly user?: unknown } };
  const found = user ?? raw?.user ?? undefined;
  return found === undefined ? undefined : principalOfUser(found);
}
