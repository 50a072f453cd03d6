import { INITIALIZE } from '@decorum/core/internal';

import { isJson, isRequest, type Json, keyOf, messagesOf, paramsOf, parse } from '../message.js';

/** The key of the id that a cancellation is about; undefined for any other message. */
export function cancelledBy(message: Json): string | undefined {
  return message['method'] === 'notifications/cancelled' ? keyOf(paramsOf(message)['requestId']) : undefined;
}

/** The client's lines that arrived while no program served. */
export class Backlog {
  private lines: string[] = [];

  get isEmpty(): boolean {
    return this.lines.length === 0;
  }

  /** Adds a line. If it cancels a request that waits here, neither is sent to a program. */
  add(text: string): void {
    const message = parse(text);
    const id = isJson(message) ? cancelledBy(message) : undefined;
    const isCancelled = (line: string) => {
      const each = parse(line);
      return isJson(each) && isRequest(each) && each['method'] !== INITIALIZE && keyOf(each['id']) === id;
    };
    const others = id === undefined ? this.lines : this.lines.filter((line) => !isCancelled(line));
    if (others.length === this.lines.length) this.lines.push(text);
    else this.lines = others;
  }

  /** Removes all lines, and returns them. */
  take(): string[] {
    return this.lines.splice(0);
  }

  /** The requests that nobody has answered. */
  requests(): Json[] {
    const all = this.lines.flatMap((text) => {
      const message = parse(text);
      return message === undefined ? [] : messagesOf({ message, text });
    });
    return all.map(({ message }) => message).filter(isRequest);
  }
}
