// docs/guides/from-the-sdk.md: the official client sees the same from both servers, but for what the page says.
import { McpServer, NoInput, Tool } from '@decorum/core';
import { connect } from '@decorum/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer as SdkServer } from '@modelcontextprotocol/sdk/server/mcp.js';

import { progressOf } from '../interop/overhear.js';
import { alike, codeOf, type Look, Sides } from './before-and-after.js';
import { PagePrograms } from './running.js';

const DUNE = { isbn: '9780441172719' };

const programs = new PagePrograms('docs/guides/from-the-sdk.md');
let sides: Sides;

beforeAll(async () => {
  sides = await Sides.start(programs);
});
afterAll(async () => {
  await sides.stop();
  programs.remove();
});

describe('the official client sees from both servers', () => {
  it.each<[string, Look]>([
    ['the same tools', async (client) => alike(await client.listTools())],
    ['the same resources', (client) => client.listResources()],
    ['the same templates', (client) => client.listResourceTemplates()],
    ['the same prompts', (client) => client.listPrompts()],
    ['the same structured result', (client) => client.callTool({ name: 'search', arguments: { text: 'du' } })],
    ['the same result after a question', (client) => client.callTool({ name: 'lend', arguments: DUNE })],
    ['the same expected error', (client) => client.callTool({ name: 'lend', arguments: { isbn: 'none' } })],
    ['the same resource', (client) => client.readResource({ uri: `books://${DUNE.isbn}` })],
    [
      'the same messages of a prompt',
      async (client) => (await client.getPrompt({ name: 'review', arguments: DUNE })).messages,
    ],
    [
      'the same completions',
      async (client) => {
        const argument = { name: 'isbn', value: '97804' };
        const ofPrompt = await client.complete({ ref: { type: 'ref/prompt', name: 'review' }, argument });
        const ofBook = await client.complete({ ref: { type: 'ref/resource', uri: 'books://{isbn}' }, argument });
        return [ofPrompt.completion.values, ofBook.completion.values];
      },
    ],
  ])('%s', async (_what, look) => {
    const [before, after] = await sides.ask(look);
    expect(JSON.stringify(before)).toMatch(/Dune|978|isbn|7 days|no book/);
    expect(after).toEqual(before);
  });

  it('the same progress', async () => {
    await sides.ask((client) => client.callTool({ name: 'check_shelf' }, undefined, { onprogress: () => {} }));
    for (const { heard } of sides.all) expect(progressOf(heard)).toEqual([[1, 2]]);
  });
});

describe('the servers differ as the page says', () => {
  const refusal: Look = (client) =>
    client.callTool({ name: 'search', arguments: { text: 'Dune', author: 'Frank Herbert' } });

  it('in arguments that no schema names', async () => {
    const [before, after] = await sides.ask(refusal);
    expect(before).not.toHaveProperty('isError');
    expect(after).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('author') }] });
  });

  it('in the wording of wrong arguments', async () => {
    const [before, after] = await sides.ask((client) => client.callTool({ name: 'search', arguments: { text: '' } }));
    expect(before).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('>=1 characters') }] });
    expect(after).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('\n- text: must') }] });
  });

  it('in an unknown tool', async () => {
    const [before, after] = await sides.ask((client) => codeOf(client.callTool({ name: 'burn' })));
    expect([before, after]).toEqual([0, -32602]);
  });

  it('in unknown resources', async () => {
    for (const uri of ['films://1', 'books://none']) {
      expect(await sides.ask((client) => codeOf(client.readResource({ uri })))).toEqual([-32602, -32002]);
    }
  });

  it('in an error of a prompt that has a status', async () => {
    const look: Look = (client) => codeOf(client.getPrompt({ name: 'review', arguments: { isbn: 'none' } }));
    expect(await sides.ask(look)).toEqual([-32603, -32602]);
  });

  it('in the capabilities they declare', async () => {
    const [before, after] = sides.all.map(({ client }) => client.getServerCapabilities());
    expect(after).toEqual({ ...before, logging: {}, resources: { ...before?.resources, subscribe: true } });
  });

  it('in what they add to lists and results', async () => {
    const [before, after] = await sides.ask(async (client) => {
      const argument = { name: 'isbn', value: '9' };
      const { completion } = await client.complete({ ref: { type: 'ref/prompt', name: 'review' }, argument });
      const { description } = await client.getPrompt({ name: 'review', arguments: DUNE });
      const { tools } = await client.listTools();
      const { execution, inputSchema, outputSchema } = tools[0] ?? {};
      const additionalProperties = inputSchema?.['additionalProperties'];
      return { completion, description, execution, additionalProperties, dialect: outputSchema?.['$schema'] };
    });
    const values = [DUNE.isbn, '9780553293357'];
    expect(before).toEqual({
      completion: { values, total: 2, hasMore: false },
      execution: { taskSupport: 'forbidden' },
      dialect: 'http://json-schema.org/draft-07/schema#',
    });
    expect(after).toEqual({
      completion: { values },
      description: 'Asks for a review',
      additionalProperties: false,
      dialect: 'https://json-schema.org/draft/2020-12/schema',
    });
  });

  it('in errors that nobody expects', async () => {
    class Broken {
      @Tool() read(_input: NoInput) {
        throw new Error('connect ECONNREFUSED 10.0.0.7:5432');
      }
    }
    const sdk = new SdkServer({ name: 'broken', version: '1.0.0' });
    sdk.registerTool('read', {}, new Broken().read as never);
    const [near, far] = InMemoryTransport.createLinkedPair();
    const sdkClient = new Client({ name: 'reader', version: '1.0.0' });
    await Promise.all([sdk.connect(far), sdkClient.connect(near)]);
    const logger = { warn: () => {}, error: () => {} };
    const client = await connect(new McpServer({ name: 'broken', version: '1.0.0', providers: [Broken], logger }));

    expect(JSON.stringify(await sdkClient.callTool({ name: 'read' }))).toContain('10.0.0.7');
    expect(JSON.stringify(await client.callTool('read'))).toMatch(/Internal error \(reference [0-9a-f]{8}\)/);
    await Promise.all([client.close(), sdkClient.close()]);
  });
});

it('a member that keeps its zod schema and its result object works', async () => {
  const { server } = (await import(programs.programOf('const Query ='))) as { server: McpServer };
  const client = await connect(server);
  const { content } = await client.callTool('search', { text: 'dune' });
  expect(content).toEqual([{ type: 'text', text: JSON.stringify([{ ...DUNE, title: 'Dune' }]) }]);
  await client.close();
});
