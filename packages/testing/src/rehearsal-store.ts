/** A task in a `RehearsalStore`: what `@decorum/tasks` calls a `StoredTask`. */
export interface RehearsedTask {
  readonly id: string;
  readonly version: number;
  readonly owner: string;
  readonly isOpen: boolean;
  readonly createdAt: number;
  readonly expiresAt: number | undefined;
  readonly holder: string | undefined;
  readonly text: string;
}

/** The disk of a rehearsal. Servers open it one after another. */
export class Disk {
  readonly tasks = new Map<string, RehearsedTask>();
}

/** A durable store of tasks, as one server sees it until it is killed. Pass it to `tasks({ store })`. */
export class RehearsalStore {
  readonly isDurable = true;
  #disk: Disk;
  readonly #effects: string[];
  readonly #killAt: number;
  readonly #living = new Set<string>();
  /** Effects that may run again, because they may not be stored yet. */
  #unsaved: string[] = [];
  /** Writes that have begun, and those to come because another one was faster. */
  readonly #writes = { begun: 0, toCome: 0 };
  #moments = 0;
  #isDead = false;
  #isUsed = false;
  #die!: () => void;
  #bury!: () => void;
  readonly #buried = new Promise<void>((resolve) => {
    this.#bury = resolve;
  });
  readonly #killed = new Promise<void>((resolve) => {
    this.#die = resolve;
  });

  /**
   * Internal: rehearsals create it.
   * @param disk what outlives the server
   * @param effects receives the effects of the server
   * @param killAt how many moments the server lives once it has created the task
   */
  constructor(disk: Disk, effects: string[], killAt: number) {
    this.#disk = disk;
    this.#effects = effects;
    this.#killAt = killAt;
  }

  /** Internal: what rehearsals do with it. */
  static control(store: RehearsalStore) {
    return {
      isUsed: () => store.#isUsed,
      killed: store.#killed,
      /** Ends what a dead server has begun: it finds that its task is gone, and gives up without a word. */
      bury: () => {
        store.#disk = new Disk();
        store.#bury();
      },
      record: (effect: string) => store.#record(effect),
      unsaved: () => store.#unsaved,
    };
  }

  async open(): Promise<void> {
    this.#isUsed = true;
  }

  async get(id: string): Promise<RehearsedTask | undefined> {
    await this.#alive();
    return this.#disk.tasks.get(id);
  }

  async set(task: RehearsedTask): Promise<boolean> {
    const effects = this.#unsaved.length;
    this.#writes.begun += 1;
    this.#writes.toCome = Math.max(0, this.#writes.toCome - 1);
    await this.#moment();
    this.#writes.begun -= 1;
    const { tasks } = this.#disk;
    if ((tasks.get(task.id)?.version ?? 0) !== task.version - 1) {
      this.#writes.toCome += 1;
      return false;
    }
    tasks.set(task.id, task);
    // of effects at the same time, each has a write of its own
    if (this.#writes.begun + this.#writes.toCome === 0) this.#unsaved.splice(0, effects);
    await this.#moment();
    return true;
  }

  async delete(id: string): Promise<void> {
    await this.#alive();
    this.#disk.tasks.delete(id);
  }

  async list(owner: string, { limit }: { readonly limit: number }): Promise<readonly RehearsedTask[]> {
    await this.#alive();
    return [...this.#disk.tasks.values()].filter((task) => task.owner === owner).slice(0, limit);
  }

  async openTasks(): Promise<readonly { readonly id: string; readonly holder: string | undefined }[]> {
    await this.#alive();
    return [...this.#disk.tasks.values()].filter(({ isOpen }) => isOpen).map(({ id, holder }) => ({ id, holder }));
  }

  async count(): Promise<{ readonly all: number; readonly own: number }> {
    await this.#alive();
    return { all: this.#disk.tasks.size, own: this.#disk.tasks.size };
  }

  async beat(process: string): Promise<void> {
    await this.#alive();
    this.#living.add(process);
  }

  async lives(process: string): Promise<boolean> {
    await this.#alive();
    return this.#living.has(process);
  }

  #record(effect: string): void {
    if (this.#isDead) return;
    this.#effects.push(effect);
    this.#unsaved.push(effect);
    this.#count();
  }

  /** A moment at which the server may be killed. */
  async #moment(): Promise<void> {
    if (!this.#isDead) this.#count();
    await this.#alive();
  }

  #count(): void {
    // before, the client has to call again
    if (this.#disk.tasks.size === 0 || ++this.#moments !== this.#killAt) return;
    this.#isDead = true;
    this.#die();
  }

  /** Nothing that a dead server begins ends before it is buried. */
  async #alive(): Promise<void> {
    if (this.#isDead) await this.#buried;
  }
}
