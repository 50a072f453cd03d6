import type { JsonObject } from '@decorum/core';
import { isObject } from '@decorum/core/internal';

import type { TestClient } from './client.js';

/** Everything that a client sees of a server, in a stable order and without values that change on their own. */
export interface Contract {
  readonly revision: string;
  /** The `serverInfo` without its version, which changes with each release. */
  readonly server: JsonObject;
  readonly instructions?: string;
  readonly capabilities: JsonObject;
  readonly tools: readonly JsonObject[];
  readonly resources: readonly JsonObject[];
  readonly resourceTemplates: readonly JsonObject[];
  readonly prompts: readonly JsonObject[];
}

interface Introduction extends JsonObject {
  readonly capabilities?: JsonObject;
  readonly serverInfo?: JsonObject;
  readonly instructions?: string;
}

/**
 * Returns everything that a client sees of its server, for a snapshot. Entries are sorted by name or URI, and the
 * members of objects by name.
 * @example
 * ```ts
 * import { connect, contract } from '@decorum/testing';
 *
 * const client = await connect(server);
 * const { tools, prompts } = await contract(client); // for `expect(…).toMatchSnapshot()`
 * ```
 */
export async function contract(client: TestClient): Promise<Contract> {
  const { capabilities = {}, serverInfo = {}, instructions } = await introductionOf(client);
  const { version: _version, ...server } = serverInfo;
  const listed = async (feature: string, list: () => Promise<readonly object[]>, key: string) =>
    capabilities[feature] === undefined ? [] : sortedBy(key, await list());
  return sorted({
    revision: client.revision,
    server,
    ...(instructions !== undefined && { instructions }),
    capabilities,
    tools: await listed('tools', () => client.listTools(), 'name'),
    resources: (await listed('resources', () => client.listResources(), 'uri')).map(withoutState),
    resourceTemplates: await listed('resources', () => client.listResourceTemplates(), 'uriTemplate'),
    prompts: await listed('prompts', () => client.listPrompts(), 'name'),
  }) as unknown as Contract;
}

/** The server's result of `initialize` or `server/discover`. */
async function introductionOf(client: TestClient): Promise<Introduction> {
  if (client.initialized) return client.initialized as unknown as Introduction;
  const discovered: Introduction = await client.request('server/discover');
  const meta = discovered['_meta'];
  const serverInfo = isObject(meta)
    ? (meta['io.modelcontextprotocol/serverInfo'] as JsonObject | undefined)
    : undefined;
  return { ...(serverInfo && { serverInfo }), ...discovered };
}

function sortedBy(key: string, entries: readonly object[]): readonly JsonObject[] {
  const named = entries as readonly JsonObject[];
  return named.toSorted((a, b) => (String(a[key]) < String(b[key]) ? -1 : 1));
}

/** Removes the fields that change whenever the resource changes. */
function withoutState({ size: _size, annotations, ...entry }: JsonObject): JsonObject {
  if (!isObject(annotations)) return entry;
  const { lastModified: _lastModified, ...others } = annotations;
  return Object.keys(others).length > 0 ? { ...entry, annotations: others } : entry;
}

/** Sorts the members of all objects. Lists keep their order, which has a meaning. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  );
}
