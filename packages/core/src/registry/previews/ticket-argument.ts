import { invalidOption, isObject, type JsonObject } from '@decorum/schema/internal';

import { ticketIn } from '../../metadata/preview-options.js';
import { referenced, rootOf } from '../without-arguments.js';

/** The argument in which a model brings the ticket of a plan. */
const TICKET = 'ticket';

const PUBLISHED: JsonObject = {
  type: 'string',
  description:
    'Leave it out at first: the call then does nothing, and returns a plan with a ticket. To carry out that plan, call the tool again with the same arguments and the ticket.',
};

/** Keywords with lists of schemas for the same arguments. */
const LISTS = ['allOf', 'anyOf', 'oneOf'];

/** Keywords with a schema for the same arguments. */
const SINGLE = ['then', 'else'];

/** A schema within this many references is not followed further: it may refer to itself. */
const MAX_DEPTH = 8;

/**
 * The schema of a tool's arguments, with the ticket of a plan.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION` for a tool that has an argument with this name
 */
export function withTicket(schema: JsonObject, where: string): JsonObject {
  const taken = () => {
    const problem = 'adds the argument `ticket`, but the input has a field with this name. Rename the field';
    return invalidOption(where, 'preview', problem);
  };
  const root = opened(rootOf(schema), { schema, taken, depth: 0 });
  return { ...root, properties: { ...fieldsOf(root), [TICKET]: PUBLISHED } };
}

interface Opening {
  /** The whole schema, for references. */
  readonly schema: JsonObject;
  readonly depth: number;
  taken(): Error;
}

const fieldsOf = ({ properties }: JsonObject): JsonObject => (isObject(properties) ? properties : {});

/** A schema that admits the ticket: the same one if it does so already. */
function opened(node: JsonObject, opening: Opening): JsonObject {
  const { required, $ref, propertyNames, maxProperties } = node;
  if (Object.hasOwn(fieldsOf(node), TICKET) || (Array.isArray(required) && required.includes(TICKET)))
    throw opening.taken();
  if (opening.depth > MAX_DEPTH) return node;
  const deeper = { ...opening, depth: opening.depth + 1 };
  const open = (each: unknown): unknown => (isObject(each) ? opened(each, deeper) : each);
  const changed: Record<string, unknown> = {};
  for (const name of LISTS) {
    const list = node[name];
    if (!Array.isArray(list)) continue;
    const all = list.map(open);
    if (all.some((each, at) => each !== list[at])) changed[name] = all;
  }
  for (const name of SINGLE) if (name in node && open(node[name]) !== node[name]) changed[name] = open(node[name]);
  if ('additionalProperties' in node || 'unevaluatedProperties' in node) {
    changed['properties'] = { ...fieldsOf(node), [TICKET]: { type: 'string' } };
  }
  if (propertyNames !== undefined) changed['propertyNames'] = { anyOf: [propertyNames, { const: TICKET }] };
  if (typeof maxProperties === 'number') changed['maxProperties'] = maxProperties + 1;
  const target = typeof $ref === 'string' ? referenced(opening.schema, $ref) : undefined;
  if (target !== undefined && open(target) !== target) {
    const { $ref: _followed, allOf = changed['allOf'] ?? [], ...rest } = { ...node, ...changed };
    return { ...rest, allOf: [...(allOf as readonly unknown[]), open(target)] };
  }
  return Object.keys(changed).length === 0 ? node : { ...node, ...changed };
}

/** Separates the ticket of a call from its arguments. Models fill optional arguments with nothing. */
export function ticketOf(args: JsonObject, meta: JsonObject | undefined): { ticket: unknown; rest: JsonObject } {
  const { [TICKET]: passed, ...rest } = args;
  const given = ticketIn(meta) ?? passed ?? undefined;
  const ticket = typeof given === 'string' ? given.trim() : given;
  return { ticket: ticket === '' ? undefined : ticket, rest };
}
