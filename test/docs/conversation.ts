// Replays the conversations in docs/protocol. Blocks marked "json client" are sent in order, and blocks marked
// "json server" are the expected messages.
import { expect } from '@jest/globals';
import { connectMemory, type McpServer } from '@decorum/core';

/** Stands for values that differ between runs or were shown before. */
export const ELIDED = '…';

/** One message of a page. */
export interface Said {
  readonly by: 'client' | 'server';
  readonly message: unknown;
}

/** All messages of a page, in order. */
export function messagesOf(markdown: string): Said[] {
  return [...markdown.matchAll(/^```json (client|server)\n([^]*?)^```$/gm)].map(([, by, text]) => ({
    by: by as Said['by'],
    message: JSON.parse(text ?? ''),
  }));
}

/** Replays the conversation of a page, and compares all messages from the server. */
export async function replay(said: readonly Said[], server: McpServer): Promise<void> {
  const inbox = new Inbox();
  const known = new Map<string, unknown>();
  const connection = await connectMemory(server, { receive: (message) => inbox.add(message) });
  const sent: Promise<void>[] = [];
  for (const { by, message } of said) {
    if (by === 'client') {
      const filled = fill(message, known);
      learn(filled, known);
      sent.push(connection.send(filled as object));
    } else {
      const actual = await inbox.next();
      expect(elide(actual, message)).toEqual(message);
      learn(actual, known);
    }
  }
  await Promise.all(sent);
  expect(inbox.unread).toEqual([]);
  connection.close();
}

/** The messages from the server. */
class Inbox {
  readonly unread: unknown[] = [];
  private waiting: ((message: unknown) => void) | undefined;

  add(message: unknown): void {
    if (this.waiting === undefined) return void this.unread.push(message);
    this.waiting(message);
    this.waiting = undefined;
  }

  next(): Promise<unknown> {
    if (this.unread.length > 0) return Promise.resolve(this.unread.shift());
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('The server says nothing more.')), 30_000);
      this.waiting = (message) => {
        clearTimeout(timer);
        resolve(message);
      };
    });
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Replaces elided values in a client message by the last value with the same name. */
function fill(value: unknown, known: ReadonlyMap<string, unknown>): unknown {
  if (Array.isArray(value)) return value.map((item) => fill(item, known));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, item === ELIDED ? known.get(name) : fill(item, known)]),
  );
}

/** Remembers the envelope of a request and the state of a result. */
function learn(message: unknown, known: Map<string, unknown>): void {
  if (!isObject(message)) return;
  const { params, result } = message;
  if (isObject(params) && 'id' in message && isObject(params['_meta'])) known.set('_meta', params['_meta']);
  if (isObject(result) && 'requestState' in result) known.set('requestState', result['requestState']);
}

/** Elides the same values and list tails in a received message as the page does. */
function elide(actual: unknown, shown: unknown): unknown {
  if (shown === ELIDED && actual !== undefined) return ELIDED;
  if (Array.isArray(actual) && Array.isArray(shown)) {
    const rest = shown.at(-1) === ELIDED && actual.length >= shown.length ? shown.length - 1 : actual.length;
    const items = actual.slice(0, rest).map((item, index) => elide(item, shown[index]));
    return rest < actual.length ? [...items, ELIDED] : items;
  }
  if (!isObject(actual) || !isObject(shown)) return actual;
  return Object.fromEntries(Object.entries(actual).map(([name, item]) => [name, elide(item, shown[name])]));
}
