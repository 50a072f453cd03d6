import type { Access } from '../protocol/wire.js';
import type { Listed } from './page.js';

/** Whether the caller passes an access function. */
export type Admits = (access: Access) => boolean | Promise<boolean>;

/** Cap on cached subsets of one list: with many access functions, there can be a subset for every combination. */
const MAX_PARTS = 64;

/** A list whose entries may be visible to some callers only. */
export class Listing<L extends Listed<unknown>> {
  /** The distinct access functions of the entries. */
  private readonly deciding: readonly Access[];
  private readonly parts = new Map<string, readonly L[]>();

  /** @param all all entries; the same array until something changes */
  constructor(readonly all: readonly L[]) {
    this.deciding = [...new Set(all.flatMap(({ access }) => access ?? []))];
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
    const admitting = new Set(this.deciding.filter((_access, index) => answers[index]));
    const part = this.all.filter(({ access }) => access === undefined || admitting.has(access));
    const [oldest] = this.parts.keys();
    if (oldest !== undefined && this.parts.size >= MAX_PARTS) this.parts.delete(oldest);
    this.parts.set(id, part);
    return part;
  }
}
