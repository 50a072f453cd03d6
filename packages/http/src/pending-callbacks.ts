import type { HttpError } from './http-error.js';

/** Requests that wait for the application's callbacks or stores. Closing the endpoint rejects them without waiting. */
export class PendingCallbacks {
  private readonly rejections = new Set<(error: HttpError) => void>();

  /** Settles as `step` does, unless `rejectAll` comes first. */
  async until<T>(step: PromiseLike<T>): Promise<T> {
    let rejectStep: (error: HttpError) => void = () => {};
    const rejected = new Promise<never>((_, reject) => {
      rejectStep = reject;
    });
    this.rejections.add(rejectStep);
    try {
      return await Promise.race([step, rejected]);
    } finally {
      this.rejections.delete(rejectStep);
    }
  }

  /** Rejects every pending request. */
  rejectAll(error: HttpError): void {
    for (const reject of this.rejections) reject(error);
  }
}
