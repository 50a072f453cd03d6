import type { Events } from './kernel/events.js';

/** Notifies clients of changes that the server cannot see itself. */
export interface Notifier {
  /**
   * Notifies the clients that subscribed to a resource that it has changed.
   * @param within URI of a resource that contains this one, such as its folder. Clients that subscribed to `within`
   *   also receive this resource's URI, unless `access` hides this resource from them
   */
  resourceUpdated(uri: string, within?: string): void;
  /** Announces that the list of tools has changed. */
  toolsChanged(): void;
  /** Announces that the list of prompts has changed. */
  promptsChanged(): void;
  /** Announces that the set of resources changed, for example because a template now lists other resources. */
  resourcesChanged(): void;
  /**
   * Announces that the user has completed what they were asked to do at a URL. Only the session that was asked is
   * notified, provided that this process holds the session and its revision has the notification (2025-11-25).
   * @param id the `id` of the visit that `server.openTicket` returned
   */
  elicitationCompleted(id: string): void;
}

/** Creates the notifier of a server. */
export function notifierOf(events: Pick<Events, 'publish'>): Notifier {
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
