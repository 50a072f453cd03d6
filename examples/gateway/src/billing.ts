import { Context, Describe, McpServer, Resource, Tool, ToolError } from '@decorum/core';
import { IsInt, IsString } from 'class-validator';

class InvoiceId {
  @Describe('Number of the invoice, such as "R-1"') @IsString() id!: string;
}

class Limit {
  @Describe('Pays invoices up to so many euros each') @IsInt() euros!: number;
}

/** What would be paid. */
interface Due {
  readonly ids: readonly string[];
  readonly total: number;
}

/** The invoices of the team that bills. */
class Invoices {
  private readonly open = new Map([
    ['R-1', 120],
    ['R-2', 80],
  ]);

  @Tool({ description: 'Lists the open invoices', annotations: { readOnlyHint: true } })
  list() {
    return [...this.open].map(([id, euros]) => `${id}: ${euros} €`).join('\n');
  }

  @Tool({ description: 'Pays an invoice', scopes: ['billing:pay'] })
  async pay({ id }: InvoiceId, ctx: Context) {
    const euros = this.open.get(id);
    if (euros === undefined) throw new ToolError(`There is no open invoice ${id}.`);
    if (!(await ctx.confirm(`Pay ${euros} € for ${id}?`))) return 'Not paid.';
    this.open.delete(id);
    return `${ctx.principal?.subject} has paid ${euros} € for ${id}.`;
  }

  @Tool({
    name: 'pay_all',
    description: 'Pays all invoices up to an amount',
    scopes: ['billing:pay'],
    preview: { by: 'due', ask: true },
  })
  payAll(_limit: Limit, { plan, principal }: Context<Due>) {
    const gone = plan.ids.find((id) => !this.open.has(id));
    if (gone !== undefined) throw new ToolError(`${gone} is paid by now. Nothing was paid.`);
    for (const id of plan.ids) this.open.delete(id);
    return `${principal?.subject} has paid ${plan.total} € for ${plan.ids.join(', ')}.`;
  }

  /** What `pay_all` would pay. It pays this, and not what is due by then. */
  due({ euros: limit }: Limit): Due {
    const due = [...this.open].filter(([, euros]) => euros <= limit);
    if (due.length === 0) throw new ToolError(`No invoice is due up to ${limit} €.`);
    return { ids: due.map(([id]) => id), total: due.reduce((sum, [, euros]) => sum + euros, 0) };
  }

  @Resource('invoices://{id}', { name: 'invoice', mimeType: 'text/plain' })
  invoice({ id }: InvoiceId) {
    return this.open.has(id) ? `${id} is open: ${this.open.get(id)} €.` : `${id} is paid, or does not exist.`;
  }
}

/** A server of its own. It could also run alone. */
export const billing = new McpServer({ name: 'billing', version: '1.0.0', providers: [Invoices] });
