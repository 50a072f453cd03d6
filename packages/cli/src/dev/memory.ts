import { INITIALIZE } from '@decorum/core/internal';

import { isRequest, type Json, paramsOf, type Written } from './message.js';

const INITIALIZED = 'notifications/initialized';

/** The messages that set up a client's session, which introduce the client to the next program. */
export class Memory {
  /** Goes up by one with each message that was noted. */
  version = 0;
  private initialize: Written<Json> | undefined;
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
    if (method === INITIALIZE) this.initialize = written;
    else if (method === INITIALIZED) this.initialized = written;
    else if (method === 'logging/setLevel') this.level = written;
    else if (method === 'resources/subscribe') this.subscriptions.set(uri, written);
    else if (method === 'resources/unsubscribe') this.subscriptions.delete(uri);
    else return false;
    this.version += 1;
    return true;
  }

  /** All messages, in their order: `initialize` is the first. Empty before it. Requests need new ids. */
  messages(): Written<Json>[] {
    const { initialize, initialized, level, subscriptions } = this;
    const more = initialized ? [initialized, level, ...subscriptions.values()] : [];
    return initialize ? [initialize, ...more.filter((each) => each !== undefined)] : [];
  }

  /** Whether the client wants log messages of level `error`. */
  get wantsErrors(): boolean {
    const level = this.level && paramsOf(this.level.message)['level'];
    return !['critical', 'alert', 'emergency'].includes(String(level));
  }
}
