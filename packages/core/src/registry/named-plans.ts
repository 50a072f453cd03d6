import { hasEnded } from './aliases.js';
import type { Alias, Plan } from './plan.js';

interface Claim {
  readonly alias: Alias;
  readonly key: string;
}

/** The members of one kind, by name or URI. Tools and prompts are found under their aliases, too. */
export class NamedPlans<P extends Plan<unknown>> extends Map<string, P> {
  private readonly claims = new Map<string, Claim>();

  /** The member that a name or alias stands for now. */
  find(name: string): P | undefined {
    return this.get(name) ?? this.standingFor(name, false);
  }

  /** The member that an alias has stood for until it ended. */
  former(name: string): P | undefined {
    return this.standingFor(name, true);
  }

  /** Says where the member is that has a name, or has it as an alias; undefined if the name is free. */
  whereIs(name: string): string | undefined {
    const key = this.claims.get(name)?.key;
    return key === undefined ? this.get(name)?.where : `${this.get(key)?.where} (aliases)`;
  }

  /** Adds an alias, which must be free, of a member that is here. */
  claim(alias: Alias, key: string): void {
    this.claims.set(alias.name, { alias, key });
  }

  /** Removes a member with its aliases. */
  override delete(key: string): boolean {
    for (const [name, claim] of this.claims) if (claim.key === key) this.claims.delete(name);
    return super.delete(key);
  }

  private standingFor(name: string, isOver: boolean): P | undefined {
    const claim = this.claims.get(name);
    return claim !== undefined && hasEnded(claim.alias) === isOver ? this.get(claim.key) : undefined;
  }
}
