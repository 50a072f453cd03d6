import { type Context, type JsonObject, McpError, NoInput, ToolError } from '@decorum/core';
import type { AddedMember, Handlers } from '@decorum/core/plugin';

import { apiCaller } from './api-caller.js';
import { type Input, inputOf } from './input-schema.js';
import { cleanText, wellFormed } from './json.js';
import type { OpenDocument } from './open-document.js';
import { type OperationChanges, type Settings, wrong } from './openapi-options.js';
import type { Operation, Parameter } from './operation.js';
import { outputOf } from './output-schema.js';
import { descriptionOf } from './tool-of.js';

/** Whether a URI can say all that an operation needs. */
export const canBeResource = ({ method, parameters }: Operation): boolean =>
  method === 'GET' && parameters.every((each) => !each.required || each.in === 'path' || each.in === 'query');

const inUri = ({ in: place }: Parameter): boolean => place === 'path' || place === 'query';

/** A host for the URIs: the title of the API. */
function hostOf({ root }: OpenDocument): string {
  const { title } = (root['info'] ?? {}) as JsonObject;
  const slug = (cleanText(title) ?? '').toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  return slug.slice(0, 63).replaceAll(/^-+|-+$/g, '') || 'api';
}

/** A name that URI templates allow, and that no other argument has. */
function uniqueVariable(argument: string, taken: ReadonlyMap<string, string>): string {
  const name = argument.replaceAll(/[^A-Za-z0-9_]+/g, '_');
  let unique = name;
  for (let count = 2; taken.has(unique); count += 1) unique = `${name}_${count}`;
  return unique;
}

interface Template {
  readonly uri: string;
  /** Arguments by variable. */
  readonly variables: ReadonlyMap<string, string>;
}

function templateOf({ path }: Operation, { bindings }: Input, host: string): Template {
  const variables = new Map<string, string>();
  const byPlace = { path: new Map<string, string>(), query: new Map<string, string>() };
  for (const binding of bindings) {
    if (binding.in !== 'parameter' || !inUri(binding.parameter)) continue;
    const { name, in: place } = binding.parameter;
    const variable = uniqueVariable(binding.argument, variables);
    variables.set(variable, binding.argument);
    byPlace[place as 'path' | 'query'].set(name, variable);
  }
  const route = (path.split('?')[0] as string).split(/\{([^{}]+)\}/);
  const written = route.map((part, at) => (at % 2 === 1 ? `{${byPlace.path.get(part)}}` : encodeURI(wellFormed(part))));
  const query = [...byPlace.query.values()].join(',');
  return { uri: `openapi://${host}${written.join('')}${query === '' ? '' : `{?${query}}`}`, variables };
}

/** The schema of a template's variables, which are all optional: the API says what is missing. */
function variablesSchema({ variables }: Template, { schema }: Input): JsonObject {
  const { properties, $defs } = schema as { readonly properties: JsonObject; readonly $defs?: JsonObject };
  const entries = [...variables].map(([variable, argument]) => [variable, simple(properties[argument])] as const);
  return { type: 'object', properties: Object.fromEntries(entries), ...($defs && { $defs }) };
}

/** A variable is text, a number, a truth value or a list of these. */
function simple(schema: unknown): JsonObject {
  const { type, items, description } = (schema ?? {}) as JsonObject;
  const shared = description === undefined ? {} : { description };
  if (type === 'integer' || type === 'number' || type === 'boolean') return { type, ...shared };
  if (type !== 'array') return { type: 'string', ...shared };
  const { type: each } = (items ?? {}) as JsonObject;
  return {
    type: 'array',
    items: each === 'integer' || each === 'number' ? { type: each } : { type: 'string' },
    ...shared,
  };
}

/** What a client of a resource is told about an answer that is no success. */
function requireSuccess(status: number): void {
  if (status === 404 || status === 410) throw new McpError('unknown-resource', 'Resource not found');
  if (status < 200 || status > 299) throw new McpError('internal-error', `The API answered with the status ${status}`);
}

/**
 * The resource or resource template of a `GET`.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION` for an operation that can't be one
 */
export function resourceOf(
  operation: Operation,
  {
    key,
    changes,
    document,
  }: { readonly key: string; readonly changes: OperationChanges; readonly document: OpenDocument },
  settings: Settings,
): { readonly record: AddedMember; readonly handler: Handlers[string] } {
  if (!canBeResource(operation)) {
    const problem = `makes a resource of ${operation.where}, which is no GET, or has required headers or cookies. Remove it`;
    throw wrong('resource', problem);
  }
  const given = { ...operation, parameters: operation.parameters.filter(inUri) };
  const input = inputOf(given, document);
  const { accept } = outputOf(operation, document, false);
  const template = templateOf(operation, input, hostOf(document));
  const call = apiCaller(operation, { input, accept, where: document.where }, settings);
  const record: AddedMember = {
    kind: 'resource',
    key,
    options: {
      uri: template.uri,
      name: changes.name ?? key,
      description: changes.description ?? descriptionOf(operation),
      input: template.variables.size > 0 ? variablesSchema(template, input) : NoInput,
      ...(operation.hints.tags && { tags: operation.hints.tags }),
    },
  };
  return { record, handler: reader(call, template) };
}

function reader(call: ReturnType<typeof apiCaller>, { variables }: Template) {
  return async (values: JsonObject, ctx: Context): Promise<Response> => {
    const args = Object.fromEntries(
      [...variables].flatMap(([variable, argument]) =>
        values[variable] === undefined ? [] : [[argument, values[variable]]],
      ),
    );
    try {
      const answer = await call(args, ctx);
      requireSuccess(answer.status);
      const type = answer.headers.get('content-type');
      return new Response(answer.bytes, { headers: type === null ? {} : { 'content-type': type } });
    } catch (error) {
      throw error instanceof ToolError ? new McpError('invalid-params', error.message) : error;
    }
  };
}
