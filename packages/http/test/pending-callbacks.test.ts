import { describe, expect, it } from '@jest/globals';

import { HttpError } from '../src/endpoint/http-error.js';
import { PendingCallbacks, type Waiting } from '../src/endpoint/pending-callbacks.js';

const never = new Promise<never>(() => {});

/** A client that disconnects when the test says so. */
class Client implements Waiting {
  gone = false;
  readonly callbacks = new Set<() => void>();

  onClose(callback: () => void): () => void {
    this.callbacks.add(callback);
    return () => void this.callbacks.delete(callback);
  }

  leave(): void {
    this.gone = true;
    for (const callback of this.callbacks) callback();
  }
}

describe('a callback that never settles', () => {
  it('is let go when its client disconnects', async () => {
    const client = new Client();
    const waiting = new PendingCallbacks().until(never, client);
    client.leave();
    await expect(waiting).rejects.toThrow('The client has disconnected.');
    expect(client.callbacks.size).toBe(0);
  });

  it('is let go at once if its client has disconnected before', async () => {
    const client = new Client();
    client.leave();
    await expect(new PendingCallbacks().until(never, client)).rejects.toThrow('The client has disconnected.');
  });

  it('is let go when the endpoint closes, whoever else waits for the same promise', async () => {
    const pending = new PendingCallbacks();
    const client = new Client();
    const waiting = [pending.until(never), pending.until(never, client)];
    pending.rejectAll(new HttpError(503, 'The server is closing.'));
    for (const each of waiting) await expect(each).rejects.toThrow('The server is closing.');
  });
});

it('a client that waits for nothing any more is not watched', async () => {
  const client = new Client();
  expect(await new PendingCallbacks().until(Promise.resolve(1), client)).toBe(1);
  expect(client.callbacks.size).toBe(0);
});
