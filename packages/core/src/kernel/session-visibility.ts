import type { TagVisibility } from '../protocol/access-caller.js';
import type { Exchange } from '../protocol/exchange.js';
import { isTag, MAX_SESSION_TAGS, MAX_TAG_CHARS } from '../protocol/limits.js';

const NOTHING: TagVisibility = { shown: [], hidden: [] };

/**
 * Shows and hides members in the session of a request, by their tags. The client is told of the lists that have changed.
 * A session keeps this for as long as it lives, in whatever process its requests arrive.
 */
export class SessionVisibility {
  readonly #exchange: Exchange;

  /** @param exchange the request whose session it is */
  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  /**
   * Shows the members with these tags, even if the server hides them at first. Resolves once the change is saved.
   * @throws {TypeError} for anything but tags
   * @throws {Error} if the request has no session, or if the session would keep more than 100 tags
   * @example await ctx.visibility.show('admin');
   */
  async show(...tags: readonly [string, ...string[]]): Promise<void> {
    await this.#change(tags, ({ shown, hidden }) => ({
      shown: [...new Set([...shown, ...tags])],
      hidden: hidden.filter((tag) => !tags.includes(tag)),
    }));
  }

  /**
   * Hides the members with these tags: they are in no list of this session, and unknown when called. Calls that have begun
   * go on. Resolves once the change is saved.
   * @throws {TypeError} for anything but tags
   * @throws {Error} if the request has no session, or if the session would keep more than 100 tags
   * @example await ctx.visibility.hide('checkout');
   */
  async hide(...tags: readonly [string, ...string[]]): Promise<void> {
    await this.#change(tags, ({ shown, hidden }) => ({
      shown: shown.filter((tag) => !tags.includes(tag)),
      hidden: [...new Set([...hidden, ...tags])],
    }));
  }

  /**
   * Forgets what was shown and hidden, so that only the server's `hiddenTags` are hidden. Resolves once that is saved.
   * @throws {Error} if the request has no session
   */
  async reset(): Promise<void> {
    await this.#change([], () => undefined);
  }

  async #change(tags: readonly unknown[], apply: (now: TagVisibility) => TagVisibility | undefined): Promise<void> {
    if (!tags.every(isTag)) throw new TypeError(`A tag is a string of 1 to ${MAX_TAG_CHARS} characters.`);
    const { memory } = this.#exchange.peer;
    if (memory === undefined) throw new Error(this.#exchange.isDetached ? APART : SESSIONLESS);
    await memory.changeVisibility((now = NOTHING) => {
      const next = apply(now);
      const kept = next === undefined ? 0 : next.shown.length + next.hidden.length;
      // what is shown and hidden may depend on what the client has sent
      if (kept > MAX_SESSION_TAGS) throw new Error(`A session shows and hides at most ${MAX_SESSION_TAGS} tags.`);
      return next;
    });
  }
}

const SESSIONLESS =
  '`ctx.visibility` belongs to a session, and this request has none: its revision is stateless, or the server keeps no sessions. Let `access` decide, which is asked in each request.';

const APART =
  '`ctx.visibility` belongs to a session, and this handler runs apart from its request, such as in a task. Show or hide tags in a tool that runs in the session.';
