import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Client as ClientV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { lstat, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const INFO = { name: 'test', version: '1.0.0' };

const ADA = { name: 'Ada', entityType: 'person', observations: ['Writes programs'] };
const BABBAGE = { name: 'Babbage', entityType: 'person', observations: ['Builds engines'] };
const ENGINE = { name: 'Engine', entityType: 'machine', observations: [] };
const KNOWS = { from: 'Ada', to: 'Babbage', relationType: 'knows' };
const BUILDS = { from: 'Babbage', to: 'Engine', relationType: 'builds' };

interface Result {
  readonly isError?: boolean;
  readonly content: readonly { readonly text: string }[];
  readonly structuredContent?: unknown;
}

let folder: string;
let file: string;
let client: Client;

const program = () => ({ command: process.execPath, args: [MAIN], env: { MEMORY_FILE_PATH: file } });

async function connect(): Promise<Client> {
  const made = new Client(INFO);
  await made.connect(new StdioClientTransport(program()) as Parameters<Client['connect']>[0]);
  return made;
}

async function call(name: string, args: Record<string, unknown> = {}): Promise<Result> {
  return (await client.callTool({ name, arguments: args })) as unknown as Result;
}

const graph = async () => (await call('read_graph')).structuredContent;

const stored = async () =>
  (await readFile(file, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'decorum-memory-'));
  file = join(folder, 'memory.jsonl');
  client = await connect();
});

afterEach(async () => {
  await rm(file, { force: true });
});

afterAll(async () => {
  await client.close();
  await rm(folder, { recursive: true });
});

const remember = async () => {
  await call('create_entities', { entities: [ADA, BABBAGE, ENGINE] });
  await call('create_relations', { relations: [KNOWS, BUILDS] });
};

describe('the tools of the memory server', () => {
  it('are listed with titles, hints and output schemas', async () => {
    const { tools } = await client.listTools();
    const reads = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
    const adds = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false };
    const deletes = { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false };
    const listed = tools.map(({ name, title, annotations, outputSchema }) => {
      return [name, title, annotations, Object.keys(outputSchema?.properties ?? {})];
    });
    expect(listed).toEqual([
      ['create_entities', 'Create Entities', adds, ['entities']],
      ['create_relations', 'Create Relations', adds, ['relations']],
      ['add_observations', 'Add Observations', adds, ['results']],
      ['delete_entities', 'Delete Entities', deletes, ['success', 'message']],
      ['delete_observations', 'Delete Observations', deletes, ['success', 'message']],
      ['delete_relations', 'Delete Relations', deletes, ['success', 'message']],
      ['read_graph', 'Read Graph', reads, ['entities', 'relations']],
      ['search_nodes', 'Search Nodes', reads, ['entities', 'relations']],
      ['open_nodes', 'Open Nodes', reads, ['entities', 'relations']],
    ]);
    for (const { description } of tools) expect(description).toEqual(expect.any(String));
  });

  it('begin with an empty graph', async () => {
    expect(await graph()).toEqual({ entities: [], relations: [] });
  });

  it('create entities once for each name, and return the new ones', async () => {
    const first = await call('create_entities', { entities: [ADA, { ...ADA, entityType: 'ship' }] });
    expect(first.structuredContent).toEqual({ entities: [ADA] });
    expect(JSON.parse(first.content[0]?.text ?? '')).toEqual([ADA]);
    const second = await call('create_entities', { entities: [{ ...ADA, observations: [] }, BABBAGE] });
    expect(second.structuredContent).toEqual({ entities: [BABBAGE] });
    expect(await graph()).toEqual({ entities: [ADA, BABBAGE], relations: [] });
  });

  it('create relations once, and return the new ones', async () => {
    await call('create_relations', { relations: [KNOWS] });
    const { structuredContent, content } = await call('create_relations', { relations: [KNOWS, BUILDS, BUILDS] });
    expect(structuredContent).toEqual({ relations: [BUILDS] });
    expect(JSON.parse(content[0]?.text ?? '')).toEqual([BUILDS]);
  });

  it('add observations that are new, and return them', async () => {
    await remember();
    const observations = [{ entityName: 'Ada', contents: ['Writes programs', 'Likes maths', 'Likes maths'] }];
    const { structuredContent, content } = await call('add_observations', { observations });
    const results = [{ entityName: 'Ada', addedObservations: ['Likes maths'] }];
    expect(structuredContent).toEqual({ results });
    expect(JSON.parse(content[0]?.text ?? '')).toEqual(results);
    expect(await graph()).toMatchObject({ entities: [{ observations: ['Writes programs', 'Likes maths'] }, {}, {}] });
  });

  it('add nothing at all if one of the entities is unknown, and say which', async () => {
    await remember();
    const observations = ['Ada', 'Nobody'].map((entityName) => ({ entityName, contents: ['New'] }));
    expect(await call('add_observations', { observations })).toMatchObject({
      isError: true,
      content: [{ text: 'There is no entity "Nobody".' }],
    });
    expect(await graph()).toMatchObject({ entities: [ADA, BABBAGE, ENGINE] });
  });

  it('delete entities with their relations', async () => {
    await remember();
    const { structuredContent, content } = await call('delete_entities', { entityNames: ['Ada', 'Nobody'] });
    expect(structuredContent).toEqual({ success: true, message: 'Entities deleted successfully' });
    expect(content).toEqual([{ type: 'text', text: 'Entities deleted successfully' }]);
    expect(await graph()).toEqual({ entities: [BABBAGE, ENGINE], relations: [BUILDS] });
  });

  it('delete observations, and skip unknown ones', async () => {
    await remember();
    const deletions = ['Ada', 'Nobody'].map((entityName) => ({ entityName, observations: ['Writes programs', 'No'] }));
    const { structuredContent } = await call('delete_observations', { deletions });
    expect(structuredContent).toEqual({ success: true, message: 'Observations deleted successfully' });
    expect(await graph()).toMatchObject({ entities: [{ ...ADA, observations: [] }, BABBAGE, ENGINE] });
  });

  it('delete relations', async () => {
    await remember();
    const { structuredContent } = await call('delete_relations', { relations: [KNOWS, { ...KNOWS, to: 'Nobody' }] });
    expect(structuredContent).toEqual({ success: true, message: 'Relations deleted successfully' });
    expect(await graph()).toMatchObject({ relations: [BUILDS] });
  });

  it.each([
    ['a name', 'ADA', [ADA], [KNOWS]],
    ['a type', 'machine', [ENGINE], [BUILDS]],
    ['an observation', 'builds', [BABBAGE], [KNOWS, BUILDS]],
    ['nothing', 'zeppelin', [], []],
  ])('find nodes by %s', async (_what, query, entities, relations) => {
    await remember();
    const { structuredContent, content } = await call('search_nodes', { query });
    expect(structuredContent).toEqual({ entities, relations });
    expect(JSON.parse(content[0]?.text ?? '')).toEqual({ entities, relations });
  });

  it('open nodes by name, with all relations that touch them', async () => {
    await remember();
    const { structuredContent } = await call('open_nodes', { names: ['Ada', 'Nobody'] });
    expect(structuredContent).toEqual({ entities: [ADA], relations: [KNOWS] });
  });

  it('say which arguments are wrong', async () => {
    const { isError, content } = await call('create_entities', { entities: [{ name: 'Ada', observations: 'none' }] });
    expect(isError).toBe(true);
    expect(content[0]?.text).toMatch(/entities\[0\]\.entityType.*entities\[0\]\.observations/s);
  });
});

describe('the graph resource', () => {
  it('is listed, and is the graph as JSON', async () => {
    await remember();
    const uri = 'memory://knowledge-graph';
    const { resources } = await client.listResources();
    expect(resources).toMatchObject([
      { uri, name: 'knowledge-graph', title: 'Knowledge Graph', mimeType: 'application/json' },
    ]);
    const { contents } = await client.readResource({ uri });
    expect(JSON.parse((contents[0] as { text: string }).text)).toEqual(await graph());
  });

  it('tells subscribers of each change', async () => {
    const updated: string[] = [];
    let heard = () => {};
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
      updated.push(params.uri);
      heard();
    });
    await client.subscribeResource({ uri: 'memory://knowledge-graph' });
    for (const [name, args] of [
      ['create_entities', { entities: [ADA] }],
      ['create_relations', { relations: [KNOWS] }],
      ['add_observations', { observations: [{ entityName: 'Ada', contents: ['New'] }] }],
      ['delete_observations', { deletions: [{ entityName: 'Ada', observations: ['New'] }] }],
      ['delete_relations', { relations: [KNOWS] }],
      ['delete_entities', { entityNames: ['Ada'] }],
    ] as const) {
      const told = new Promise<void>((resolve) => (heard = resolve));
      await call(name, args);
      await told;
    }
    expect(updated).toEqual(Array.from({ length: 6 }, () => 'memory://knowledge-graph'));
  });
});

describe('the file of the graph', () => {
  it('has one entity or relation on each line, and nothing is left beside it', async () => {
    await remember();
    expect(await stored()).toEqual([
      { type: 'entity', ...ADA },
      { type: 'entity', ...BABBAGE },
      { type: 'entity', ...ENGINE },
      { type: 'relation', ...KNOWS },
      { type: 'relation', ...BUILDS },
    ]);
    expect(await readdir(folder)).toEqual(['memory.jsonl']);
  });

  it('may be a link, and is for its owner only', async () => {
    const target = join(folder, 'target.jsonl');
    await symlink(target, file);
    await writeFile(target, '');
    await remember();
    expect((await lstat(file)).isSymbolicLink()).toBe(true);
    expect((await stat(target)).mode & 0o777).toBe(0o600);
    expect(await stored()).toHaveLength(5);
  });

  it('is read again by the next process', async () => {
    await remember();
    const before = await graph();
    await client.close();
    client = await connect();
    expect(await graph()).toEqual(before);
  });

  it('may have blank lines, members of other programs, and no line end', async () => {
    await writeFile(
      file,
      `${JSON.stringify({ type: 'entity', ...ADA, id: 7 })}\n\n${JSON.stringify({ type: 'note' })}`,
    );
    expect(await graph()).toEqual({ entities: [ADA], relations: [] });
  });

  it('loses nothing when many calls write at once', async () => {
    const names = Array.from({ length: 40 }, (_, index) => `node ${index}`);
    await Promise.all(
      names.flatMap((name) => [
        call('create_entities', { entities: [{ name, entityType: 'node', observations: [] }] }),
        call('create_relations', { relations: [{ from: name, to: 'node 0', relationType: 'follows' }] }),
      ]),
    );
    const { entities, relations } = (await graph()) as { entities: unknown[]; relations: unknown[] };
    expect([entities.length, relations.length]).toEqual([40, 40]);
  });

  it('can still be written after a call that failed', async () => {
    const [failed] = await Promise.all([
      call('add_observations', { observations: [{ entityName: 'Nobody', contents: ['New'] }] }),
      call('create_entities', { entities: [ADA] }),
    ]);
    expect(failed.isError).toBe(true);
    expect(await graph()).toMatchObject({ entities: [ADA] });
  });
});

it('serves a client without a session', async () => {
  const modern = new ClientV2(INFO, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  await modern.connect(new StdioV2(program()));
  try {
    await modern.callTool({ name: 'create_entities', arguments: { entities: [ADA] } });
    expect(await modern.callTool({ name: 'read_graph', arguments: {} })).toMatchObject({
      structuredContent: { entities: [ADA], relations: [] },
    });
  } finally {
    await modern.close();
  }
});
