import { arrayOf, breakingInput, object, optional, type SeededChange, text, when } from './seeded-change.js';

const money = { type: 'number', minimum: 0 };

const DRAFT_07 = 'http://json-schema.org/draft-07/schema#';
const DRAFT_2020_12 = 'https://json-schema.org/draft/2020-12/schema';

const textBlock = object({ kind: { const: 'text', type: 'string' }, body: text() });
const imageBlock = object({ kind: { const: 'image', type: 'string' }, url: text() });
const tableBlock = object({ kind: { const: 'table', type: 'string' }, rows: arrayOf(text()) });

const channel = { type: 'string', enum: ['mail', 'sms'] };
const notify = object({ channel }, { address: text(), phone: text() });

/** Changes of properties: which there are, and which are required. */
const PROPERTIES: readonly SeededChange[] = [
  breakingInput({
    title: 'A tool has a new required argument',
    tool: 'pay',
    before: object({ amount: money }),
    after: object({ amount: money, currency: text() }),
  }),
  breakingInput({
    title: 'A tool no longer takes an optional argument',
    tool: 'list_orders',
    before: optional({ customer: text(), page: { type: 'integer', minimum: 1 } }),
    after: optional({ customer: text() }),
  }),
  breakingInput({
    title: 'An optional field of the objects in an array of the input becomes required',
    tool: 'place_order',
    before: object({ lines: arrayOf(object({ sku: text() }, { quantity: { type: 'integer' } })) }),
    after: object({ lines: arrayOf(object({ sku: text(), quantity: { type: 'integer' } })) }),
  }),
  breakingInput({
    title: 'A map in the input takes known keys only',
    tool: 'tag_product',
    before: object({ labels: { type: 'object', additionalProperties: text() } }),
    after: object({
      labels: { ...optional({ team: text(), season: text() }), additionalProperties: false },
    }),
  }),
  breakingInput({
    title: 'One argument of the input now needs another',
    tool: 'ship_order',
    before: object({ order: text() }, { pickup: text({ format: 'date' }), depot: text() }),
    after: {
      ...object({ order: text() }, { pickup: text({ format: 'date' }), depot: text() }),
      dependentRequired: { pickup: ['depot'] },
    },
  }),
  breakingInput({
    title: 'A condition makes an argument of the input required for one channel',
    tool: 'notify_customer',
    before: notify,
    after: {
      ...notify,
      ...when({ properties: { channel: { const: 'sms' } }, required: ['channel'] }, { required: ['phone'] }),
    },
  }),
];

/** Changes of the values that an argument takes. */
const VALUES: readonly SeededChange[] = [
  breakingInput({
    title: 'An argument that was a string or a number takes strings only',
    tool: 'get_order',
    before: object({ order: { type: ['string', 'number'] } }),
    after: object({ order: { type: 'string' } }),
  }),
  breakingInput({
    title: 'An enum of the input loses a value and becomes a constant',
    tool: 'export_orders',
    before: optional({ format: { type: 'string', enum: ['csv', 'xlsx'], default: 'csv' } }),
    after: optional({ format: { type: 'string', const: 'csv', default: 'csv' } }),
  }),
  breakingInput({
    // 0 was valid
    title: 'The minimum of a number in the input becomes exclusive',
    tool: 'refund',
    before: object({ amount: { type: 'number', minimum: 0 } }),
    after: object({ amount: { type: 'number', exclusiveMinimum: 0 } }),
  }),
  breakingInput({
    title: 'The pattern of an argument changes',
    tool: 'convert_currency',
    before: object({ target: text({ pattern: '^[A-Za-z]{3}$' }) }),
    after: object({ target: text({ pattern: '^[A-Z]{3}$' }) }),
  }),
  breakingInput({
    title: 'A free string of the input must be an email address',
    tool: 'invite_clerk',
    before: object({ to: text({ description: 'Who to invite' }) }),
    after: object({ to: text({ description: 'Who to invite', format: 'email' }) }),
  }),
  breakingInput({
    title: 'A number of the input must be an integer',
    tool: 'weigh_parcel',
    before: object({ grams: { type: 'number', exclusiveMinimum: 0 } }),
    after: object({ grams: { type: 'integer', exclusiveMinimum: 0 } }),
  }),
  breakingInput({
    title: 'An argument no longer takes null',
    tool: 'assign_order',
    before: object({ order: text(), clerk: { anyOf: [{ type: 'string' }, { type: 'null' }] } }),
    after: object({ order: text(), clerk: { type: 'string' } }),
  }),
];

/** Changes that hide behind a reference, a combination or a dialect. */
const STRUCTURE: readonly SeededChange[] = [
  breakingInput({
    // the properties themselves stay the same
    title: 'A referenced definition of the input allows shorter lists only',
    tool: 'bulk_update',
    before: {
      ...object({ ids: { $ref: '#/$defs/Ids' } }),
      $defs: { Ids: { ...arrayOf(text()), minItems: 1, maxItems: 100 } },
    },
    after: {
      ...object({ ids: { $ref: '#/$defs/Ids' } }),
      $defs: { Ids: { ...arrayOf(text()), minItems: 1, maxItems: 25 } },
    },
  }),
  breakingInput({
    title: 'A union in the input loses a branch',
    tool: 'write_page',
    before: object({ blocks: arrayOf({ oneOf: [textBlock, imageBlock, tableBlock] }) }),
    after: object({ blocks: arrayOf({ oneOf: [textBlock, imageBlock] }) }),
  }),
  breakingInput({
    title: 'An argument gets an allOf that lowers its maximum length',
    tool: 'rename_product',
    before: object({ title: text({ minLength: 1, maxLength: 200 }) }),
    after: object({ title: { ...text({ minLength: 1, maxLength: 200 }), allOf: [{ maxLength: 120 }] } }),
  }),
  breakingInput({
    // draft-07 allows further items; `items: false` refuses them
    title: 'A tuple of the input is closed while it moves from draft-07 to 2020-12',
    tool: 'set_location',
    before: {
      $schema: DRAFT_07,
      ...object({ position: { type: 'array', items: [{ type: 'number' }, { type: 'number' }], minItems: 2 } }),
    },
    after: {
      $schema: DRAFT_2020_12,
      ...object({
        position: {
          type: 'array',
          prefixItems: [{ type: 'number' }, { type: 'number' }],
          items: false,
          minItems: 2,
        },
      }),
    },
  }),
];

/** Changes of inputs that refuse a call that was valid. */
export const BREAKING_INPUTS: readonly SeededChange[] = [...PROPERTIES, ...VALUES, ...STRUCTURE];
