import type { Events } from './kernel/events.js';

/** Notifies clients of changes that the server cannot see itself. */
export interface Notifier {
  /**
   * Announces a change to a resource to the clients that subscribed to its URI.
   * @param within a resource that this one is part of, such as its folder. Clients that subscribed to it are told the
   *   URI of the part too, whether or not they can read the part
   */
  resourceUpdated(uri: string, within?: string): void;
  toolsChanged(): void;
  promptsChanged(): void;
  /** Announces that the set of resources changed, for example because a template now lists others. */
  resourcesChanged(): void;
  /**
   * Announces that the user has completed what they were asked to do at a URL. Only the session that was asked is
   * notified: this process must hold it, and its revision must have the notification (2025-11-25).
   * @param id the `id` of the visit that `server.openTicket` returned
   */
  elicitationCompleted(id: string): void;
}

/** Creates the notifier of a server. */
export function notifierOf(events: Events): Notifier {
  return {
    resourceUpdated: (uri, within) => {
      if (typeof uri !== 'string') throw new TypeError('`notify.resourceUpdated` needs the URI of the resource.');
      events.publish({ kind: 'resource', uri, ...(within !== undefined && { within }) });
    },
    toolsChanged: () => events.publish({ kind: 'lists', lists: ['tools'] }),
    promptsChanged: () => events.publish({ kind: 'lists', lists: ['prompts'] }),
    resourcesChanged: () => events.publish({ kind: 'lists', lists: ['resources'] }),
    elicitationCompleted: (id) => events.publish({ kind: 'elicitation', id }),
  };
}
