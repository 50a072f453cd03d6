// docs/start/why.md: the four servers answer the same, and differ as the table says.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { alike, type Look, Sides } from './before-and-after.js';
import { textOf } from './blocks.js';
import { PagePrograms } from './running.js';

const PAGE = 'docs/start/why.md';
const FILES = ['sdk.ts', 'fastmcp.ts', 'mcp-nest.ts', 'decorum.ts'];

const programs = new PagePrograms(PAGE);
let sides: Sides;

beforeAll(async () => {
  sides = await Sides.start(programs, FILES);
});
afterAll(async () => {
  await sides.stop();
  programs.remove();
});

const forecast =
  (args: Readonly<Record<string, unknown>>): Look =>
  (client) =>
    client.callTool({ name: 'forecast', arguments: args });

describe('the four servers of the page about reasons', () => {
  it.each<[string, Look, object]>([
    [
      'the structured result',
      forecast({ city: 'Oslo', days: 2 }),
      {
        content: [{ type: 'text', text: '{"city":"Oslo","degrees":[4,5]}' }],
        structuredContent: { city: 'Oslo', degrees: [4, 5] },
      },
    ],
    [
      'a default',
      forecast({ city: 'Oslo' }),
      expect.objectContaining({ structuredContent: { city: 'Oslo', degrees: [4, 5, 6] } }),
    ],
    [
      'the resources',
      (client) => client.listResources(),
      { resources: [{ uri: 'weather://stations', name: 'list', mimeType: 'application/json' }] },
    ],
    [
      'the resource',
      (client) => client.readResource({ uri: 'weather://stations' }),
      { contents: [{ uri: 'weather://stations', mimeType: 'application/json', text: '["Oslo","Bergen"]' }] },
    ],
  ])('agree about %s', async (_what, look, expected) => {
    expect(await sides.ask(look)).toEqual(FILES.map(() => expected));
  });

  it('describe the tool in the same way', async () => {
    const [first, ...others] = await sides.ask(async (client) => {
      return alike((await client.listTools()).tools.map(({ _meta, ...tool }) => tool));
    });
    expect(first).toMatchObject([{ name: 'forecast', inputSchema: { required: ['city'] } }]);
    for (const other of others) expect(other).toEqual(first);
  });
});

/** What an answer is, in the words of the page. */
async function told(answer: Promise<unknown>): Promise<string> {
  const result = (await answer.catch(() => undefined)) as { isError?: boolean; content?: unknown } | undefined;
  if (result === undefined) return 'an error for the client';
  if (result.isError !== true) return 'a forecast';
  return JSON.stringify(result.content).includes('day:') ? 'a result that names `day`' : 'a result for the model';
}

/** What the server says to a message. */
async function posted(origin: string, headers: Record<string, string>, message: object): Promise<number> {
  const response = await fetch(`${origin}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
  });
  await response.body?.cancel();
  return response.status;
}

describe('the table about the four servers', () => {
  /** The rows of the table, without their first cells. */
  const [, , ...rows] = textOf(PAGE)
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) =>
      line
        .split('|')
        .slice(2, -1)
        .map((cell) => cell.trim()),
    );

  it('is right about a misspelled argument', async () => {
    expect(await sides.ask((client) => told(forecast({ city: 'Oslo', day: 1 })(client)))).toEqual(rows[0]);
  });

  it('is right about a wrong argument', async () => {
    expect(await sides.ask((client) => told(forecast({ city: '' })(client)))).toEqual(rows[1]);
  });

  it('is right about web pages of other sites', async () => {
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'page', version: '1.0.0' } };
    const statuses = sides.all.map(({ server }) =>
      posted(server.origin, { origin: 'https://evil.example' }, { method: 'initialize', params }),
    );
    const words = (await Promise.all(statuses)).map((status) => (status === 200 ? 'is answered' : `gets ${status}`));
    expect(words).toEqual(rows[2]);
  });

  it('is right about the newest clients', async () => {
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' };
    const envelope = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const statuses = sides.all.map(({ server }) =>
      posted(server.origin, headers, { method: 'tools/list', params: { _meta: envelope } }),
    );
    const words = (await Promise.all(statuses)).map((status) => (status === 200 ? 'are served' : `get ${status}`));
    expect(words).toEqual(rows[3]);
  });
});
