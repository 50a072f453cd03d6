import type { Context } from './kernel/context.js';
import type { Change, Changes } from './registry/change.js';

/** What `transform` changes of a member. */
export type MemberChange = Change<Context>;

/**
 * What to change of a provider's members: changes by the members' own names, or a function that decides about each. For
 * resources, the name is the URI or the text of the template. `false` hides a member. A name that no member has is an
 * error, so write a function for lists that change.
 */
export type Transform = Changes<Context>;
