import { INITIALIZE } from '@decorum/core/transport';

import { type Json, notification, paramsOf } from './message.js';

const INITIALIZED = 'notifications/initialized';

/** The messages that set up a client's session, to replay them to the next program. */
export class Memory {
  /** The params of `initialize`; undefined before it. */
  initialize: Json | undefined;
  /** Whether the client has sent `notifications/initialized`. */
  joined = false;
  /** Goes up by one with each message that was noted. */
  version = 0;
  private level: Json | undefined;
  private readonly subscriptions = new Map<unknown, Json>();

  /** Records a client's message if it affects the session. */
  note(message: Json): void {
    const { method } = message;
    const params = paramsOf(message);
    if (method === INITIALIZE) this.initialize = params;
    else if (method === INITIALIZED) this.joined = true;
    else if (method === 'logging/setLevel') this.level = params;
    else if (method === 'resources/subscribe') this.subscriptions.set(params['uri'], params);
    else if (method === 'resources/unsubscribe') this.subscriptions.delete(params['uri']);
    else return;
    this.version += 1;
  }

  /** The messages that follow `initialize` in the next program. Requests have no ids yet. */
  replay(): Json[] {
    if (!this.joined) return [];
    return [
      notification(INITIALIZED),
      ...(this.level ? [{ method: 'logging/setLevel', params: this.level }] : []),
      ...[...this.subscriptions.values()].map((params) => ({ method: 'resources/subscribe', params })),
    ];
  }

  /** Whether the client wants log messages of level `error`. */
  get wantsErrors(): boolean {
    return !['critical', 'alert', 'emergency'].includes(String(this.level?.['level']));
  }
}
