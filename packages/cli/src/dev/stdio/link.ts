import { type Catalog, readCatalog } from '../lists.js';
import { withText } from '../json-text.js';
import { isRequest, type Json, request, type Written } from '../message.js';
import type { Program } from '../program.js';

/** Sends a program the relay's own requests, over the same stdin and stdout as the client's messages. */
export class Link {
  private readonly waiting = new Map<unknown, (response: Json) => void>();
  private asked = 0;
  /** Whether the client's session has begun in this program. */
  hasSession = false;
  /** `list_changed` notifications that the program sent before clients were moved to it. */
  readonly early = new Set<string>();

  constructor(readonly program: Program) {
    void this.abandon();
  }

  private async abandon(): Promise<void> {
    await this.program.ended;
    for (const resolve of this.waiting.values()) resolve({});
  }

  /** Sends a request with an id of the relay's own. Resolves with an empty object if the program ends. */
  private repeat(text: string): Promise<Json> {
    const id = `decorum-dev-${this.program.number}-${++this.asked}`;
    return new Promise((resolve) => {
      if (this.program.hasEnded) return resolve({});
      this.waiting.set(id, resolve);
      this.program.write(withText(text, ['id'], JSON.stringify(id)));
    });
  }

  /** Handles a response to one of the relay's own requests. Returns false for any other message. */
  takes(message: Json): boolean {
    const resolve = this.waiting.get(message['id']);
    if (!resolve || message['method'] !== undefined) return false;
    this.waiting.delete(message['id']);
    resolve(message);
    return true;
  }

  /**
   * Begins the client's session as it began in the previous program.
   * @param messages see `Memory.messages`
   */
  async begin([initialize, ...more]: readonly Written<Json>[]): Promise<void> {
    if (initialize === undefined) return;
    this.hasSession = true;
    await this.repeat(initialize.text);
    await Promise.all(
      more.map(({ message, text }) => (isRequest(message) ? this.repeat(text) : this.program.write(text))),
    );
  }

  /** Reads the program's catalog without a session, or else in the client's session. Undefined if that hasn't begun. */
  catalog(): Promise<Catalog | undefined> {
    const ask = (method: string, params: Json) => this.repeat(JSON.stringify(request(0, method, params)));
    return readCatalog(ask, async () => (this.hasSession ? { ask, begun: {} } : undefined));
  }
}
