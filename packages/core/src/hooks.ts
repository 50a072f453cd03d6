interface Hooked {
  onStart?(server: object): void | Promise<void>;
  onClose?(): void | Promise<void>;
}

/** Runs the hooks of what a server serves: each instance starts once and closes once, in order and in reverse. */
export class Hooks {
  /** Instances, and how often each is in service. */
  private readonly served = new Map<Hooked, number>();
  private started: Promise<void> | undefined;

  /** @param report takes errors of hooks that nobody waits for */
  constructor(
    private readonly server: object,
    private readonly report: (error: unknown) => void,
  ) {}

  /** An instance is served. Where the server runs already, it starts at once. */
  add(instance: Hooked): void {
    const times = this.served.get(instance) ?? 0;
    this.served.set(instance, times + 1);
    if (this.started && times === 0) this.attempt(() => instance.onStart?.(this.server));
  }

  /** An instance is served once less. It closes when it is not served any more. */
  remove(instance: Hooked): void {
    const times = (this.served.get(instance) ?? 0) - 1;
    if (times > 0) return void this.served.set(instance, times);
    this.served.delete(instance);
    if (this.started) this.attempt(() => instance.onClose?.());
  }

  /** Starts all, the first time. */
  start(): Promise<void> {
    return (this.started ??= this.startAll());
  }

  /**
   * Closes all, where they were started.
   * @throws the first error of a hook, when all have run
   */
  async close(): Promise<void> {
    if (!this.started) return;
    const errors: unknown[] = [];
    for (const instance of [...this.served.keys()].reverse()) {
      try {
        await instance.onClose?.();
      } catch (error) {
        errors.push(error);
      }
    }
    for (const error of errors.slice(1)) this.report(error);
    if (errors.length > 0) throw errors[0];
  }

  private async startAll(): Promise<void> {
    for (const instance of this.served.keys()) await instance.onStart?.(this.server);
  }

  private attempt(hook: () => void | Promise<void>): void {
    void (async () => await hook())().catch(this.report);
  }
}
