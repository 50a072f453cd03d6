/**
 * What `maxResultChars` leaves for a handler's result. Without a maximum, everything fits.
 * @example
 * ```ts
 * @Tool({ description: 'Lists invoices', maxResultChars: 20_000 })
 * invoices({ cursor = 0 }: Query, ctx: Context) {
 *   let page = '';
 *   for (const { id, total } of this.store.slice(cursor)) {
 *     const line = `${id}: ${total}\n`;
 *     if (!ctx.budget.take(line)) break;
 *     page += line;
 *   }
 *   return page;
 * }
 * ```
 */
export class HandlerBudget {
  #left: number;

  /** @param maxChars the characters that the result may have; `Infinity` without a maximum */
  constructor(readonly maxChars = Number.POSITIVE_INFINITY) {
    this.#left = maxChars;
  }

  /** Characters that nothing has taken yet; `Infinity` without a maximum. */
  get left(): number {
    return this.#left;
  }

  /**
   * Takes the room for a part of the result: the characters of a text, or of another value's JSON and a comma. Take what
   * comes last first, such as the cursor of the next page.
   * @returns whether it fits. If not, nothing is taken
   * @example
   * ```ts
   * ctx.budget.take({ invoices: [], cursor: 1_000_000 });
   * for (const invoice of found) {
   *   if (!ctx.budget.take(invoice)) break;
   *   invoices.push(invoice);
   * }
   * ```
   */
  take(part: unknown): boolean {
    const size = typeof part === 'string' ? part.length : (JSON.stringify(part)?.length ?? 0) + 1;
    if (size > this.#left) return false;
    this.#left -= size;
    return true;
  }
}
