import type { HttpRequest } from './http-context.js';
import { HttpError } from './http-error.js';

/** The connection of a client that waits. */
export type Waiting = Pick<HttpRequest, 'gone' | 'onClose'>;

/** Nobody receives this error. */
const gone = () => new HttpError(400, 'The client has disconnected.');

/** Requests that wait for the application's callbacks or stores. Closing the endpoint rejects them without waiting. */
export class PendingCallbacks {
  private readonly rejections = new Set<(error: HttpError) => void>();

  /**
   * Settles as `step` does, unless `rejectAll` comes first.
   * @param client if it disconnects, the promise rejects, because the application may never settle `step`
   */
  async until<T>(step: PromiseLike<T>, client?: Waiting): Promise<T> {
    let rejectStep: (error: HttpError) => void = () => {};
    const rejected = new Promise<never>((_, reject) => {
      rejectStep = reject;
    });
    const leave = () => rejectStep(gone());
    this.rejections.add(rejectStep);
    const removeOnClose = client?.onClose(leave);
    if (client?.gone) leave();
    try {
      return await Promise.race([step, rejected]);
    } finally {
      this.rejections.delete(rejectStep);
      removeOnClose?.();
    }
  }

  /** Rejects every pending request. */
  rejectAll(error: HttpError): void {
    for (const reject of this.rejections) reject(error);
  }
}
