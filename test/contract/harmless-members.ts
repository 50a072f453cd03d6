import {
  everywhere,
  everywhereBut,
  harmlessLists,
  type Lists,
  object,
  prompt,
  type SeededChange,
  text,
  tool,
} from './seeded-change.js';

const CUSTOMER = { name: 'customer', required: true };
const TONE = { name: 'tone', required: true };
const SIGNATURE = { name: 'signature' };

const policy = { name: 'returns', uri: 'docs://policies/returns', mimeType: 'text/markdown', size: 1200 };
const product = { name: 'product', uriTemplate: 'shop://products/{sku}', mimeType: 'application/json' };

const shop: Lists = {
  tools: [tool('list_orders'), tool('cancel_order')],
  prompts: [prompt('reminder', { arguments: [CUSTOMER] })],
  resources: [policy],
  resourceTemplates: [product],
};

/** The contract with this tool before, and that one after. */
const toolChange = (title: string, before: object, after: object): SeededChange =>
  harmlessLists({ title, before: { tools: [before] }, after: { tools: [after] } });

/** Changes of members whose old uses still work. */
export const HARMLESS_MEMBERS: readonly SeededChange[] = [
  harmlessLists({
    title: 'There are new members of each kind, listed before the old ones',
    before: shop,
    after: {
      tools: [tool('add_order', { inputSchema: object({ sku: text() }) }), tool('cancel_order'), tool('list_orders')],
      prompts: [prompt('greeting', { arguments: [CUSTOMER] }), prompt('reminder', { arguments: [CUSTOMER] })],
      resources: [{ name: 'terms', uri: 'docs://policies/terms' }, policy],
      resourceTemplates: [{ name: 'order', uriTemplate: 'shop://orders/{id}' }, product],
    },
  }),
  harmlessLists({
    title: 'A tool and a prompt are renamed and keep their old names as aliases',
    before: {
      tools: [tool('list_bills', { inputSchema: object({ customer: text() }) })],
      prompts: [prompt('apology', { arguments: [CUSTOMER] })],
    },
    after: {
      tools: [tool('search_invoices', { inputSchema: object({ customer: text() }), aliases: ['list_bills'] })],
      prompts: [prompt('apology_letter', { arguments: [CUSTOMER], aliases: ['apology'] })],
    },
  }),
  toolChange(
    'The name of a tool and its alias change places',
    tool('get_invoice', { aliases: ['getInvoice'] }),
    tool('getInvoice', { aliases: ['get_invoice'] }),
  ),
  harmlessLists({
    title: 'The arguments of a prompt are reordered, one is new and optional, and one is no longer required',
    before: { prompts: [prompt('reminder', { arguments: [CUSTOMER, TONE] })] },
    after: { prompts: [prompt('reminder', { arguments: [SIGNATURE, { ...TONE, required: false }, CUSTOMER] })] },
  }),
  // it is still called under its name, like an alias
  toolChange('A tool is no longer listed', tool('reindex'), tool('reindex', { listed: false })),
];

/** Changes of what entries say about themselves. */
export const HARMLESS_ENTRIES: readonly SeededChange[] = [
  harmlessLists({
    title: 'Titles, descriptions, icons and sizes of members change, and a tool is deprecated',
    before: shop,
    after: {
      tools: [
        tool('list_orders', { title: 'Orders', icons: [{ src: 'https://shop.example/orders.png' }] }),
        tool('cancel_order', {
          description: 'Deprecated: use refund_order. Cancels an order',
          _meta: { 'dev.decorum/deprecated': 'Use refund_order.' },
        }),
      ],
      prompts: [prompt('reminder', { title: 'Reminder', arguments: [{ ...CUSTOMER, description: 'Who owes' }] })],
      resources: [{ ...policy, title: 'Returns', size: 1800, annotations: { priority: 0.4 } }],
      resourceTemplates: [{ ...product, description: 'One product' }],
    },
  }),
  toolChange(
    'A tool promises more than the defaults of its hints',
    tool('set_price', { annotations: { readOnlyHint: false } }),
    tool('set_price', {
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    }),
  ),
  toolChange(
    'A tool spells out the defaults of its hints',
    tool('remove_product'),
    tool('remove_product', {
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    }),
  ),
  // the hint means nothing for a tool that changes nothing
  toolChange(
    'A read-only tool no longer says that it destroys nothing',
    tool('count_stock', { annotations: { readOnlyHint: true, destructiveHint: false } }),
    tool('count_stock', { annotations: { readOnlyHint: true } }),
  ),
  {
    title: 'A new revision is served',
    before: everywhereBut('2026-07-28', shop),
    after: everywhere(shop),
    member: '',
  },
];
