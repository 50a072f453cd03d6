// Programs that trust an issuer, in processes of their own, as in production.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

import { freePort } from '../support/dev-project.js';
import { createKey, HostileIssuer } from './hostile-issuer.js';
import { Program } from './processes.js';
import { User } from './user.js';

const AUDIENCE = 'https://mcp.example.com/mcp';

let issuer: HostileIssuer;
let program: Program;

beforeAll(async () => {
  issuer = await HostileIssuer.open([createKey('ES256', 'one'), createKey('RS256', 'two')]);
  // it starts without its issuer
  await issuer.stop();
  const env = { PORT: '0', ISSUER: issuer.url, AUDIENCE };
  program = await Program.start('../../examples/secured/dist/external.js', [], env);
  await issuer.start();
});

afterAll(async () => {
  await Promise.all([program.stop(), issuer.stop()]);
});

describe('the server of `npm run -s secured:external`', () => {
  it.each([0, 1])('tells callers who they are, and keeps what is for admins: key %i', async (index) => {
    const key = issuer.keys[index]!;
    for (const [scope, isAdmin] of [
      ['mcp', false],
      ['mcp admin', true],
    ] as const) {
      const token = issuer.sign({ aud: AUDIENCE, scope }, { key });
      const requestInit = { headers: { authorization: `Bearer ${token}` } };
      const client = new Client({ name: 'test', version: '1.0.0' });
      await client.connect(new StreamableHTTPClientTransport(new URL(program.url), { requestInit }));
      const { content } = await client.callTool({ name: 'whoami' });
      const [{ text }] = content as unknown as [{ text: string }];
      expect(JSON.parse(text)).toMatchObject({ subject: 'ada', issuer: issuer.url, scopes: scope.split(' ') });
      const admin = client.callTool({ name: 'admin_only' });
      if (isAdmin) expect(await admin).toMatchObject({ content: [{ text: 'ada may.' }] });
      else await expect(admin).rejects.toThrow(/403|scope/i);
      await client.close();
    }
  });

  it('accepts access tokens of RFC 9068 only', async () => {
    const token = issuer.sign({ aud: AUDIENCE, scope: 'mcp' }, { header: { typ: 'JWT' } });
    const { status } = await fetch(program.url, { method: 'POST', headers: { authorization: `Bearer ${token}` } });
    expect(status).toBe(401);
  });
});

describe('the server of `npm run -s secured`', () => {
  let secured: Program;
  beforeAll(async () => {
    secured = await Program.start('../../examples/secured/dist/embedded.js', [], {
      PORT: String(await freePort()),
      SECURED_PASSWORD: 'open sesame',
    });
  });
  afterAll(() => secured.stop());

  /** Connects as a user who signs in whenever the client asks for it. */
  async function connect(name: string) {
    const user = new User(undefined, undefined, { name, password: 'open sesame' });
    const client = new Client({ name: 'test', version: '1.0.0' });
    const transport = new StreamableHTTPClientTransport(new URL(secured.url), { authProvider: user });
    await client.connect(transport);
    const call = async (tool: string): Promise<string> => {
      const { content } = await client.callTool({ name: tool });
      return (content as unknown as [{ text: string }])[0].text;
    };
    /** Calls a tool whose scopes the user has to grant first. */
    const signInFor = async (tool: string): Promise<string> => {
      await expect(call(tool)).rejects.toThrow(/unauthorized|scope/i);
      await transport.finishAuth(user.callback);
      return await call(tool);
    };
    return { user, client, call, signInFor };
  }

  it('tells anybody what it is for, and asks users to sign in for more, and again for more scopes', async () => {
    const { client, call, signInFor, user } = await connect('alice');
    expect(await call('about')).toContain('sign in');
    expect(JSON.parse(await signInFor('whoami'))).toMatchObject({
      subject: 'alice',
      issuer: new URL(secured.url).origin,
      scopes: ['mcp'],
    });
    expect(await signInFor('notes_write')).toBe('alice may write notes.');
    expect(await signInFor('admin_only')).toBe('alice may.');
    expect(user.asked).toHaveLength(3);
    await client.close();
  });

  it('never lets bob grant what is for admins', async () => {
    const { client, call, signInFor, user } = await connect('bob');
    await signInFor('notes_write');
    await expect(call('admin_only')).rejects.toThrow(/unauthorized/i);
    expect(user.asked.at(-1)).toContain('admin');
    expect(JSON.parse(await call('whoami'))).toMatchObject({ subject: 'bob', scopes: ['mcp', 'notes:write'] });
    await client.close();
  });
});

describe('a program with a slash too many in its issuer', () => {
  const WRONG = `
  import { oauth } from '@decorum/auth';
  import { McpServer } from '@decorum/core';
  import { listen } from '@decorum/http';
  const server = new McpServer({ name: 'files', version: '1.0.0' });
  server.addTool({ name: 'list' }, () => 'notes.txt');
  const auth = oauth({ issuer: process.argv[1], audience: 'http://127.0.0.1:1/mcp', allowLoopbackHttp: true });
  const { url } = await listen(server, { auth, port: 0 });
  console.error(url);
  `;

  it('listens at once, and then says what to write (#23)', async () => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', WRONG, `${issuer.url}/`], {
      cwd: new URL('.', import.meta.url),
      env: { ...process.env, NODE_ENV: 'production' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const lines: string[] = [];
    for await (const line of createInterface({ input: child.stderr })) {
      lines.push(line);
      if (line.includes('Only the slash')) break;
    }
    child.kill('SIGKILL');
    expect(lines.at(-1)?.replaceAll('\\', '')).toContain(`write \`issuer: "${issuer.url}"\``);
    expect(lines.join('\n')).toMatch(/http:\/\/127\.0\.0\.1:\d+\/mcp/);
  });
});
