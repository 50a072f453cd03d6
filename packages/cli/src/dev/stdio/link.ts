import { newestOf } from '@decorum/core/transport';

import { DISCOVER } from '../answers.js';
import { type Ask, type Lists, readLists } from '../lists.js';
import { withText } from '../json-text.js';
import { type Id, isJson, isRequest, type Json, notification, request, type Written } from '../message.js';
import type { Program } from '../program.js';

const OWN = 'decorum-dev-';
const CLIENT = { name: 'decorum-dev', version: '1.0.0' };
const STATELESS = newestOf('stateless').id;
const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': STATELESS,
  'io.modelcontextprotocol/clientInfo': CLIENT,
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** Sends a program the relay's own requests, over the same stdin and stdout as the client's messages. */
export class Link {
  private readonly waiting = new Map<unknown, (response: Json) => void>();
  private asked = 0;
  /** Whether the client's session has begun in this program. */
  hasSession = false;
  /** `list_changed` notifications that the program sent before clients were moved to it. */
  readonly early = new Set<string>();
  about: Json = {};

  constructor(readonly program: Program) {
    void this.abandon();
  }

  private async abandon(): Promise<void> {
    await this.program.ended;
    for (const resolve of this.waiting.values()) resolve({});
  }

  /** Sends one of the relay's own requests. Resolves with an empty object if the program ends. */
  ask(method: string, params: Json): Promise<Json> {
    return this.repeat(JSON.stringify(request(0, method, params)));
  }

  /** Sends a request with an id of the relay's own. */
  private repeat(text: string): Promise<Json> {
    const id = `${OWN}${this.program.number}-${++this.asked}`;
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
   * @param initialize the text of the client's `initialize`
   */
  async begin(initialize: string, replay: readonly Written<Json>[]): Promise<void> {
    this.hasSession = true;
    await this.repeat(initialize);
    await Promise.all(
      replay.map(({ message, text }) => (isRequest(message) ? this.repeat(text) : this.program.write(text))),
    );
  }

  /** Reads the program's lists without a session, or else in the client's session. Undefined if that hasn't begun. */
  async lists(): Promise<Lists | undefined> {
    const stateless: Ask = (method, params) => this.ask(method, { ...params, _meta: ENVELOPE });
    const { result } = await stateless(DISCOVER, {});
    if (isJson(result)) {
      const meta = isJson(result['_meta']) ? result['_meta'] : {};
      const info = meta['io.modelcontextprotocol/serverInfo'];
      if (isJson(info)) this.about = info;
      return readLists(stateless);
    }
    return this.hasSession ? readLists((method, params) => this.ask(method, params)) : undefined;
  }
}

/** `notifications/cancelled` for a request, as text. */
export const cancelled = (requestId: Id): string =>
  JSON.stringify(notification('notifications/cancelled', { requestId, reason: 'The program was replaced.' }));
