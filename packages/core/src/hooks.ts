interface Hooked {
  onStart?(server: object): void | Promise<void>;
  onClose?(): void | Promise<void>;
}

/** Runs lifecycle hooks. Each instance starts once and closes once; closing happens in reverse order. */
export class Hooks {
  /** How many times each instance is registered. */
  private readonly served = new Map<Hooked, number>();
  private started: Promise<void> | undefined;

  /** @param report receives errors from hooks that no caller awaits */
  constructor(
    private readonly server: object,
    private readonly report: (error: unknown) => void,
  ) {}

  /** Adds an instance. If the server is already running, the instance starts at once. */
  add(instance: Hooked): void {
    const times = this.served.get(instance) ?? 0;
    this.served.set(instance, times + 1);
    if (this.started && times === 0) this.attempt(() => instance.onStart?.(this.server));
  }

  /** Removes one registration of an instance. The instance closes with its last registration. */
  remove(instance: Hooked): void {
    const times = (this.served.get(instance) ?? 0) - 1;
    if (times > 0) return void this.served.set(instance, times);
    this.served.delete(instance);
    if (this.started) this.attempt(() => instance.onClose?.());
  }

  /** Starts all instances, on the first call. */
  start(): Promise<void> {
    return (this.started ??= this.startAll());
  }

  /**
   * Closes all instances, if they were started.
   * @throws the first error from a hook, after all have run
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
