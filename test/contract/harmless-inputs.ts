import { arrayOf, harmlessInput, object, optional, type SeededChange, text, when } from './seeded-change.js';

const card = object({ method: { type: 'string', const: 'card' }, token: text() });
const invoice = object({ method: { type: 'string', const: 'invoice' }, customer: text() });
const voucher = object({ method: { type: 'string', const: 'voucher' }, code: text() });

const comment = (name: string, optionals: object = {}): object => ({
  ...object({ body: text() }, { replies: arrayOf({ $ref: `#/$defs/${name}` }), ...optionals }),
  additionalProperties: false,
});

const contact = optional({ by: { type: 'string', enum: ['mail', 'phone'] }, number: text() });

/** Changes of inputs that accept what they accepted, and more. */
export const HARMLESS_INPUTS: readonly SeededChange[] = [
  harmlessInput({
    title: 'A tool has a new optional argument',
    tool: 'list_orders',
    before: { ...object({ customer: text() }), additionalProperties: false },
    after: { ...object({ customer: text() }, { since: text({ format: 'date' }) }), additionalProperties: false },
  }),
  harmlessInput({
    title: 'A required argument becomes optional with a default',
    tool: 'pay',
    before: object({ amount: { type: 'number' }, currency: text() }),
    after: object({ amount: { type: 'number' } }, { currency: text({ default: 'EUR' }) }),
  }),
  harmlessInput({
    title: 'An enum of an input has a new value',
    tool: 'export_orders',
    before: object({ format: { type: 'string', enum: ['csv', 'xlsx'] } }),
    after: object({ format: { type: 'string', enum: ['csv', 'json', 'xlsx'] } }),
  }),
  harmlessInput({
    title: 'The bounds of arguments are loosened',
    tool: 'search_products',
    before: object(
      { query: text({ minLength: 3, maxLength: 50, pattern: '^[a-z ]*$' }) },
      {
        limit: { type: 'integer', minimum: 1, maximum: 50 },
        tags: { ...arrayOf(text()), maxItems: 5, uniqueItems: true },
      },
    ),
    after: object(
      { query: text({ minLength: 1, maxLength: 200 }) },
      { limit: { type: 'integer', minimum: 0, maximum: 100 }, tags: { ...arrayOf(text()), maxItems: 10 } },
    ),
  }),
  harmlessInput({
    title: 'A date of an input may be any string',
    tool: 'plan_sale',
    before: object({ start: text({ format: 'date-time' }) }),
    after: object({ start: text({ description: 'A date, or words such as "next Monday"' }) }),
  }),
  harmlessInput({
    title: 'An argument takes null as well',
    tool: 'assign_order',
    before: object({ order: text(), clerk: { type: 'string' } }),
    after: object({ order: text(), clerk: { anyOf: [{ type: 'string' }, { type: 'null' }] } }),
  }),
  harmlessInput({
    title: 'An integer of an input may be any number',
    tool: 'weigh_parcel',
    before: object({ grams: { type: 'integer', minimum: 1 } }),
    after: object({ grams: { type: 'number', minimum: 1 } }),
  }),
  harmlessInput({
    // the constants keep the branches apart, so no old value matches two of them
    title: 'A discriminated union of an input has a new branch',
    tool: 'check_out',
    before: object({ payment: { oneOf: [card, invoice] } }),
    after: object({ payment: { oneOf: [voucher, card, invoice] } }),
  }),
  harmlessInput({
    title: 'A union of an input may match more than one branch',
    tool: 'estimate',
    before: object({ payment: { oneOf: [card, invoice] } }),
    after: object({ payment: { anyOf: [card, invoice] } }),
  }),
  harmlessInput({
    title: 'A recursive definition of an input is renamed and has a new optional field',
    tool: 'import_comments',
    before: { ...object({ thread: { $ref: '#/$defs/Comment' } }), $defs: { Comment: comment('Comment') } },
    after: {
      ...object({ thread: { $ref: '#/$defs/CommentNode' } }),
      $defs: { CommentNode: comment('CommentNode', { author: text() }) },
    },
  }),
  harmlessInput({
    title: 'An input drops the condition that made an argument required',
    tool: 'contact_customer',
    before: {
      ...contact,
      ...when({ properties: { by: { const: 'phone' } }, required: ['by'] }, { required: ['number'] }),
    },
    after: contact,
  }),
];
