import type { ContentBlock } from '../../protocol/model.js';
import { cutText } from '../../text/cut.js';

/** A number with separators, such as `1,024`. */
export const inEnglish = (count: number): string => count.toLocaleString('en-US');

/** A number of things, such as `1,024 bytes`. */
export const counted = (count: number, what: string): string => `${inEnglish(count)} ${what}${count === 1 ? '' : 's'}`;

/** What is missing of a result. */
export class Losses {
  private chars = 0;
  private missing = 0;
  /** The first block that is left out and is no text that could be cut. */
  leftOut: string | undefined = undefined;
  private furtherLeftOut = 0;

  /** Counts a text of which only the beginning is left. */
  cut(chars: number, kept: number): void {
    this.chars += chars;
    this.missing += chars - kept;
  }

  /** Counts a block that is no text. */
  leaveOut(block: ContentBlock, size: number): void {
    if (this.leftOut === undefined) this.leftOut = described(block, size);
    else this.furtherLeftOut += 1;
  }

  /**
   * A sentence that says what is missing, up to 300 characters with the advice.
   * @param advice a sentence that says how to get more
   */
  sentence(advice: string): string {
    const { leftOut, furtherLeftOut: others } = this;
    const more = others === 0 ? 'is' : `and ${counted(others, 'more block')} are`;
    const out = leftOut && `${leftOut} ${more} left out`;
    const text = this.missing > 0 && `${inEnglish(this.missing)} of ${inEnglish(this.chars)} characters are missing`;
    return `… ${[text, out].filter(Boolean).join(', and ')}.${advice && ` ${advice}`}`;
  }
}

function described(block: ContentBlock, size: number): string {
  const typed = (mimeType: unknown, kind: string) =>
    typeof mimeType === 'string' && mimeType !== '' ? cutText(mimeType, 30) : kind;
  if (block?.type === 'image' || block?.type === 'audio')
    return `${typed(block.mimeType, block.type)} of ${counted(size, 'byte')}`;
  if (block?.type === 'resource_link') return 'a link';
  if (block?.type !== 'resource') return 'a block';
  const { mimeType, text } = block.resource ?? {};
  return `a resource (${typed(mimeType, 'of unknown type')}, ${counted(size, text === undefined ? 'byte' : 'character')})`;
}

/** Names of arguments that usually make a result smaller, or choose a part of it. */
const NARROWING = new Set(
  `cursor page offset skip start end limit count max size top first last from to since until after before range lines
  pagesize perpage maxresults maxitems maxchars startindex query filter filters search fields select`.split(/\s+/),
);

/**
 * A sentence that says how to get more.
 * @param names the arguments that there are
 * @param otherwise what to say if none of them looks as if it chose a part
 */
export function adviceFor(names: readonly string[], otherwise: string): string {
  const isNarrowing = (name: string) => NARROWING.has(name.replaceAll(/[_-]/g, '').toLowerCase());
  const narrowing = names.filter((name) => name.length <= 20 && isNarrowing(name)).slice(0, 3);
  return narrowing.length === 0 ? otherwise : `Ask for less, or for another part: use "${narrowing.join('", "')}".`;
}
