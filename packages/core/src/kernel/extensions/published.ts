import { attempt, type JsonObject } from '@decorum/schema/internal';

import type { Session } from '../../protocol/eras/stateful.js';
import type { KernelParts } from '../methods/method.js';
import type { ExtensionNotification } from './extension.js';

type Notification = ExtensionNotification | undefined | Promise<ExtensionNotification | undefined>;

/** Sends the notification that a function returns, if any. Errors are reported. */
export function notifyWith(
  create: () => Notification,
  notify: (method: string, params: JsonObject) => void,
  report: (error: unknown) => void,
): void {
  attempt(async () => {
    const notification = await create();
    if (notification !== undefined) notify(notification.method, notification.params);
  }, report);
}

/** Tells sessions what extensions have published, if they have a notification for it. */
export function tellingSessions({ extensions, reporter }: Pick<KernelParts, 'extensions' | 'reporter'>) {
  const report = (error: unknown) => void reporter.report(error);
  return (session: Session, extension: string, published: JsonObject): void => {
    const known = extensions.find(({ id }) => id === extension);
    if (known?.session === undefined) return;
    const { sessionId: id, revision, client, principal } = session;
    const create = () => known.session?.(published, { id, revision: revision.id, client, principal });
    notifyWith(create, (method, params) => session.notify(method, params), report);
  };
}
