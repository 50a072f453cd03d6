import { BASE, type Need } from '../protocol/scopes.js';
import type { Access } from '../protocol/wire.js';
import { partsOf } from './every-access.js';
import type { Listed } from './page.js';

/** What decides who sees an entry. */
export type Guards = Pick<Listed<unknown>, 'access' | 'shown' | 'need' | 'onlyUsable' | 'isFinder'>;

/** Decides whether a caller sees an entry. */
export type Condition = Access | Need;

/** Whether the caller passes an access function, or has the scopes of a need. */
export type Admits = (condition: Condition) => boolean | Promise<boolean>;

/** Cap on cached subsets of one list: with many access functions, there can be a subset for every combination. */
const MAX_PARTS = 64;

/** A list whose entries may be visible to some callers only. */
export class Listing<L extends Listed<unknown>> {
  private distinct: readonly Condition[] | undefined;
  private readonly parts = new Map<string, readonly L[]>();

  /**
   * @param all all entries; the same array until something changes
   * @param onlyUsable whether entries are visible only to callers with the scopes to use them
   */
  constructor(
    readonly all: readonly L[],
    private readonly onlyUsable = false,
  ) {}

  /** The distinct conditions of the entries. Nobody needs them of a list that is replaced at once. */
  private get deciding(): readonly Condition[] {
    this.distinct ??= [...new Set(this.all.flatMap((listed) => conditionsOf(listed, this.onlyUsable)))];
    return this.distinct;
  }

  /** Whether some entries are not visible to everybody. */
  get restricted(): boolean {
    return this.deciding.length > 0;
  }

  /** The entries visible to a caller. Callers with the same permissions usually get the same array. */
  async visible(admits: Admits): Promise<readonly L[]> {
    if (this.deciding.length === 0) return this.all;
    const answers = await Promise.all(this.deciding.map(admits));
    const id = answers.map(Number).join('');
    const known = this.parts.get(id);
    if (known) return known;
    const met = new Set(this.deciding.filter((_condition, index) => answers[index]));
    const part = this.all.filter((listed) =>
      conditionsOf(listed, this.onlyUsable).every((condition) => met.has(condition)),
    );
    const [oldest] = this.parts.keys();
    if (oldest !== undefined && this.parts.size >= MAX_PARTS) this.parts.delete(oldest);
    this.parts.set(id, part);
    return part;
  }
}

/** The conditions that a caller must meet to see an entry. */
export function conditionsOf(
  { access, shown, need = BASE, onlyUsable: own, isFinder }: Guards,
  onlyUsable: boolean,
): readonly Condition[] {
  const seen = [access, shown].flatMap((condition) => (condition === undefined ? [] : partsOf(condition)));
  // whoever may list tools may search for them, too: callers without credentials find public ones
  return (onlyUsable || own) && isFinder !== true ? [...seen, need] : seen;
}

/** Whether an entry is hidden from some callers. The scopes that the transport requires of everybody don't count. */
export const isHidden = (
  { access, shown, need = BASE, onlyUsable: own = false }: Guards,
  onlyUsable: boolean,
): boolean => access !== undefined || shown !== undefined || ((onlyUsable || own) && need.scopes.length > 0);
