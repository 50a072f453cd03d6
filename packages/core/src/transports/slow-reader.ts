const FIRST = '{"jsonrpc":"2.0","method":"notifications/';
// as `notificationFrame` writes them
const STEP = /^(?:progress|message)"/;
const CHANGE = /^(?:resources\/updated|\w+\/list_changed)"/;

/**
 * How a frame is treated while its reader is slow: `needed` waits, `step` (progress and log messages) is dropped, and
 * `change` (of a list or a resource) waits once.
 */
export type FrameKind = 'needed' | 'step' | 'change';

/** Finds out by its beginning what kind of frame it is. */
export function kindOf(frame: string): FrameKind {
  if (!frame.startsWith(FIRST)) return 'needed';
  const method = frame.slice(FIRST.length, FIRST.length + 40);
  if (STEP.test(method)) return 'step';
  return CHANGE.test(method) ? 'change' : 'needed';
}

/** The changes that wait for a slow reader. One that waits already need not wait twice: who hears of it looks again. */
export class WaitingChanges {
  private readonly frames = new Set<string>();
  private length = 0;

  /** @param limit characters that different changes may have together; more are dropped */
  constructor(private readonly limit: number) {}

  /** Whether a change is to wait too. */
  admit(frame: string): boolean {
    if (this.frames.has(frame) || this.length + frame.length > this.limit) return false;
    this.frames.add(frame);
    this.length += frame.length;
    return true;
  }
}
