import { setImmediate as letOthersRun } from 'node:timers/promises';
import { types } from 'node:util';
import { bytesOf, isObject } from '@decorum/schema/internal';

import type { ContentBlock } from '../protocol/model.js';
import { isContentBlock, toContent } from './blocks.js';
import type { Caller } from './caller.js';

/** The part of a caller that reads a generator. */
export type Reader = Pick<Caller, 'progress' | 'signal'>;

/** Whether a value is a generator or an async iterable. */
export function isGenerator(value: object): value is AsyncIterable<unknown> | Generator {
  return Symbol.asyncIterator in value || types.isGeneratorObject(value);
}

/**
 * Runs a generator to its end, or until the call is aborted. A yielded number, or an object with `progress`, reports
 * progress. Yielded text, blocks and bytes are partial content: each is reported as progress, and together they become
 * the content if the generator returns nothing.
 * @throws {TypeError} for any other yielded value, which would be lost
 */
export async function drain(iterable: AsyncIterable<unknown> | Generator, caller: Reader): Promise<unknown> {
  const isAsync = Symbol.asyncIterator in iterable;
  const generator = isAsync ? iterable[Symbol.asyncIterator]() : iterable;
  const { signal } = caller;
  const partial: ContentBlock[] = [];
  let steps = 0;
  for (;;) {
    // without a pause, a synchronous generator could not be cancelled and its progress would not be sent
    if (!isAsync) await letOthersRun();
    const { done, value } = (await generator.next()) as IteratorResult<unknown, unknown>;
    if (done === true) return value === undefined && partial.length > 0 ? partial : value;
    if (signal.aborted) return void (await generator.return?.(undefined));
    steps += 1;
    if (typeof value === 'number') caller.progress(value);
    else if (typeof value === 'string' || isContentBlock(value) || bytesOf(value) !== undefined) {
      partial.push(...toContent(value));
      const [block] = partial.slice(-1);
      caller.progress(steps, undefined, block?.type === 'text' ? block.text : undefined);
    } else if (isObject(value) && typeof value['progress'] === 'number') {
      const { progress, total, message } = value as { progress: number; total?: number; message?: string };
      caller.progress(progress, total, message);
    } else if (value !== undefined) {
      await generator.return?.(undefined);
      throw new TypeError(
        'A generator yielded something that is neither progress nor content. Yield a number, { progress }, text, bytes or a content block, and return the result.',
      );
    }
  }
}
