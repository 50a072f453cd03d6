// What a client of the official SDK finds at a server, so that servers can be compared.
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema, ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { revisions } from '@decorum/testing';

const INFO = { name: 'interop', version: '1.0.0' };
interface Form {
  readonly params: { readonly requestedSchema?: { readonly properties: Readonly<Record<string, Field>> } };
}
interface Field {
  readonly type: string;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly oneOf?: readonly { readonly const: string }[];
}

/** Fills in a form, always in the same way. */
const fillIn = ({ params: { requestedSchema } }: Form) => ({
  action: 'accept' as const,
  content: Object.fromEntries(
    Object.entries(requestedSchema?.properties ?? {}).map(([name, field]) => [name, field.default ?? valueOf(field)]),
  ),
});

function valueOf({ type, enum: values, oneOf }: Field): unknown {
  if (type === 'string') return values?.[0] ?? oneOf?.[0]?.const ?? 'Ada';
  return type === 'boolean' ? true : type === 'array' ? [] : 1;
}

type Request = Record<string, unknown>;

/** The methods that the clients of both versions share. */
export interface SdkClient {
  listTools(params?: Request): Promise<Request>;
  listPrompts(params?: Request): Promise<Request>;
  listResources(params?: Request): Promise<Request>;
  listResourceTemplates(params?: Request): Promise<Request>;
  callTool(params: Request): Promise<Request>;
  getPrompt(params: Request): Promise<Request>;
  readResource(params: Request): Promise<Request>;
  complete(params: Request): Promise<Request>;
  close(): Promise<void>;
}

/** Lets the SDK, which offers its newest revision, begin with an older one. */
function offering(revision: string): typeof fetch {
  return async (input, init = {}) => {
    const { body } = init;
    const offered = /"protocolVersion":"[\d-]+"/;
    return await fetch(
      input,
      typeof body === 'string' ? { ...init, body: body.replace(offered, `"protocolVersion":"${revision}"`) } : init,
    );
  };
}

/** A client of the official SDK that speaks a revision: 1.x for sessions, 2.x without them. */
export async function sdkClient(url: string, revision: string): Promise<SdkClient> {
  // clients of the first revisions don't know it
  const capabilities = { ...(revisions.indexOf(revision) > 1 && { elicitation: {} }), roots: {} };
  if (revision === revisions.at(-1)) {
    const client = new ClientV2(INFO, { capabilities, versionNegotiation: { mode: { pin: revision } } });
    client.setRequestHandler('elicitation/create', async (request: unknown) => fillIn(request as Form) as never);
    client.setRequestHandler('roots/list', async () => ({ roots: [] }));
    await client.connect(new HttpV2(new URL(url)) as never);
    return client as unknown as SdkClient;
  }
  const client = new ClientV1(INFO, { capabilities });
  if ('elicitation' in capabilities)
    client.setRequestHandler(ElicitRequestSchema, async (request: unknown) => fillIn(request as Form) as never);
  client.setRequestHandler(ListRootsRequestSchema, async () => ({ roots: [] }));
  await client.connect(new HttpV1(new URL(url), { fetch: offering(revision) }) as never);
  return client as unknown as SdkClient;
}

/** Calls of tools: those of each tool with nothing, with nonsense, and with what a server's author would send. */
export type Calls = readonly (readonly [name: string, args: Request])[];

const NONSENSE = { path: 7, entities: 'none', arg1: false, unknown: true };

type Entries = readonly {
  readonly name: string;
  readonly uri?: string;
  readonly uriTemplate?: string;
  readonly arguments?: readonly { name: string }[];
}[];

/**
 * Everything that a client can find out, by what it did. Results and errors are as the SDK returns them.
 * @param tools.without tools to leave out
 */
export async function explore(
  client: SdkClient,
  {
    calls,
    without,
    prefix,
    segment,
  }: { readonly calls: Calls; readonly without: readonly string[]; readonly prefix: string; readonly segment: string },
): Promise<Readonly<Record<string, unknown>>> {
  const found: Record<string, unknown> = {};
  const put = async (title: string, run: () => Promise<Request>): Promise<Request> => {
    try {
      return (found[title] = await run());
    } catch (error) {
      const { code, message, data } = error as { code?: number; message: string; data?: unknown };
      found[title] = { error: { code, message, data } };
      return {};
    }
  };
  const listed = (await put('list tools', () => client.listTools())) as { tools?: Entries };
  const tools = (listed.tools ?? []).filter(({ name }) => !without.includes(name.slice(prefix.length)));
  found['list tools'] = tools;
  const { prompts = [] } = (await put('list prompts', () => client.listPrompts())) as { prompts?: Entries };
  const { resources = [] } = (await put('list resources', () => client.listResources())) as { resources?: Entries };
  const { resourceTemplates = [] } = (await put('list templates', () => client.listResourceTemplates())) as {
    resourceTemplates?: Entries;
  };
  const plain = (name: string) => name.slice(prefix.length);
  for (const [name, args] of calls)
    await put(`${name} ${JSON.stringify(args)}`, () => client.callTool({ name: prefix + name, arguments: args }));
  for (const { name } of tools) {
    await put(`${plain(name)} without arguments`, () => client.callTool({ name }));
    await put(`${plain(name)} nonsense`, () => client.callTool({ name, arguments: NONSENSE }));
  }
  await put('an unknown tool', () => client.callTool({ name: `${prefix}nothing` }));
  const placed = (uri: string) => uri.replace('://', `://${segment}`);
  const uris = [
    ...resources.map(({ uri }) => uri as string),
    ...resourceTemplates.map(({ uriTemplate }) => String(uriTemplate).replaceAll(/\{[^}]*\}/g, '7')),
    placed('test://nothing'),
    placed('memory://nothing'),
  ];
  for (const [index, uri] of uris.entries()) await put(`read ${index}`, () => client.readResource({ uri }));
  for (const { name, arguments: args = [] } of prompts) {
    const given = Object.fromEntries(args.map((argument) => [argument.name, 'cid:value']));
    await put(`get ${plain(name)}`, () => client.getPrompt({ name, arguments: given }));
    await put(`get ${plain(name)} without arguments`, () => client.getPrompt({ name }));
    for (const argument of [...args, { name: 'nothing' }]) {
      await put(`complete ${plain(name)} ${argument.name}`, () =>
        client.complete({ ref: { type: 'ref/prompt', name }, argument: { name: argument.name, value: 'te' } }),
      );
    }
  }
  await put('an unknown prompt', () => client.getPrompt({ name: `${prefix}nothing` }));
  for (const { uriTemplate } of resourceTemplates) {
    await put(`complete ${plainUri(String(uriTemplate), segment)}`, () =>
      client.complete({ ref: { type: 'ref/resource', uri: uriTemplate }, argument: { name: 'id', value: '' } }),
    );
  }
  return found;
}

const plainUri = (uri: string, segment: string) => uri.replace(`://${segment}`, '://');

/** What was found without what a proxy adds: the prefix, and what belongs to each server or request. */
export function comparable(
  found: object,
  { prefix, segment }: { readonly prefix: string; readonly segment: string },
): unknown {
  const text = JSON.stringify(found, (key, value: unknown) => {
    const isEmpty = key === '_meta' && Object.keys(value as object).every((name) => PRIVATE.has(name));
    return isEmpty || PRIVATE.has(key) ? undefined : value;
  });
  const plain = prefix === '' ? text : text.replaceAll(prefix, '').replaceAll(`://${segment}`, '://');
  return JSON.parse(plain);
}

/** Fields that belong to a server: its identity, its extensions, and how long it lets clients keep results. */
const PRIVATE = new Set(['execution', 'io.modelcontextprotocol/serverInfo', 'nextCursor', 'ttlMs', 'cacheScope']);
