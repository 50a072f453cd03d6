import type { RequestHead } from '@decorum/http';

type Sender = Pick<RequestHead, 'connection' | 'headers'>;

/** A token as it was sent. */
interface Sent {
  readonly authorization: string | undefined;
  readonly digest: string;
}

/**
 * The digest of the last valid token of each connection. Most connections send the same token with every request, and
 * hashing it would cost more than all other steps of recognizing it. Invalid tokens aren't kept, because a connection
 * may send any number of them.
 */
export class RecentDigests {
  private readonly sent = new WeakMap<object, Sent>();

  /** The digest, if the connection sends the same token as before. */
  get({ connection, headers }: Sender): string | undefined {
    const last = connection && this.sent.get(connection);
    return last !== undefined && last.authorization === headers.authorization ? last.digest : undefined;
  }

  set({ connection, headers: { authorization } }: Sender, digest: string): void {
    if (connection !== undefined) this.sent.set(connection, { authorization, digest });
  }
}
