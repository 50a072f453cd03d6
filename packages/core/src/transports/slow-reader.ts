import type { Frame } from '../protocol/frame.js';

/**
 * Whether to drop a frame for a slow reader: progress and log messages are outdated by the time it would read them.
 * @example const isSent = !socket.writableNeedDrain || !isDroppable(frame);
 */
export const isDroppable = ({ kind }: Frame): boolean => kind === 'progress' || kind === 'log';

/** Pending changes for a slow reader. Repeated changes are coalesced, since the reader then reads the latest state. */
export class PendingChanges {
  private readonly texts = new Set<string>();
  private length = 0;

  /** @param limit maximum characters of all pending changes; further changes are dropped */
  constructor(private readonly limit: number) {}

  /** Whether a change is pending. */
  has({ text }: Frame): boolean {
    return this.texts.has(text);
  }

  /** Adds a change. Returns false if it is already pending, or if there is no room. */
  admit({ text }: Frame): boolean {
    if (this.texts.has(text) || this.length + text.length > this.limit) return false;
    this.texts.add(text);
    this.length += text.length;
    return true;
  }
}
