import { attempt } from '@decorum/schema/internal';

import type { Hooks } from './hooks.js';
import type { ErrorReporter } from './kernel/error-reporter.js';
import type { Events } from './kernel/events.js';
import type { Extension } from './kernel/extensions/extension.js';
import type { Kernel } from './kernel/kernel.js';
import { startupError } from './protocol/errors.js';
import type { Implementation } from './protocol/model.js';
import type { Providers } from './providers.js';
import type { Registry } from './registry/registry.js';
import { undescribedWarning } from './registry/undescribed.js';
import type { HostPort, Transport } from './transports/transport.js';

/** What opens with the first transport of a server, and closes with the server. */
export interface OpenParts {
  readonly server: Implementation;
  readonly kernel: Kernel;
  readonly reporter: ErrorReporter;
  readonly providers: Providers;
  readonly registry: Registry;
  readonly hooks: Hooks;
  readonly events: Events;
  readonly extensions: readonly Extension[];
}

/** The transports that are open on a server. */
export class OpenTransports {
  readonly #transports = new Set<Transport>();
  #closed: Promise<void> | undefined;
  /** Whether a transport has been opened. */
  isOpen = false;

  constructor(private readonly parts: OpenParts) {}

  /** Whether nothing is open on the server. */
  get isIdle(): boolean {
    return this.#transports.size === 0;
  }

  /** What transports use of the server. */
  port(fixed: Pick<HostPort, 'routes' | 'hit' | 'sharing'>): HostPort {
    const { server: info, reporter, events } = this.parts;
    return {
      ...fixed,
      info,
      open: (create) => this.#open(create),
      detach: (transport) => void this.#transports.delete(transport),
      report: (error, message) => void reporter.report(error, undefined, message),
      showStacks: () => reporter.showStacks(),
      follow: (follower) => events.sources.join(follower),
      instruct: (text) => events.sources.instruct(text),
      warn: (message) => reporter.warn({}, message),
    };
  }

  /** Closes the server, once. */
  async close(deadlineMs: number): Promise<void> {
    this.#closed ??= this.#close(deadlineMs);
    await this.#closed;
  }

  async #open<T extends Transport>(create: (kernel: Kernel) => T): Promise<T> {
    const { providers, hooks, kernel } = this.parts;
    if (this.#closed) throw startupError('DECORUM_SERVER_CLOSED');
    await providers.ready();
    await hooks.start();
    if (!this.isOpen) this.#warnOfDescriptions();
    // the server may have closed in the meantime
    if (this.#closed) throw startupError('DECORUM_SERVER_CLOSED');
    this.isOpen = true;
    const transport = create(kernel);
    this.#transports.add(transport);
    return transport;
  }

  #warnOfDescriptions(): void {
    if (process.env['NODE_ENV'] === 'production' || process.env['NODE_ENV'] === 'test') return;
    const warning = undescribedWarning(this.parts.registry);
    if (warning !== undefined) this.parts.reporter.warn({}, warning);
  }

  async #close(deadlineMs: number): Promise<void> {
    const { kernel, reporter, extensions, events, hooks } = this.parts;
    const { inFlight } = kernel;
    for (const transport of this.#transports) transport.stop();
    inFlight.stop();
    for (const extension of extensions)
      attempt(
        () => extension.stop?.(),
        (error) => void reporter.report(error),
      );
    await inFlight.drain(deadlineMs);
    const closed = await Promise.allSettled([...this.#transports].map(async (transport) => await transport.close()));
    for (const outcome of closed) if (outcome.status === 'rejected') reporter.report(outcome.reason);
    events.close();
    await hooks.close();
  }
}
