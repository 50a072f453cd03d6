import type { McpServer } from '@decorum/core';
import { type AddedMember, ATTACH, type Handlers, type MemberSource } from '@decorum/core/plugin';

import { entriesOf } from './json.js';
import { type OpenDocument, openDocument } from './open-document.js';
import {
  type OpenApiOptions,
  type OperationChanges,
  type OperationFilter,
  type Settings,
  settingsOf,
  wrong,
} from './openapi-options.js';
import { type Operation, operationsOf } from './operation.js';
import { namesOf } from './operation-names.js';
import { canBeResource, resourceOf } from './resource-of.js';
import { beginPatterns } from './schema-keywords.js';
import { toolOf } from './tool-of.js';

/** The ways to name an operation. */
const keysOf = ({ operationId, where }: Operation): readonly string[] =>
  operationId === undefined ? [where] : [operationId, where];

const matches = (operation: Operation, filter: OperationFilter): boolean =>
  typeof filter === 'function' ? filter(operation) : keysOf(operation).some((key) => filter.includes(key));

/** Rejects names of operations that the document doesn't have: a typo would serve too much. */
function requireKnown(option: string, keys: readonly string[], operations: readonly Operation[]): void {
  const known = new Set(operations.flatMap(keysOf));
  const unknown = keys.find((key) => !known.has(key));
  if (unknown === undefined) return;
  throw wrong(
    option,
    `names "${unknown}", which is no operation of the document. Use an \`operationId\`, or "GET /path"`,
  );
}

function selected(operations: readonly Operation[], { include, exclude, operations: changes }: Settings): Operation[] {
  if (Array.isArray(include)) requireKnown('include', include as string[], operations);
  if (Array.isArray(exclude)) requireKnown('exclude', exclude as string[], operations);
  requireKnown('operations', Object.keys(changes), operations);
  const chosen = operations.filter(
    (each) =>
      each.hints.hidden !== true &&
      (include === undefined || matches(each, include)) &&
      (exclude === undefined || !matches(each, exclude)),
  );
  if (chosen.length > 0) return chosen;
  throw wrong('document', 'has no operation to serve. Check `paths`, and the options `include` and `exclude`');
}

/** What the options and `x-mcp` change about an operation. */
function changesOf(operation: Operation, { operations, resource }: Settings): OperationChanges {
  const own = keysOf(operation).map((key) => operations[key]);
  return Object.assign(
    { ...(resource && canBeResource(operation) && { resource }) },
    operation.hints,
    ...own,
  ) as OperationChanges;
}

/** Warns if the document wants credentials, and the options have none. */
function warnOfSecurity({ root, where, references }: OpenDocument, { headers, baseUrl }: Settings): void {
  if (headers !== undefined || baseUrl.search !== '') return;
  const schemes = entriesOf(entriesOf(root['components']).find(([name]) => name === 'securitySchemes')?.[1]);
  if (schemes.length === 0) return;
  const described = schemes.slice(0, 10).map(([name, scheme]) => {
    const { type, scheme: kind, in: place, name: called } = references.follow(scheme);
    return `${name} (${[type, kind, place, called].filter((part) => typeof part === 'string').join(' ')})`;
  });
  process.emitWarning(
    `${where} wants credentials: ${described.join(', ')}. Pass \`headers\`, such as { authorization: 'Bearer …' }`,
    { code: 'DECORUM_OPENAPI_HEADERS' },
  );
}

/** The members for the operations of a document. */
function membersOf(document: OpenDocument, settings: Settings): { records: AddedMember[]; handlers: Handlers } {
  beginPatterns();
  const { prefix = '', separator = '_' } = settings;
  const operations = selected(operationsOf(document), settings);
  const names = namesOf(operations, prefix === '' ? '' : prefix + separator);
  const handlers: Record<string, Handlers[string]> = {};
  const records = operations.map((operation): AddedMember => {
    const key = names.get(operation) as string;
    const changes = changesOf(operation, settings);
    const made = changes.resource === true ? resourceOf : toolOf;
    const { record, handler } = made(operation, { key, changes, document }, settings);
    handlers[key] = handler;
    return record;
  });
  return { records, handlers };
}

/**
 * Serves the operations of an OpenAPI document, 3.0 or 3.1, as tools: an entry for `providers`. Each call of a tool sends a
 * request to the API.
 * @param document a path, a URL, or the parsed document. It may be JSON or YAML
 * @throws {DecorumError} `DECORUM_INVALID_OPTION` for a mistake in the options, and for a document that can't be read or
 *   served
 * @example
 * ```ts
 * import { McpServer } from '@decorum/core';
 * import { openapi } from '@decorum/openapi';
 *
 * const pets = await openapi('petstore.yaml', {
 *   baseUrl: 'https://petstore.example.com/v1',
 *   headers: { authorization: `Bearer ${process.env['PETSTORE_TOKEN']}` },
 * });
 *
 * new McpServer({ name: 'shop', version: '1.0.0', providers: [pets] });
 * ```
 */
export async function openapi(document: string | URL | object, options: OpenApiOptions): Promise<MemberSource> {
  const settings = settingsOf(options);
  const opened = await openDocument(document, settings);
  const { records, handlers } = membersOf(opened, settings);
  warnOfSecurity(opened, settings);
  return {
    [ATTACH](server: McpServer) {
      server.addMembers(records, handlers, { ...settings.shared, source: opened.where });
    },
  };
}
