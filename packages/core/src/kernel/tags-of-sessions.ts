import type { SessionMeans } from '../protocol/eras/stateful.js';
import { tagDifferences } from '../registry/list-changes.js';
import type { KernelParts } from './methods/method.js';

/** What sessions need to show and hide tags. */
export const tagsOfSessions = ({
  registry,
  events,
}: Pick<KernelParts, 'registry' | 'events'>): Pick<SessionMeans, 'hides' | 'tellDifference'> => ({
  hides: () => registry.useTags(),
  tellDifference(session, before, now) {
    const changes = tagDifferences(registry, [before, now]);
    events.announceHidden(session, changes, (list) => session.announce(list));
  },
});
