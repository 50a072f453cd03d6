import type { SessionMeans } from '../protocol/eras/stateful.js';
import type { KernelParts } from './methods/method.js';

/** What sessions need to show and hide tags. */
export const tagsOfSessions = ({
  registry,
  events,
}: Pick<KernelParts, 'registry' | 'events'>): Pick<SessionMeans, 'hides' | 'tellDifference'> => ({
  hides: () => registry.useTags(),
  tellDifference(session, before, now) {
    const changes = registry.differences(before, now);
    events.announceHidden(session, changes, (list) => session.announce(list));
  },
});
