import { arrayOf, harmlessInput, harmlessOutput, object, optional, type SeededChange, text } from './seeded-change.js';

const DRAFT_07 = 'http://json-schema.org/draft-07/schema#';
const DRAFT_2020_12 = 'https://json-schema.org/draft/2020-12/schema';

const address = object({ street: text(), city: text() }, { zip: text({ pattern: '^[0-9]{5}$' }) });
const shipping = object({ to: { $ref: '#/$defs/Address' }, from: { $ref: '#/$defs/Address' } });

const number = { type: 'number' };

const schedule = optional({ day: text({ format: 'date' }), hour: { type: 'integer', minimum: 0, maximum: 23 } });

/** Changes of how a schema is written. What it accepts stays the same. */
export const HARMLESS_SPELLINGS: readonly SeededChange[] = [
  harmlessInput({
    title: 'The properties, the required list, an enum and the types of an input are reordered',
    tool: 'create_product',
    before: {
      type: 'object',
      properties: {
        sku: text(),
        unit: { type: 'string', enum: ['kg', 'piece'] },
        price: { type: ['number', 'null'], minimum: 0 },
      },
      required: ['sku', 'unit', 'price'],
    },
    after: {
      required: ['price', 'sku', 'unit'],
      properties: {
        price: { minimum: 0, type: ['null', 'number'] },
        unit: { enum: ['piece', 'kg'], type: 'string' },
        sku: text(),
      },
      type: 'object',
    },
  }),
  harmlessInput({
    title: 'A definition of an input is renamed',
    tool: 'quote_shipping',
    before: { ...shipping, $defs: { Address: address } },
    after: {
      ...object({ to: { $ref: '#/$defs/AddressDto' }, from: { $ref: '#/$defs/AddressDto' } }),
      $defs: { AddressDto: address },
    },
  }),
  harmlessOutput({
    title: 'A definition of an output is inlined',
    tool: 'get_shipment',
    before: { ...shipping, $defs: { Address: address } },
    after: object({ to: address, from: address }),
  }),
  harmlessInput({
    title: 'The definitions of an input move from draft-07 to 2020-12',
    tool: 'ship_parcel',
    before: {
      $schema: DRAFT_07,
      ...object({ to: { $ref: '#/definitions/Address' } }),
      definitions: { Address: address },
    },
    after: { $schema: DRAFT_2020_12, ...object({ to: { $ref: '#/$defs/Address' } }), $defs: { Address: address } },
  }),
  harmlessInput({
    title: 'A tuple and a dependency of an input move from draft-07 to 2020-12',
    tool: 'set_location',
    before: {
      $schema: DRAFT_07,
      ...optional({
        position: { type: 'array', items: [number, number], additionalItems: false, minItems: 2 },
        floor: { type: 'integer' },
        building: text(),
      }),
      dependencies: { floor: ['building'] },
    },
    after: {
      $schema: DRAFT_2020_12,
      ...optional({
        position: { type: 'array', prefixItems: [number, number], items: false, minItems: 2 },
        floor: { type: 'integer' },
        building: text(),
      }),
      dependentRequired: { floor: ['building'] },
    },
  }),
  harmlessOutput({
    title: 'A constant of an output is written as an enum of one value',
    tool: 'receipt',
    before: object({ version: { const: 'v2' }, total: number }),
    after: object({ version: { type: 'string', enum: ['v2'] }, total: number }),
  }),
  harmlessInput({
    title: 'The type of an argument is written as an array of one type',
    tool: 'find_customer',
    before: object({ email: text({ format: 'email' }) }),
    after: object({ email: { type: ['string'], format: 'email' } }),
  }),
  harmlessOutput({
    title: 'A nullable field is written as a list of types instead of a union',
    tool: 'get_cart',
    before: object({ coupon: { anyOf: [{ type: 'string', minLength: 4 }, { type: 'null' }] } }),
    after: object({ coupon: { type: ['string', 'null'], minLength: 4 } }),
  }),
  harmlessInput({
    title: 'Descriptions, titles, examples, defaults and comments of an input change',
    tool: 'book_delivery',
    before: {
      ...optional({
        day: text({ format: 'date', description: 'The day', examples: ['2026-01-31'] }),
        hour: { type: 'integer', minimum: 0, maximum: 23, default: 9 },
      }),
      $comment: 'generated',
    },
    after: {
      ...optional({
        day: text({ format: 'date', title: 'Day', description: 'Day of delivery', examples: ['2026-02-01'] }),
        hour: { type: 'integer', minimum: 0, maximum: 23, default: 12, deprecated: true },
      }),
      title: 'Delivery',
      description: 'When to deliver',
    },
  }),
  harmlessInput({
    // the server refuses unknown arguments in any case
    title: 'An input says that it takes no further arguments',
    tool: 'plan_route',
    before: schedule,
    after: { ...schedule, additionalProperties: false },
  }),
  harmlessOutput({
    title: 'An output says that it may have further fields',
    tool: 'get_schedule',
    before: schedule,
    after: { ...schedule, additionalProperties: true },
  }),
  harmlessInput({
    title: 'A string and an array get minimum lengths of zero',
    tool: 'leave_feedback',
    before: object({ comment: text() }, { tags: arrayOf(text()) }),
    after: object({ comment: text({ minLength: 0 }) }, { tags: { ...arrayOf(text()), minItems: 0 } }),
  }),
  harmlessInput({
    title: 'The exclusive minimum of an integer is written as an inclusive one',
    tool: 'list_page',
    before: object({ page: { type: 'integer', exclusiveMinimum: 0 } }),
    after: object({ page: { type: 'integer', minimum: 1 } }),
  }),
  harmlessInput({
    title: 'The allOf of an argument is merged',
    tool: 'rename_product',
    before: object({ title: { allOf: [{ type: 'string', minLength: 1 }, { maxLength: 80 }] } }),
    after: object({ title: text({ minLength: 1, maxLength: 80 }) }),
  }),
  harmlessOutput({
    title: 'An output that extended a definition is written as one object',
    tool: 'get_supplier',
    before: {
      type: 'object',
      allOf: [{ $ref: '#/$defs/Party' }, object({ rating: number })],
      $defs: { Party: object({ id: text() }, { phone: text() }) },
    },
    after: object({ id: text(), rating: number }, { phone: text() }),
  }),
];
