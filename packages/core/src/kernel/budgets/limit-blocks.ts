import { isObject } from '@decorum/schema/internal';

import type { ContentBlock } from '../../protocol/model.js';
import { cutText } from '../../text/cut.js';
import { Losses } from './losses.js';

/** Types of text that is read from the beginning, and so survives a cut: a parser would reject what is left of others. */
const PROSE = /^text\/(?:plain|markdown|x-[\w.+-]+)\s*(?:;|$)/i;

/** Blocks within a maximum. */
export interface LimitedBlocks {
  /** What is left of each block; undefined for those that are left out. */
  readonly kept: readonly (ContentBlock | undefined)[];
  /** Which block was cut, or left out because nothing of its text was left. Undefined if no text was too long. */
  readonly cutAt: number | undefined;
  readonly losses: Losses;
}

/**
 * Keeps blocks within a maximum, in their order. Text is cut, and nothing after it is kept. Other blocks are kept or left out.
 * @param max characters, and bytes of what is no text
 * @returns undefined if they are within it
 */
export function limitBlocks(blocks: readonly ContentBlock[], max: number): LimitedBlocks | undefined {
  const sizes = blocks.map(sizeOf);
  if (sizes.reduce((sum, size) => sum + size, 0) <= max) return undefined;
  const losses = new Losses();
  let left = max;
  let cutAt: number | undefined;
  const kept = blocks.map((block, index) => {
    const size = sizes[index] as number;
    const prose = proseOf(block);
    const fits = size <= left;
    const part = prose !== undefined && !fits ? cutText(prose, left) : prose;
    if (prose !== undefined) losses.cut(prose.length, part?.length ?? 0);
    else if (!fits) losses.leaveOut(block, size);
    if (fits) {
      left -= size;
      return block;
    }
    if (prose === undefined) return undefined;
    cutAt ??= index;
    left = 0;
    return part ? withProse(block, part) : undefined;
  });
  return { kept, cutAt, losses };
}

const bytesIn = (base64: unknown): number => (typeof base64 === 'string' ? Buffer.byteLength(base64, 'base64') : 0);

/** Other servers may have sent any block. */
function sizeOf(block: ContentBlock): number {
  if (block?.type === 'text' && typeof block.text === 'string') return block.text.length;
  if (block?.type === 'image' || block?.type === 'audio') return bytesIn(block.data);
  if (block?.type === 'resource' && isObject(block.resource)) {
    const { text, blob } = block.resource;
    return typeof text === 'string' ? text.length : bytesIn(blob);
  }
  return JSON.stringify(block)?.length ?? 0;
}

function proseOf(block: ContentBlock): string | undefined {
  if (block?.type === 'text' && typeof block.text === 'string') return block.text;
  if (block?.type !== 'resource' || !isObject(block.resource)) return undefined;
  const { text, mimeType = 'text/plain' } = block.resource;
  return typeof text === 'string' && PROSE.test(mimeType) ? text : undefined;
}

function withProse(block: ContentBlock, text: string): ContentBlock {
  if (block.type !== 'resource') return { ...block, text } as ContentBlock;
  return { ...block, resource: { ...block.resource, text } };
}
