import { setImmediate as nextTick } from 'node:timers/promises';

import { createBenchServer } from './bench-server.js';
import { type Part, type PartName, type PartOptions, PARTS, toolListOf } from './parts.js';
import type { Style } from './calls.js';
import { cpuMicros, heapAfterCollection } from './usage.js';

/** A question for an arena. */
export type Question =
  | { readonly kind: 'open'; readonly parts: readonly PartName[]; readonly moreTools: number }
  | { readonly kind: 'cpu' }
  | { readonly kind: 'heap' }
  | { readonly kind: 'tell'; readonly part: PartName; readonly times: number }
  | { readonly kind: 'run'; readonly part: PartName; readonly style: Style; readonly calls: number };

/** The answer: URLs and access tokens, microseconds of CPU time, bytes of heap, or an error. */
export interface Answer {
  readonly urls?: Readonly<Partial<Record<PartName, string>>>;
  readonly tokens?: Readonly<Partial<Record<PartName, readonly string[]>>>;
  readonly micros?: number;
  readonly bytes?: number;
  readonly error?: string;
}

/** Runs the limit and the server in one process, so that any disturbance of the process affects both. */
export class Arena {
  private readonly parts = new Map<PartName, Part>();

  constructor(private readonly pipe: PartOptions['pipe']) {}

  async answer(question: Question): Promise<Answer> {
    try {
      return await this.tryTo(question);
    } catch (error) {
      return { error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.parts.values()].map((part) => part.close()));
  }

  private async tryTo(question: Question): Promise<Answer> {
    switch (question.kind) {
      case 'open':
        return await this.open(question.parts, question.moreTools);
      case 'cpu':
        return { micros: cpuMicros() };
      case 'heap':
        return { bytes: heapAfterCollection() };
      case 'tell':
        return await this.tell(question.part, question.times);
      case 'run':
        return { micros: (await this.parts.get(question.part)?.run?.(question.style, question.calls)) ?? 0 };
    }
  }

  private async open(names: readonly PartName[], moreTools: number): Promise<Answer> {
    const list = await toolListOf(createBenchServer(moreTools));
    const urls: Record<string, string> = {};
    const tokens: Record<string, readonly string[]> = {};
    for (const name of names) {
      // sequentially, because pipes are assigned in this order
      const part = await PARTS[name]({ moreTools, list, pipe: this.pipe });
      this.parts.set(name, part);
      if (part.url !== undefined) urls[name] = part.url;
      if (part.tokens !== undefined) tokens[name] = part.tokens;
    }
    return { urls, tokens };
  }

  /** Sends changes, each after the previous one was written. */
  private async tell(name: PartName, times: number): Promise<Answer> {
    const part = this.parts.get(name);
    for (let time = 0; time < times; time += 1) {
      part?.tell?.();
      // servers write at the end of the tick; after the second tick, the write is done
      await nextTick();
      await nextTick();
    }
    return {};
  }
}
