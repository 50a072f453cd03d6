import { type Effect, type EffectLog, PRIVATE_EFFECT } from '../../protocol/effects.js';
import { McpError } from '../../protocol/errors.js';
import type { RecordKey, Records } from '../../protocol/records.js';
import type { KeyRecord } from './key-record.js';
import type { Outcome } from './outcome.js';

/** Milliseconds without a sign of life after which a process counts as dead. */
export const LEASE_MS = 10_000;

/** Milliseconds between two signs of life. */
export const BEAT_MS = LEASE_MS / 4;

/** Milliseconds for which an outcome is tried to be recorded while the store fails. */
const INSIST_MS = 600_000;

/** Bytes of the results of effects that a record keeps. */
const MAX_EFFECT_BYTES = 65_536;

/** Effects that a record keeps: each new one writes all of them again. */
const MAX_EFFECTS = 500;

/** What a claim is made of. */
export interface ClaimParts {
  readonly records: Records;
  readonly place: RecordKey;
  /** Whose share of the store it takes. */
  readonly payer: string | undefined;
  readonly ttlMs: number;
  /** The record, as this claim has written it. */
  readonly record: KeyRecord;
  /** Whether nobody had the key before. */
  readonly isFirst: boolean;
}

/** Whether the store has no room for more. */
const isFull = (error: unknown): boolean => error instanceof McpError && error.kind === 'too-many-requests';

/** One clock stands still while the machine is suspended, and the other one can be set. */
const times = () => ({ uptime: performance.now(), clock: Date.now() });

/** The milliseconds since then, by the clock that says more. */
const timeSince = ({ uptime, clock }: ReturnType<typeof times>): number =>
  Math.max(performance.now() - uptime, Date.now() - clock);

/** A key while a run has it: says that its process lives, and records what the run does. */
export class Claim {
  /** Whether another run has the key by now. */
  isLost = false;
  /** What is told of the effects of the run. */
  readonly log: EffectLog = { begin: (key) => this.begin(key), record: (effect) => this.note(effect) };
  private effects: readonly Effect[];
  private hasBegun = false;
  private hasLeft = false;
  private outcome: Outcome | undefined;
  /** When the last write began that has succeeded. */
  private seen = times();
  private readonly timer: NodeJS.Timeout;
  private readonly keepMs: number;

  constructor(private readonly parts: ClaimParts) {
    this.effects = parts.record.effects;
    // a record must not expire while its run lives
    this.keepMs = Math.max(parts.ttlMs, 2 * LEASE_MS);
    this.timer = setInterval(() => void this.beat(), BEAT_MS).unref();
  }

  /**
   * Records the outcome. While the store fails, it goes on to try: the run has ended, and its caller gets the outcome.
   * @returns what is recorded: another outcome, if another run was faster
   */
  async keep(outcome: Outcome): Promise<Outcome> {
    this.outcome = outcome;
    try {
      return await this.tryKeep(outcome);
    } catch (error) {
      if (isFull(error)) this.outcome = { isOmitted: true };
      setTimeout(() => clearInterval(this.timer), INSIST_MS).unref();
      if (this.outcome !== outcome) void this.beat();
      return outcome;
    }
  }

  /** Gives the key back, after a run without an outcome. Resolves once no effect is running. Never rejects. */
  async leave(isAsking: boolean, idle: Promise<void> | undefined): Promise<void> {
    // whoever has the key next would run them again
    if (idle) await idle;
    this.hasLeft = true;
    clearInterval(this.timer);
    const { isFirst } = this.parts;
    try {
      await this.change((now) => {
        if (isFirst && !this.hasBegun && !isAsking) return 'remove';
        const { turn: _turn, ...rest } = now;
        return this.kept({ ...rest, effects: this.effects, ...(isAsking && { isAsking: true }) });
      });
    } catch {
      // the operator knows that the store fails. The next call takes over after the lease
    }
  }

  private async tryKeep(outcome: Outcome): Promise<Outcome> {
    const { records, place, payer, ttlMs, record } = this.parts;
    const { args, id, run } = record;
    const written = await records.change<KeyRecord>(
      place,
      (now) =>
        now?.outcome === undefined ? { value: { args, id, run, beat: 0, effects: [], outcome }, ttlMs } : undefined,
      payer,
    );
    clearInterval(this.timer);
    return written?.outcome ?? outcome;
  }

  private async begin(key: string): Promise<void> {
    if (key.startsWith(PRIVATE_EFFECT) || this.outcome !== undefined) return;
    if (this.hasLeft) throw new Error(`ctx.once('${key}', …) is too late: the call has ended, and may be repeated.`);
    if (timeSince(this.seen) > LEASE_MS / 2) await this.write();
    this.requireHeld();
    this.hasBegun = true;
  }

  private async note(effect: Effect): Promise<void> {
    const [key] = effect;
    if (key.startsWith(PRIVATE_EFFECT) || this.outcome !== undefined) return;
    // a run that takes over runs it again, with the same key for the service that it calls
    if (this.effects.length >= MAX_EFFECTS) return;
    const effects = [...this.effects.filter(([other]) => other !== key), effect];
    if (Buffer.byteLength(JSON.stringify(effects)) > MAX_EFFECT_BYTES) return;
    this.effects = effects;
    try {
      await this.write();
    } catch (error) {
      // the effect has happened. The next write has it, unless there is no room: then not even a beat would be written
      if (isFull(error)) this.effects = this.effects.filter((each) => each !== effect);
    }
    this.requireHeld();
  }

  private requireHeld(): void {
    if (this.isLost) throw new Error('Another run has the idempotency key of this call by now.');
  }

  private async beat(): Promise<void> {
    try {
      if (this.outcome === undefined) await this.write();
      else await this.tryKeep(this.outcome);
    } catch {
      // the next one may succeed
    }
  }

  private async write(): Promise<void> {
    const begun = times();
    await this.change((now) => this.kept({ ...now, beat: now.beat + 1, effects: this.effects }));
    this.seen = begun;
  }

  /** Changes the record as long as it is this run's. */
  private async change(
    change: (now: KeyRecord) => 'remove' | { readonly value: KeyRecord; readonly ttlMs: number },
  ): Promise<void> {
    const { records, place, payer, record } = this.parts;
    let isHeld = false;
    const changeOwn = (now: KeyRecord | undefined) => {
      // a store may lose the record, and it may expire while the machine is suspended. Nobody else has the key then
      isHeld = now === undefined || (now.turn === record.turn && now.outcome === undefined);
      return isHeld ? change(now ?? record) : undefined;
    };
    await records.change<KeyRecord>(place, changeOwn, payer);
    if (!isHeld && this.outcome === undefined) this.isLost = true;
    if (!isHeld) clearInterval(this.timer);
  }

  private kept(value: KeyRecord): { readonly value: KeyRecord; readonly ttlMs: number } {
    return { value, ttlMs: this.keepMs };
  }
}
