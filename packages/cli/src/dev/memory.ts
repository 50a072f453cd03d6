import { INITIALIZE } from '@decorum/core/transport';

import { isRequest, type Json, paramsOf, type Written } from './message.js';

const INITIALIZED = 'notifications/initialized';

/** The messages that set up a client's session, to replay them to the next program. */
export class Memory {
  /** The text of `initialize`; undefined before it. */
  initialize: string | undefined;
  /** Goes up by one with each message that was noted. */
  version = 0;
  private initialized: Written<Json> | undefined;
  private level: Written<Json> | undefined;
  private readonly subscriptions = new Map<unknown, Written<Json>>();

  /** Whether the client has sent `notifications/initialized`. */
  get joined(): boolean {
    return this.initialized !== undefined;
  }

  /** Records a client's message if it affects the session, and returns whether it does. */
  note(written: Written<Json>): boolean {
    const { method } = written.message;
    // a request without an id, or the reverse, is something else
    if (isRequest(written.message) === (method === INITIALIZED)) return false;
    const uri = paramsOf(written.message)['uri'];
    if (method === INITIALIZE) this.initialize = written.text;
    else if (method === INITIALIZED) this.initialized = written;
    else if (method === 'logging/setLevel') this.level = written;
    else if (method === 'resources/subscribe') this.subscriptions.set(uri, written);
    else if (method === 'resources/unsubscribe') this.subscriptions.delete(uri);
    else return false;
    this.version += 1;
    return true;
  }

  /** The messages that follow `initialize` in the next program. Requests need new ids. */
  replay(): Written<Json>[] {
    const { initialized, level, subscriptions } = this;
    return initialized ? [initialized, ...(level ? [level] : []), ...subscriptions.values()] : [];
  }

  /** Whether the client wants log messages of level `error`. */
  get wantsErrors(): boolean {
    const level = this.level && paramsOf(this.level.message)['level'];
    return !['critical', 'alert', 'emergency'].includes(String(level));
  }
}
