import type { Access } from '../protocol/wire.js';
import type { Listed } from './page.js';

/** Says of one caller whether a function admits it. */
export type Admits = (access: Access) => boolean | Promise<boolean>;

/** How many parts of one list are kept: of many functions, callers can be admitted by any few. */
const MAX_PARTS = 64;

/** A list of which not every caller may see all. */
export class Listing<L extends Listed<unknown>> {
  /** The functions that decide what is seen. */
  private readonly deciding: readonly Access[];
  private readonly parts = new Map<string, readonly L[]>();

  /** @param all everything there is, the same array until something changes */
  constructor(readonly all: readonly L[]) {
    this.deciding = [...new Set(all.flatMap(({ access }) => access ?? []))];
  }

  /** There is something that not everybody may see. */
  get restricted(): boolean {
    return this.deciding.length > 0;
  }

  /** What a caller may see: mostly the same array for callers who may see the same. */
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
