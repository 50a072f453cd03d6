import type { RunScope } from '../registry/caller.js';

/**
 * A part of a request that a given signal ends, too. In Node 20 and 22, `AbortSignal.any` keeps each combination in
 * memory for as long as the given signal lives, which may be as long as the server.
 */
export class CombinedSignal implements RunScope {
  private controller: AbortController | undefined;
  private isOver = false;
  /** Set by whoever runs it. */
  hasFailed = false;
  private readonly abort = ({ target }: Pick<Event, 'target'>) =>
    this.controller?.abort((target as AbortSignal).reason);

  /** @param request the request, or the part of it around this one */
  constructor(
    private readonly request: { readonly signal: AbortSignal },
    private readonly given: AbortSignal,
  ) {}

  /** Created on first use: most handlers never read it. */
  get signal(): AbortSignal {
    if (this.controller !== undefined) return this.controller.signal;
    this.controller = new AbortController();
    for (const signal of [this.request.signal, this.given]) {
      if (signal.aborted) this.abort({ target: signal });
      else if (!this.isOver) signal.addEventListener('abort', this.abort, { once: true });
    }
    return this.controller.signal;
  }

  /** Stops listening. A request may have many parts, and Node warns about many listeners. */
  end(): void {
    this.isOver = true;
    if (this.controller === undefined) return;
    for (const signal of [this.request.signal, this.given]) signal.removeEventListener('abort', this.abort);
  }
}
