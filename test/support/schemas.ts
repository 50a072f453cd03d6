// Validates messages with the official JSON schemas of the revisions. Also finds fields that are newer than the
// revision, which the schemas allow because they allow unknown fields.
import { readFileSync } from 'node:fs';

import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';

import { newerFields } from './newer-fields.js';
import { type Revision, REVISIONS, STATELESS } from './requirements.js';
import { judgeTask, withoutTaskIds } from './task-schemas.js';

type Json = Record<string, unknown>;

const FORMATS = {
  uri: /^[A-Za-z][A-Za-z0-9+.-]*:[^\s]+$/,
  'uri-template': true,
  byte: /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/,
} as const;

const RESULTS: Readonly<Record<string, string>> = {
  initialize: 'InitializeResult',
  'tools/list': 'ListToolsResult',
  'tools/call': 'CallToolResult',
  'prompts/list': 'ListPromptsResult',
  'prompts/get': 'GetPromptResult',
  'resources/list': 'ListResourcesResult',
  'resources/templates/list': 'ListResourceTemplatesResult',
  'resources/read': 'ReadResourceResult',
  'completion/complete': 'CompleteResult',
  ping: 'EmptyResult',
  'logging/setLevel': 'EmptyResult',
  'resources/subscribe': 'EmptyResult',
  'resources/unsubscribe': 'EmptyResult',
  'server/discover': 'DiscoverResult',
  'subscriptions/listen': 'SubscriptionsListenResult',
};

/** The requests that the server may answer with questions in the stateless revision. */
const ASKING = new Set(['tools/call', 'prompts/get', 'resources/read']);

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Objects that stay open: tool schemas are arbitrary JSON Schemas, and anyone may add metadata. */
const OPEN = new Set([
  'inputSchema',
  'outputSchema',
  'ResultMetaObject',
  'NotificationMetaObject',
  'SubscriptionsListenResultMetaObject',
]);

/** Closes a schema: objects can't have unlisted members, unless the schema has `additionalProperties`. */
function closed(node: unknown, name = ''): unknown {
  if (Array.isArray(node)) return node.map((item) => closed(item, name));
  if (!isObject(node)) return node;
  const { properties } = node;
  const members = Object.entries(node).map(([key, value]) => [
    key,
    key === 'properties' ? closedMembers(value) : closed(value, key),
  ]);
  // each part of an `allOf` must allow the members of the others
  const leave = OPEN.has(name) || name === 'allOf' || !isObject(properties) || 'additionalProperties' in node;
  const whole = Object.fromEntries(members) as Json;
  // the schemas of some questions leave out `_meta`, but plugins may add metadata to any question
  if (/^params$|Params$/.test(name) && isObject(properties))
    whole['properties'] = { _meta: { type: 'object' }, ...(whole['properties'] as Json) };
  return { ...whole, ...(!leave && { additionalProperties: false }) };
}

const closedMembers = (schemas: unknown) =>
  Object.fromEntries(Object.entries(schemas as Json).map(([name, schema]) => [name, closed(schema, name)]));

/** The official schema of one revision. */
export class RevisionSchema {
  readonly definitions: Readonly<Record<string, Json>>;
  private readonly ajv: Ajv;
  private readonly root: string;
  private readonly validators = new Map<string, ValidateFunction>();

  constructor(readonly revision: Revision) {
    const file = new URL(`../data/schema/${revision}.json`, import.meta.url);
    const schema = JSON.parse(readFileSync(file, 'utf8')) as Json;
    this.root = '$defs' in schema ? '$defs' : 'definitions';
    const definitions = closedMembers(schema[this.root]) as Record<string, Json>;
    this.definitions =
      revision === STATELESS
        ? definitions
        : {
            ...definitions,
            EmptyResult: { type: 'object', properties: { _meta: { type: 'object' } }, additionalProperties: false },
          };
    const options = { strict: false, allErrors: true, formats: FORMATS };
    this.ajv = this.root === '$defs' ? new Ajv2020(options) : new Ajv(options);
    this.ajv.addSchema({ ...schema, [this.root]: this.definitions, $id: 'mcp' });
  }

  /** The schema errors of a value; empty if it is valid. */
  problems(definition: string, value: unknown): string[] {
    if (!(definition in this.definitions)) return [`${definition} does not exist in ${this.revision}`];
    let validate = this.validators.get(definition);
    if (validate === undefined) {
      validate = this.ajv.compile({ $ref: `mcp#/${this.root}/${definition}` });
      this.validators.set(definition, validate);
    }
    return validate(value) ? [] : (validate.errors as ErrorObject[]).map((error) => describe(error));
  }

  /** The definition of the request or notification with this method. */
  definitionOf(union: 'ServerRequest' | 'ServerNotification', method: unknown): string | undefined {
    const members = this.definitions[union]?.['anyOf'] as { $ref: string }[] | undefined;
    return members
      ?.map(({ $ref }) => $ref.slice($ref.lastIndexOf('/') + 1))
      .find((name) => constantOf(this.definitions[name], 'method') === method);
  }
}

function constantOf(definition: Json | undefined, member: string): unknown {
  return (definition?.['properties'] as Record<string, Json> | undefined)?.[member]?.['const'];
}

const describe = ({ instancePath, message, params }: ErrorObject) =>
  `${instancePath || 'it'} ${message} ${JSON.stringify(params)}`;

const SCHEMAS = new Map(REVISIONS.map((revision) => [revision, new RevisionSchema(revision)]));

/** The official schema of a revision. */
export function schemaOf(revision: Revision): RevisionSchema {
  return SCHEMAS.get(revision) as RevisionSchema;
}

/**
 * The problems of a server message in a revision; empty if it is valid.
 * @param method for a response, the method of its request
 */
export function judge(revision: Revision, message: unknown, method?: string): string[] {
  if (!isObject(message)) return ['it is not an object'];
  const schema = schemaOf(revision);
  const shape = judgeTask(schema, message, method) ?? judgeShape(schema, withoutTaskIds(message), method);
  return [...shape, ...newerFields(revision, message, method)];
}

function judgeShape(schema: RevisionSchema, message: Json, method: string | undefined): string[] {
  if ('method' in message) {
    const asks = 'id' in message;
    const envelope = schema.problems(asks ? 'JSONRPCRequest' : 'JSONRPCNotification', message);
    const definition = schema.definitionOf(asks ? 'ServerRequest' : 'ServerNotification', message['method']);
    if (definition === undefined) return [...envelope, `the server has no "${String(message['method'])}" to send`];
    const { jsonrpc: _jsonrpc, id: _id, ...rest } = message;
    const whole = constantOf(schema.definitions[definition], 'jsonrpc') !== undefined;
    return [...envelope, ...schema.problems(definition, whole ? message : rest)];
  }
  if ('error' in message) return judgeError(schema, message);
  const name = 'JSONRPCResultResponse' in schema.definitions ? 'JSONRPCResultResponse' : 'JSONRPCResponse';
  const envelope = schema.problems(name, message);
  const definition = resultOf(method ?? '', message['result']);
  if (definition === undefined) return [...envelope, `"${method}" has no result`];
  return [...envelope, ...schema.problems(definition, message['result'])];
}

function resultOf(method: string, result: unknown): string | undefined {
  const asks = isObject(result) && result['resultType'] === 'input_required' && ASKING.has(method);
  return asks ? 'InputRequiredResult' : RESULTS[method];
}

/** Accepts null as the id of an error. JSON-RPC 2.0 uses it if the id is unknown, but older schemas don't allow it. */
function judgeError(schema: RevisionSchema, message: Json): string[] {
  const newer = 'JSONRPCErrorResponse' in schema.definitions;
  const judged = !newer && message['id'] === null ? { ...message, id: 0 } : message;
  return schema.problems(newer ? 'JSONRPCErrorResponse' : 'JSONRPCError', judged);
}
