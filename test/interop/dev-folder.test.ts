// Programs that need what only one process can have: the folder of `fileStore`.
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { hashPassword } from '@decorum/auth-server';
import { describe, expect, it } from '@jest/globals';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

import { Project } from '../support/dev-project.js';

const ENTRY = `
import { setTimeout as wait } from 'node:timers/promises';
import { fileStore } from '@decorum/auth-server';
import { McpServer } from '@decorum/core';

await fileStore('data').open();
// FAIL
export const server = new McpServer({ name: 'weather', version: '1.0.0' });
server.addTool({ name: 'version', description: 'Version 1' }, () => 'version 1');
server.addTool({ name: 'slow', description: 'Takes time' }, async () => (await wait(1500), 'done'));
`;

describe('decorum dev with a program that locks a folder', () => {
  it('ends the program before the edited one gets the folder, and lets calls finish', async () => {
    const project = new Project({ 'src/main.ts': ENTRY });
    const { url, run } = await project.serve();
    const client = new Client({ name: 'test', version: '1.0.0' });
    const transport = new StreamableHTTPClientTransport(new URL(url));
    await client.connect(transport);
    const session = transport.sessionId;
    const slow = client.callTool({ name: 'slow' });
    project.edit('src/main.ts', "'version 1'", "'version 2'");
    expect(await slow).toMatchObject({ content: [{ text: 'done' }] });
    await run.says(/src\/main\.ts {2}\d+ ms/);
    expect(await client.callTool({ name: 'version' })).toMatchObject({ content: [{ text: 'version 2' }] });
    expect(transport.sessionId).toBe(session);
    await client.close();
  });

  it('says why nothing serves if the edited program then fails, and serves after the next edit', async () => {
    const project = new Project({ 'src/main.ts': ENTRY });
    const { url, run } = await project.serve();
    project.edit('src/main.ts', '// FAIL', "throw new Error('No forecast');");
    await run.says(/No forecast[^]*waiting for an edit/);
    project.edit('src/main.ts', "throw new Error('No forecast');", '');
    await run.says(/src\/main\.ts {2}\d+ ms/);
    const client = new Client({ name: 'test', version: '1.0.0' });
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    expect(await client.callTool({ name: 'version' })).toMatchObject({ content: [{ text: 'version 1' }] });
    await client.close();
  });
});

describe('an authorization server with a fileStore, but without DECORUM_SECRET,', () => {
  it('is told so by decorum dev, and keeps nothing sealed with the random secret of one run', async () => {
    const project = new Project({
      'users.json': JSON.stringify({ alice: { password: await hashPassword('a long password') } }),
      'src/main.ts': `
import { authorizationServer, fileStore, usersFile } from '@decorum/auth-server';
import { McpServer } from '@decorum/core';
import { listen } from '@decorum/http';

const auth = authorizationServer({
  resource: 'http://127.0.0.1:3000/mcp',
  allowLoopbackHttp: true,
  consent: { mcp: 'Use this server' },
  users: usersFile('users.json'),
  store: fileStore('data'),
});
await listen(new McpServer({ name: 'notes', version: '1.0.0', providers: [] }), { auth, port: 0 });
`,
    });
    const run = project.dev(['--port', '0'], { DECORUM_SECRET: undefined });
    await run.says(/`DECORUM_SECRET` is missing in the environment/);
    expect(existsSync(join(project.folder, 'data'))).toBe(false);
  });
});
