import { isObject } from '../protocol/jsonrpc.js';
import { text } from '../protocol/content.js';
import type { ContentBlock } from '../protocol/model.js';
import { isContentBlock } from './results.js';
import type { Caller } from './plan.js';

/**
 * Runs a generator to its end, or until nobody wants its result any more. A yielded number, or an object with `progress`, is progress; a yielded text or content
 * block is a partial message: it is announced as progress, and is part of the content when the generator returns
 * nothing.
 */
export async function drain(iterable: AsyncIterable<unknown>, caller: Caller): Promise<unknown> {
  const generator = iterable[Symbol.asyncIterator]() as AsyncIterator<unknown, unknown, void>;
  const { signal } = caller;
  const partial: ContentBlock[] = [];
  let steps = 0;
  for (;;) {
    const { done, value } = await generator.next();
    if (done === true) return value === undefined && partial.length > 0 ? partial : value;
    if (signal.aborted) return void (await generator.return?.());
    steps += 1;
    if (typeof value === 'number') caller.progress(value);
    else if (typeof value === 'string') {
      partial.push(text(value));
      caller.progress(steps, undefined, value);
    } else if (isContentBlock(value)) {
      partial.push(value);
      caller.progress(steps, undefined, value.type === 'text' ? value.text : undefined);
    } else if (isObject(value) && typeof value['progress'] === 'number') {
      const { progress, total, message } = value as { progress: number; total?: number; message?: string };
      caller.progress(progress, total, message);
    }
  }
}
