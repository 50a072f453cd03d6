/**
 * What `maxResultChars` leaves for a handler's result. Without a maximum, everything fits.
 * @example
 * ```ts
 * class Ledger {
 *   private readonly lines = ['7: 100', '8: 250'];
 *
 *   @Tool({ description: 'Lists invoices', maxResultChars: 20_000 })
 *   invoices(_input: NoInput, ctx: Context) {
 *     return this.lines.filter((line) => ctx.budget.take(line)).join('\n');
 *   }
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
   * const invoices: object[] = [];
   * ctx.budget.take({ invoices, cursor: 1_000_000 });
   * for (const invoice of [{ id: 7, total: 100 }, { id: 8, total: 250 }]) {
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
