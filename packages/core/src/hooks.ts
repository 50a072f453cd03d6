import { within } from '@decorum/schema/internal';

/** Milliseconds that an `onClose` hook may take: more than a flush needs, and no more than an orchestrator waits. */
const MAX_CLOSE_MS = 30_000;

interface Hooked {
  onStart?(server: object): void | Promise<void>;
  onClose?(): void | Promise<void>;
}

/**
 * Runs lifecycle hooks. Each instance starts once, and closes once if it has started; closing happens in reverse order.
 */
export class Hooks {
  /** How many times each instance is registered. */
  private readonly served = new Map<Hooked, number>();
  /** The instances whose `onStart` was called. */
  private readonly begun = new Set<Hooked>();
  private started: Promise<void> | undefined;
  private isClosed = false;
  /** Ends the wait for `onStart` hooks. */
  private giveUp: (() => void) | undefined;

  /** @param report receives errors from hooks that no caller awaits */
  constructor(
    private readonly server: object,
    private readonly report: (error: unknown) => void,
  ) {}

  /** Adds an instance. If the server is already running, the instance starts right away. */
  add(instance: Hooked): void {
    const times = this.served.get(instance) ?? 0;
    this.served.set(instance, times + 1);
    if (this.started && !this.isClosed && times === 0) this.attempt(() => this.begin(instance));
  }

  /** Removes one registration of an instance. The instance closes with its last registration. */
  remove(instance: Hooked): void {
    const times = (this.served.get(instance) ?? 0) - 1;
    if (times > 0) return void this.served.set(instance, times);
    this.served.delete(instance);
    if (this.begun.delete(instance)) this.attempt(() => instance.onClose?.());
  }

  /**
   * Starts all instances, on the first call. Also resolves if the server closes meanwhile, because a hook may never
   * end.
   */
  start(): Promise<void> {
    return (this.started ??= new Promise((resolve, reject) => {
      this.giveUp = resolve;
      this.startAll().then(resolve, reject);
    }));
  }

  /**
   * Closes all instances that have begun to start. Each hook gets `MAX_CLOSE_MS`.
   * @throws the first error from a hook, after all hooks have run
   */
  async close(): Promise<void> {
    this.isClosed = true;
    this.giveUp?.();
    const closing = [...this.begun].reverse();
    this.begun.clear();
    const errors: unknown[] = [];
    for (const instance of closing) {
      try {
        await closed(instance);
      } catch (error) {
        errors.push(error);
      }
    }
    for (const error of errors.slice(1)) this.report(error);
    if (errors.length > 0) throw errors[0];
  }

  private async startAll(): Promise<void> {
    for (const instance of this.served.keys()) {
      if (this.isClosed) return;
      // an instance that another hook added in the meantime has already begun
      if (!this.begun.has(instance)) await this.begin(instance);
    }
  }

  private begin(instance: Hooked): void | Promise<void> {
    this.begun.add(instance);
    return instance.onStart?.(this.server);
  }

  private attempt(hook: () => void | Promise<void>): void {
    void (async () => await hook())().catch(this.report);
  }
}

/** Waits for an `onClose` hook. Other hooks must run even if it never ends. */
async function closed(instance: Hooked): Promise<void> {
  const problem = `\`onClose\` of ${instance.constructor.name} has not ended within ${MAX_CLOSE_MS} ms.`;
  await within(MAX_CLOSE_MS, problem, () => instance.onClose?.());
}
