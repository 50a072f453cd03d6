import { arrayOf, harmlessLists, harmlessOutput, object, type SeededChange, text, tool } from './seeded-change.js';

/** Changes of outputs to results that the old schema accepts. */
export const HARMLESS_OUTPUTS: readonly SeededChange[] = [
  harmlessOutput({
    title: 'The rows of an output have new fields',
    tool: 'list_orders',
    before: object({ orders: arrayOf(object({ id: text() })) }),
    after: object({ orders: arrayOf(object({ id: text(), total: { type: 'number' } }, { carrier: text() })) }),
  }),
  harmlessOutput({
    title: 'An optional field of an output is always sent',
    tool: 'get_order',
    before: object({ id: text() }, { carrier: text() }),
    after: object({ id: text(), carrier: text({ minLength: 1 }) }),
  }),
  harmlessOutput({
    title: 'An output sends fewer of the values that it may send',
    tool: 'track_parcel',
    before: object({
      status: { type: 'string', enum: ['packed', 'sent', 'lost'] },
      carrier: { type: ['string', 'null'] },
      weight: { type: 'number' },
    }),
    after: object({
      status: { type: 'string', enum: ['packed', 'sent'] },
      carrier: { type: 'string' },
      weight: { type: 'integer', minimum: 0 },
    }),
  }),
  harmlessLists({
    title: 'A tool gets an output schema',
    before: { tools: [tool('sales_report')] },
    after: { tools: [tool('sales_report', { outputSchema: object({ revenue: { type: 'number' } }) })] },
  }),
];
