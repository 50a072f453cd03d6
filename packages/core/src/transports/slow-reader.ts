import type { Frame } from '../protocol/frame.js';

/** Whether a frame is dropped where its reader is slow: it tells of a moment that has passed. */
export const isPassing = ({ kind }: Frame): boolean => kind === 'progress' || kind === 'log';

/** The changes that wait for a slow reader. Repeated changes are coalesced: the reader then gets the latest state. */
export class WaitingChanges {
  private readonly texts = new Set<string>();
  private length = 0;

  /** @param limit characters that different changes may have together; more are dropped */
  constructor(private readonly limit: number) {}

  /** Whether a change is to wait too. */
  admit({ text }: Frame): boolean {
    if (this.texts.has(text) || this.length + text.length > this.limit) return false;
    this.texts.add(text);
    this.length += text.length;
    return true;
  }
}
