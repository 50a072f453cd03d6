import { Context, Describe, McpServer, Resource, Tool, ToolError } from '@decorum/core';
import { IsString } from 'class-validator';

class InvoiceId {
  @Describe('Number of the invoice, such as "R-1"') @IsString() id!: string;
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

  @Resource('invoices://{id}', { name: 'invoice', mimeType: 'text/plain' })
  invoice({ id }: InvoiceId) {
    return this.open.has(id) ? `${id} is open: ${this.open.get(id)} €.` : `${id} is paid, or does not exist.`;
  }
}

/** A server of its own. It could also run alone. */
export const billing = new McpServer({ name: 'billing', version: '1.0.0', providers: [Invoices] });
