// docs/production.md: its server masks, logs and closes as the page says.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { blocksOf } from './blocks.js';
import { PagePrograms, PageProcess } from './running.js';

const PAGE = 'docs/production.md';
const programs = new PagePrograms(PAGE);
const REFERENCE = /[0-9a-f]{8}/;

/** The JSON blocks of the page, in order. */
const [masked, logged, expected] = blocksOf(PAGE)
  .filter(({ language }) => language === 'json')
  .map(({ text }) => JSON.parse(text) as Record<string, unknown>);

let server: PageProcess;
let client: Client;
beforeAll(async () => {
  server = await PageProcess.start(programs.programOf('main.ts'));
  client = new Client({ name: 'reader', version: '1.0.0' });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${server.origin}/mcp`)));
});
afterAll(() => programs.remove());

/** The lines of JSON that the server has written. */
const lines = (): Record<string, unknown>[] =>
  server.output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe('the server of docs/production.md', () => {
  it('masks an error, and logs it under the reference that the client sees', async () => {
    const result = JSON.stringify(await client.callTool({ name: 'list', arguments: { page: 1 } }));
    const [reference = ''] = REFERENCE.exec(result) ?? [];
    const shown = JSON.stringify(masked).replace(REFERENCE, reference);
    expect(JSON.parse(result)).toEqual(JSON.parse(shown));

    await server.wrote(/^\{.*"level":50.*\n/m);
    await server.wrote(/^\{"captured".*\n/m);
    const line = lines().find((each) => each['reference'] === reference && 'level' in each);
    expect(Object.keys(line ?? {}).sort()).toEqual(Object.keys(logged ?? {}).sort());
    expect(line).toMatchObject({ level: 50, method: 'tools/call', msg: logged?.['msg'] });
    expect(line?.['err']).toMatchObject({ type: 'Error', message: 'connect ECONNREFUSED 10.0.0.7:5432' });
    expect(lines()).toContainEqual({
      captured: 'Error: connect ECONNREFUSED 10.0.0.7:5432',
      reference,
      method: 'tools/call',
    });
  });

  it('shows an expected error as it is', async () => {
    expect(await client.callTool({ name: 'read', arguments: { id: '42' } })).toEqual(expected);
    expect(await client.callTool({ name: 'list', arguments: { page: 0 } })).toMatchObject({
      isError: true,
      content: [{ text: 'Pages are counted from 1.' }],
    });
    expect(server.output).not.toMatch(/There is no note|counted from 1/);
  });

  it('is healthy until it closes, and then ends by itself', async () => {
    const health = await fetch(`${server.origin}/health`);
    expect([health.status, await health.json()]).toEqual([200, { isClosing: false }]);
    await client.close();
    expect(await server.stop()).toBe(0);
  });
});
