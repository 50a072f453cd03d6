import type { JsonObject } from '@decorum/schema/internal';

import type { Session } from '../../protocol/eras/stateful.js';
import type { KernelParts } from '../methods/method.js';
import type { ExtensionNotification } from './extension.js';

type Notification = ExtensionNotification | undefined | Promise<ExtensionNotification | undefined>;

/** Sends notifications one after another, in the order in which they were published. Errors are reported. */
export function inOrder(notify: (method: string, params: JsonObject) => void, report: (error: unknown) => void) {
  let last: Promise<void> | undefined;
  return (create: () => Notification): void => {
    const before = last;
    last = (async () => {
      await before;
      const notification = await create();
      if (notification !== undefined) notify(notification.method, notification.params);
    })().catch(report);
  };
}

/** Tells sessions what extensions have published, if they have a notification for it. */
export function tellingSessions({ extensions, reporter }: Pick<KernelParts, 'extensions' | 'reporter'>) {
  const report = (error: unknown) => void reporter.report(error);
  const tellers = new WeakMap<Session, ReturnType<typeof inOrder>>();
  return (session: Session, extension: string, published: JsonObject): void => {
    const known = extensions.find(({ id }) => id === extension);
    if (known?.session === undefined) return;
    const { sessionId: id, revision, client, principal } = session;
    const tell = tellers.get(session) ?? inOrder((method, params) => session.notify(method, params), report);
    tellers.set(session, tell);
    tell(() => known.session?.(published, { id, revision: revision.id, client, principal }));
  };
}
