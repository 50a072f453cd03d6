import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

import { createKey, HostileIssuer } from './hostile-issuer.js';
import { Program } from './processes.js';

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
