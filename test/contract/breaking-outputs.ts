import {
  arrayOf,
  breakingOutput,
  everywhere,
  listsChange,
  object,
  type SeededChange,
  text,
  tool,
} from './seeded-change.js';

const integer = { type: 'integer' };

const order = (keys: object = {}): object => object({ id: text(), total: { type: 'number' }, ...keys });

const created = object({ event: { type: 'string', const: 'created' }, at: text({ format: 'date-time' }) });
const paid = object({ event: { type: 'string', const: 'paid' }, amount: { type: 'number' } });
const refunded = object({ event: { type: 'string', const: 'refunded' }, reason: text() });

const names = arrayOf(text());

/** `list_tags` with its result as an object in a revision whose structured content must be one. */
const wrapped = (key: string) => ({ tools: [tool('list_tags', { outputSchema: object({ [key]: names }) })] });

/** Changes of outputs to results that a client which knows the old schema may refuse. */
export const BREAKING_OUTPUTS: readonly SeededChange[] = [
  breakingOutput({
    title: 'A required field of the output is gone',
    tool: 'get_order',
    before: order({ carrier: text() }),
    after: order(),
  }),
  breakingOutput({
    title: 'A field in the rows of an output is no longer required',
    tool: 'list_orders',
    before: object({ orders: arrayOf(order({ paidAt: text({ format: 'date-time' }) })) }),
    after: object({
      orders: arrayOf(object({ id: text(), total: { type: 'number' } }, { paidAt: text({ format: 'date-time' }) })),
    }),
  }),
  breakingOutput({
    title: 'An integer of the output becomes a number',
    tool: 'count_stock',
    before: object({ sku: text(), pieces: integer }),
    after: object({ sku: text(), pieces: { type: 'number' } }),
  }),
  breakingOutput({
    title: 'An enum of the output has a new value',
    tool: 'track_parcel',
    before: object({ status: { type: 'string', enum: ['packed', 'sent', 'delivered'] } }),
    after: object({ status: { type: 'string', enum: ['packed', 'sent', 'delivered', 'lost'] } }),
  }),
  breakingOutput({
    title: 'A referenced definition of the output allows null',
    tool: 'get_customer',
    before: { ...object({ address: { $ref: '#/$defs/Address' } }), $defs: { Address: object({ city: text() }) } },
    after: {
      ...object({ address: { $ref: '#/$defs/Address' } }),
      $defs: { Address: { anyOf: [object({ city: text() }), { type: 'null' }] } },
    },
  }),
  breakingOutput({
    title: 'A union in the output has a new branch',
    tool: 'order_history',
    before: object({ events: arrayOf({ oneOf: [created, paid] }) }),
    after: object({ events: arrayOf({ oneOf: [created, paid, refunded] }) }),
  }),
  listsChange({
    title: 'A tool no longer has an output schema',
    before: { tools: [tool('sales_report', { outputSchema: object({ revenue: { type: 'number' } }) })] },
    after: { tools: [tool('sales_report')] },
    member: 'sales_report',
  }),
  {
    // 2026-07-28 sends the array itself, before and after
    title: 'The key that wraps an array result in an older revision changes',
    before: everywhere(
      { tools: [tool('list_tags', { outputSchema: names })] },
      { '2025-06-18': wrapped('result'), '2025-11-25': wrapped('result') },
    ),
    after: everywhere(
      { tools: [tool('list_tags', { outputSchema: names })] },
      { '2025-06-18': wrapped('result'), '2025-11-25': wrapped('items') },
    ),
    member: 'list_tags',
  },
];
