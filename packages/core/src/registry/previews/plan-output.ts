import type { JsonObject } from '@decorum/schema/internal';

import { movedSchema } from '../../protocol/revisions/moved-schema.js';

const PLAN: JsonObject = {
  type: 'object',
  description: 'A plan: nothing has been done yet.',
  properties: {
    plan: { description: 'What the call would do. Left out if it is too long.' },
    ticket: { type: 'string', description: 'Carries out the plan, as the argument `ticket`.' },
  },
  required: ['ticket'],
};

/** The schema of a tool's result, which may also be a plan: clients check results, and so plans too. */
export function orPlan(output: JsonObject): JsonObject {
  const { $schema, ...schema } = output;
  const { definitions, rest } = movedSchema(schema, '#/anyOf/0');
  return {
    ...($schema !== undefined && { $schema }),
    ...(definitions !== undefined && { $defs: definitions }),
    ...(output['type'] === 'object' && { type: 'object' }),
    anyOf: [rest, PLAN],
  };
}
