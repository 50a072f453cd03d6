import type { Listener, Question } from '@decorum/client/internal';
import type { JsonRpcMessage } from '@decorum/core/transport';

import type { Frame } from './frames.js';
import { Inbox, type Notification } from './inbox.js';

/** Keeps everything that happens on a connection. */
export class Recorder implements Listener {
  readonly frames: Frame[] = [];
  /** The server's questions, in order. */
  readonly questions: Question[] = [];
  readonly inbox = new Inbox(() => this.changed());
  /** Tests have timeouts of their own. */
  readonly timeoutMs = 0;
  /** Called when a caller starts or stops waiting for a notification. */
  changed = () => {};

  /** @param respond answers a question */
  constructor(private readonly respond: (question: Question) => Promise<object>) {}

  get isAwaited(): boolean {
    return this.inbox.isAwaited;
  }

  async ask(question: Question): Promise<object> {
    if (question.method !== 'ping') this.questions.push(question);
    return await this.respond(question);
  }

  notified(notification: Notification): void {
    this.inbox.add(notification);
  }

  framed(direction: Frame['direction'], message: JsonRpcMessage): void {
    this.frames.push({ direction, message });
  }

  deafened(reason: Error): void {
    this.inbox.end(reason);
  }

  ended(reason: Error = new Error('The client is closed.')): void {
    this.inbox.end(reason);
  }
}
