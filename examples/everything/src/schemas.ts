import { Tool } from '@decorum/core';

/** A JSON Schema with keywords that no DTO can express. It is sent to clients unchanged. */
const CONTACT = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // eslint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
};

/** Tools whose schemas aren't classes. */
export class Schemas {
  @Tool({ name: 'json_schema_2020_12_tool', description: 'Takes a contact', input: CONTACT })
  contact({ name = 'somebody' }: { name?: string }) {
    return `Noted ${name}.`;
  }
}
