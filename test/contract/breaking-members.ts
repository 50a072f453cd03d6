import {
  everywhere,
  everywhereBut,
  type Lists,
  listsChange,
  object,
  optional,
  prompt,
  type SeededChange,
  text,
  tool,
} from './seeded-change.js';

const listInvoices = optional({ customer: text() });
const listPayments = object({ invoice: text() });

const policy = { name: 'returns', uri: 'docs://policies/returns', mimeType: 'text/markdown' };
const product = { name: 'product', uriTemplate: 'shop://products/{sku}', mimeType: 'application/json' };

const CUSTOMER = { name: 'customer', description: 'Who gets the letter', required: true };
const TONE = { name: 'tone', description: 'How to write it' };

/** Changes of names and addresses. */
export const BREAKING_NAMES: readonly SeededChange[] = [
  listsChange({
    title: 'A tool changes the case of its name without an alias',
    before: { tools: [tool('getInvoice'), tool('pay')] },
    after: { tools: [tool('get_invoice'), tool('pay')] },
    member: 'getInvoice',
  }),
  listsChange({
    title: 'A tool loses the alias that kept its former name',
    before: { tools: [tool('search_invoices', { aliases: ['find_bills', 'invoices'] })] },
    after: { tools: [tool('search_invoices', { aliases: ['invoices'] })] },
    member: 'find_bills',
  }),
  listsChange({
    // calls by the alias lack `invoice`, and their `customer` is refused
    title: 'An alias moves to a tool with other arguments',
    before: {
      tools: [
        tool('list_invoices', { inputSchema: listInvoices, aliases: ['list_bills'] }),
        tool('list_payments', { inputSchema: listPayments }),
      ],
    },
    after: {
      tools: [
        tool('list_invoices', { inputSchema: listInvoices }),
        tool('list_payments', { inputSchema: listPayments, aliases: ['list_bills'] }),
      ],
    },
    member: 'list_bills',
  }),
  listsChange({
    title: 'A prompt is renamed without an alias',
    before: { prompts: [prompt('apology', { arguments: [CUSTOMER] })] },
    after: { prompts: [prompt('apology_letter', { arguments: [CUSTOMER] })] },
    member: 'apology',
  }),
  listsChange({
    title: 'An argument of a prompt becomes required',
    before: { prompts: [prompt('reminder', { arguments: [CUSTOMER, TONE] })] },
    after: { prompts: [prompt('reminder', { arguments: [CUSTOMER, { ...TONE, required: true }] })] },
    member: 'reminder',
  }),
  listsChange({
    title: 'A prompt no longer takes an optional argument',
    before: { prompts: [prompt('greeting', { arguments: [CUSTOMER, TONE] })] },
    after: { prompts: [prompt('greeting', { arguments: [CUSTOMER] })] },
    member: 'greeting',
  }),
  listsChange({
    title: 'A resource keeps its name but moves to another URI',
    before: { resources: [policy] },
    after: { resources: [{ ...policy, uri: 'docs://legal/returns' }] },
    member: 'docs://policies/returns',
  }),
  listsChange({
    title: 'A resource changes its media type',
    before: { resources: [policy] },
    after: { resources: [{ ...policy, mimeType: 'text/html' }] },
    member: 'docs://policies/returns',
  }),
  listsChange({
    // clients fill in variables by name
    title: 'A variable of a resource template is renamed',
    before: { resourceTemplates: [product] },
    after: { resourceTemplates: [{ ...product, uriTemplate: 'shop://products/{id}' }] },
    member: 'shop://products/{sku}',
  }),
];

/** Changes of hints on which a client relies to skip a confirmation or to repeat a call. */
export const BREAKING_ANNOTATIONS: readonly SeededChange[] = [
  listsChange({
    title: 'A tool that was read-only now changes something',
    before: { tools: [tool('preview_invoice', { annotations: { readOnlyHint: true } })] },
    after: { tools: [tool('preview_invoice', { annotations: { readOnlyHint: false, destructiveHint: false } })] },
    member: 'preview_invoice',
  }),
  listsChange({
    // without the hint, clients assume that it is destructive
    title: 'A tool no longer says that it destroys nothing',
    before: { tools: [tool('add_note', { annotations: { readOnlyHint: false, destructiveHint: false } })] },
    after: { tools: [tool('add_note', { annotations: { readOnlyHint: false } })] },
    member: 'add_note',
  }),
  listsChange({
    title: 'A tool that could be repeated without effect is no longer idempotent',
    before: { tools: [tool('set_price', { annotations: { idempotentHint: true } })] },
    after: { tools: [tool('set_price', { annotations: { idempotentHint: false } })] },
    member: 'set_price',
  }),
  listsChange({
    title: 'A tool that stayed within the shop now reaches the open world',
    before: { tools: [tool('lookup_product', { annotations: { readOnlyHint: true, openWorldHint: false } })] },
    after: { tools: [tool('lookup_product', { annotations: { readOnlyHint: true, openWorldHint: true } })] },
    member: 'lookup_product',
  }),
];

const shop: Lists = { tools: [tool('list_orders'), tool('cancel_order')], prompts: [prompt('reminder')] };
const withoutCancelling: Lists = { ...shop, tools: [tool('list_orders')] };

/** Changes of the revisions that are served, and of what one revision offers. */
export const BREAKING_REVISIONS: readonly SeededChange[] = [
  {
    title: 'The oldest revision is no longer served',
    before: everywhere(shop),
    after: everywhereBut('2024-11-05', shop),
    member: '2024-11-05',
  },
  {
    title: 'A tool is missing in one revision only',
    before: everywhere(shop),
    after: everywhere(shop, { '2025-03-26': withoutCancelling }),
    member: 'cancel_order',
  },
];
