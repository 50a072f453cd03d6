import { Child } from '../child.js';
import { Client } from './client.js';
import { type Answer, PIPES } from './host.js';
import { HOSTILE, type Json, type Material, mutate, pick, type Random, randomFrom } from './mutate.js';
import { type Slot, Slots } from './slots.js';

/** Options of a search. */
export interface SearchOptions {
  readonly seed: number;
  /** Values to try per slot. */
  readonly iterations: number;
  /** Only slots whose name contains this. */
  readonly only: string;
}

/** The worst value of a slot. */
export interface Worst {
  readonly slot: string;
  /** Milliseconds of CPU time that the server spends on the whole request. */
  readonly ms: number;
  readonly value: Json;
}

/** Number of best values to mutate. */
const ELITE = 6;
/** If there is no response within this many milliseconds, the value is reported and the server is restarted. */
const PATIENCE_MS = 20_000;
/** Measurements of the final value; the cheapest counts, because compilers and collections disturb the others. */
const REPEATS = 5;

class Stuck extends Error {}

/** A target in its own process, with its slots. */
class Attack {
  private constructor(
    private readonly child: Child,
    private readonly client: Client,
    readonly slots: readonly Slot[],
  ) {}

  static async start(random: Random): Promise<Attack> {
    const child = new Child({ file: 'prices/host-process.js', flags: ['--expose-gc'], pipes: PIPES });
    const { urls } = await child.ask<Answer>({ kind: 'open' });
    const client = new Client(urls?.target ?? '');
    return new Attack(child, client, await (await Slots.open(client, random)).all());
  }

  /** The CPU time that a value costs, in milliseconds. */
  async cost(slot: Slot, value: Json): Promise<number> {
    const before = await this.micros();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Stuck()), PATIENCE_MS);
    });
    // a broken connection counts as a response
    const answered = slot.send(value).catch(() => {});
    await Promise.race([answered, late]).finally(() => clearTimeout(timer));
    return ((await this.micros()) - before) / 1000;
  }

  stop(): void {
    this.client.close();
    this.child.kill();
  }

  private async micros(): Promise<number> {
    return (await this.child.ask<Answer>({ kind: 'cpu' })).micros ?? NaN;
  }
}

/** Searches each slot for the most expensive value, with mutations and hill climbing. */
export async function search(options: SearchOptions, found: (worst: Worst) => void): Promise<void> {
  let attack = await Attack.start(randomFrom(options.seed));
  const names = attack.slots.map(({ name }) => name).filter((name) => name.includes(options.only));
  for (const name of names) {
    const slot = attack.slots.find((each) => each.name === name) as Slot;
    const climb = new Climb(attack, slot, randomFrom(options.seed));
    try {
      found({ slot: name, ...(await climb.run(options.iterations)) });
    } catch (error) {
      if (!(error instanceof Stuck)) throw error;
      found({ slot: name, ms: PATIENCE_MS, value: climb.trying });
      attack.stop();
      attack = await Attack.start(randomFrom(options.seed));
    }
  }
  attack.stop();
}

/** Hill climbing in one slot. */
class Climb {
  /** The value that is being measured. */
  trying: Json = null;
  private readonly elite: { readonly value: Json; readonly ms: number }[] = [];
  private readonly material: Material;

  constructor(
    private readonly attack: Attack,
    private readonly slot: Slot,
    private readonly random: Random,
  ) {
    const { keys = [], atoms = [], limit, seeds } = slot;
    const isText = seeds.every((seed) => typeof seed === 'string');
    this.material = {
      random,
      limit,
      isText,
      keys: [...keys, 'a', 'b', 'name', 'kind'],
      atoms: [...HOSTILE, ...atoms, ...atoms],
    };
  }

  async run(iterations: number): Promise<Omit<Worst, 'slot'>> {
    const { seeds } = this.slot;
    // the first request of a slot compiles its schema
    for (const seed of [...seeds, null, ...seeds]) await this.attack.cost(this.slot, seed);
    for (const seed of seeds) await this.consider(seed);
    for (let count = 0; count < iterations; count += 1) {
      const { value } = pick(this.elite, this.random);
      await this.consider(mutate(value, this.material));
    }
    return await this.settle();
  }

  private async consider(value: Json): Promise<void> {
    this.trying = value;
    const ms = await this.attack.cost(this.slot, value);
    this.elite.push({ value, ms });
    this.elite.sort((a, b) => b.ms - a.ms);
    if (this.elite.length > ELITE) this.elite.pop();
  }

  /** Measures the elite again, because a garbage collection may have made a cheap value look expensive. */
  private async settle(): Promise<Omit<Worst, 'slot'>> {
    let worst = { ms: 0, value: null as Json };
    for (const { value } of this.elite) {
      this.trying = value;
      let ms = Number.POSITIVE_INFINITY;
      for (let repeat = 0; repeat < REPEATS; repeat += 1) ms = Math.min(ms, await this.attack.cost(this.slot, value));
      if (ms > worst.ms) worst = { ms, value };
    }
    return worst;
  }
}
