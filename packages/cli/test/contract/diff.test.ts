import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

import { McpServer } from '@decorum/core';
import { listen } from '@decorum/http';
import { search } from '@decorum/search';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';

import { createProject, type Project } from '../project.js';

const program = (input: object, more = '') => `
import { McpServer, Resource, Tool } from '@decorum/core';

class Billing {
  @Tool({ description: 'Pays an invoice', input: ${JSON.stringify(input)} })
  pay() {}
  ${more}
}

export const server = new McpServer({ name: 'billing', version: '1.0.0', providers: [Billing] });
`;

const STRING = { type: 'string' };
const BEFORE = { type: 'object', properties: { id: STRING } };
const AFTER = { type: 'object', properties: { id: STRING, currency: STRING }, required: ['currency'] };
const BREAKING = 'breaking  pay: argument "currency" is now required\n';

const FILES = { 'package.json': { type: 'module' }, 'src/main.ts': program(BEFORE) };

let locked: string;
beforeAll(async () => {
  const first = createProject(FILES);
  await first.decorum(['lock']);
  locked = readFileSync(join(first.folder, 'decorum.lock.json'), 'utf8');
  first.remove();
});

let project: Project;
const closing: (() => unknown)[] = [];
beforeEach(() => {
  project = createProject({ ...FILES, 'decorum.lock.json': locked });
});
afterEach(async () => {
  project.remove();
  for (const close of closing.splice(0)) await close();
});

/** The URL of a web server, which is closed after the test. */
async function listening(listener: RequestListener): Promise<string> {
  const web = createServer(listener);
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
  closing.push(() => new Promise((resolve) => web.close(resolve)));
  return `http://127.0.0.1:${(web.address() as AddressInfo).port}/mcp`;
}

/** A server that speaks only session revisions, and not the first of them. */
const oldServer =
  ({ tools }: { tools: unknown }): RequestListener =>
  async (request, response) => {
    const { id, method, params } = JSON.parse(await text(request).then((body) => body || '{}')) as Message;
    if (id === undefined) return void response.writeHead(method === undefined ? 405 : 202).end();
    const serverInfo = { name: 'billing', version: '1.0.0' };
    const refused = { code: -32602, message: 'Unsupported protocol version' };
    const { protocolVersion } = params ?? {};
    const introduction = { protocolVersion, capabilities: { tools: {} }, serverInfo };
    const answers: Record<string, object> = {
      initialize: protocolVersion === '2024-11-05' ? { error: refused } : { result: introduction },
      'tools/list': { result: { tools } },
    };
    const answer = answers[method ?? ''] ?? { error: { code: -32601, message: 'Method not found' } };
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
  };

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly protocolVersion?: string };
}

const diff = (...args: string[]) => project.decorum(['diff', ...args]);

describe('decorum diff', () => {
  it('prints nothing and exits with 0 if nothing has changed', async () => {
    expect(await diff()).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it('prints what breaks clients, and exits with 1', async () => {
    project.write({ 'src/main.ts': program(AFTER) });
    expect(await diff()).toEqual({ code: 1, stdout: BREAKING, stderr: '' });
  });

  it('exits with 0 if there is only more than before', async () => {
    project.write({ 'src/main.ts': program({ ...AFTER, required: [] }) });
    expect(await diff()).toEqual({ code: 0, stdout: 'widening  pay: argument "currency" is new\n', stderr: '' });
  });

  it('prints JSON', async () => {
    project.write({ 'src/main.ts': program(AFTER) });
    const { code, stdout } = await diff('--json');
    expect({ code, found: JSON.parse(stdout) as unknown }).toEqual({
      code: 1,
      found: [
        { class: 'breaking', member: 'pay', path: 'arguments.currency', why: 'argument "currency" is now required' },
      ],
    });
  });

  it('reads a lock file that Windows has touched', async () => {
    const lock = readFileSync(join(project.folder, 'decorum.lock.json'), 'utf8');
    project.write({ 'windows.json': `\uFEFF${lock.replaceAll('\n', '\r\n')}` });
    expect(await diff('--against', 'windows.json')).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it.each(['ftp://example.com/mcp', 'localhost:3000/mcp', '127.0.0.1:3000'])(
    'exits with 2 for the server %s, because it is not a URL of HTTP',
    async (target) => {
      expect(await diff('--against', target)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('Servers begin with http://'),
      });
    },
  );

  it('exits with 2 if the lock file is passed as the program', async () => {
    expect(await diff('decorum.lock.json')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('pass `--against decorum.lock.json`'),
    });
  });

  it('compares with another lock file', async () => {
    project.write({ 'src/main.ts': program(AFTER) });
    await project.decorum(['lock', '--out', 'next.json']);
    expect(await diff('--against', 'next.json')).toMatchObject({ code: 0, stdout: '' });
  });

  it('exits with 3 without a lock file that it can read, and says what to do', async () => {
    const lock = (content: string) => writeFileSync(join(project.folder, 'wrong.json'), content);
    expect(await diff('--against', 'none.json')).toMatchObject({
      code: 3,
      stderr: 'There is no none.json. Write it with `decorum lock`, and commit it.\n',
    });
    const wrong: (readonly [content: string, problem: string])[] = [
      ['{"lockVersion": 1,', "wrong.json can't be read:"],
      ['[]', 'wrong.json is not a lock file.'],
      ['{"lockVersion": 2}', 'wrong.json was written by a newer version of `decorum`. Update `@decorum/cli`.'],
      ['{"lockVersion":1,"server":{"name":"a"}}', 'is not a valid lock file: `revisions` is not an object.'],
      ['{"lockVersion":1,"server":{"name":"a"},"revisions":{"a":{"tools":"b"}}}', '`tools` of a is neither a list'],
      [
        '{"lockVersion":1,"server":{"name":"a"},"revisions":{"a":{"tools":[{"name":"x","as":"a"}]}}}',
        '`tools` of a is neither',
      ],
    ];
    for (const [content, problem] of wrong) {
      lock(content);
      expect(await diff('--against', 'wrong.json')).toMatchObject({
        code: 3,
        stdout: '',
        stderr: expect.stringContaining(problem),
      });
    }
  });

  it('exits with 2 for a wrong entry, and with 1 for a program that fails', async () => {
    expect(await diff('src/none.ts')).toMatchObject({ code: 2, stderr: expect.stringContaining('There is no file') });
    project.write({ 'src/main.ts': program({ type: 'string' }) });
    expect(await diff()).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('Billing.pay') });
  });
});

describe('decorum diff --against a running server', () => {
  it('compares with what the server lists in each revision', async () => {
    const server = new McpServer({ name: 'billing', version: '1.0.0' });
    server.addTool({ name: 'pay', description: 'Pays an invoice', input: BEFORE }, () => 'paid');
    const { url } = await listen(server, { port: 0 });
    closing.push(() => server.close());
    expect(await diff('--against', url)).toEqual({ code: 0, stdout: '', stderr: '' });
    project.write({ 'src/main.ts': program(AFTER) });
    expect(await diff('--against', url)).toEqual({ code: 1, stdout: BREAKING, stderr: '' });
  });

  it('reads lists of many megabytes', async () => {
    const server = new McpServer({ name: 'billing', version: '1.0.0' });
    server.addTool({ name: 'pay', description: 'x'.repeat(5_000_000), input: BEFORE }, () => 'paid');
    const { url } = await listen(server, { port: 0 });
    closing.push(() => server.close());
    expect((await diff('--against', url)).stdout).toBe('wording  pay: has another description\n');
  });

  it('leaves out resources that a template lists, because they are its data', async () => {
    const server = new McpServer({ name: 'billing', version: '1.0.0' });
    server.addTool({ name: 'pay', description: 'Pays an invoice', input: BEFORE }, () => 'paid');
    server.addMembers(
      [
        { kind: 'resource', key: 'seventh', options: { uri: 'bills://7', name: 'seventh', description: 'A bill' } },
        { kind: 'resource', key: 'bill', options: { uri: 'bills://{id}', description: 'A bill' } },
      ],
      { seventh: () => 'a bill', bill: () => 'a bill' },
    );
    const { url } = await listen(server, { port: 0 });
    closing.push(() => server.close());
    const template = "@Resource('bills://{id}', { description: 'A bill' }) bill() { return ''; }";
    project.write({ 'src/main.ts': program(BEFORE, template) });
    expect(await diff('--against', url)).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it('asks for all tools of a server that lists only some', async () => {
    const server = new McpServer({ name: 'billing', version: '1.0.0', plugins: [search({ above: 0 })] });
    server.addTool({ name: 'pay', description: 'Pays an invoice', input: BEFORE }, () => 'paid');
    const { url } = await listen(server, { port: 0 });
    closing.push(() => server.close());
    project.write({ 'src/main.ts': program(AFTER) });
    expect((await diff('--against', url)).stdout).toContain(BREAKING);
  });

  it('leaves out revisions that the server refuses, as servers without 2026-07-28 do', async () => {
    const url = await listening(oldServer({ tools: [{ name: 'pay', inputSchema: BEFORE }, { name: 'refund' }] }));
    expect(await diff('--against', url)).toEqual({
      code: 1,
      stdout: 'breaking  refund: the tool is gone\nwording   pay: has a description now\n',
      stderr: '',
    });
  });

  it('fails if a list of a revision that the server speaks is not valid', async () => {
    const url = await listening(oldServer({ tools: 'many' }));
    expect(await diff('--against', url)).toMatchObject({
      code: 4,
      stdout: '',
      stderr: expect.stringContaining('"tools/list" without a list of tools'),
    });
  });

  it('exits with 4 if nothing answers, or something that is no server', async () => {
    const url = await listening(
      (_request, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('Hi'),
    );
    expect(await diff('--against', url)).toMatchObject({ code: 4, stderr: expect.stringContaining('text/html') });
    for (const close of closing.splice(0)) await close();
    expect(await diff('--against', url)).toMatchObject({ code: 4, stdout: '' });
  });

  it('exits with 7 if the server denies access, and names the flag for credentials', async () => {
    const url = await listening((_request, response) => void response.writeHead(401).end());
    expect(await diff('--against', url)).toMatchObject({
      code: 7,
      stderr: expect.stringMatching(/401 Unauthorized.*\n.*`--header 'Authorization: Bearer TOKEN'`/),
    });
  });

  it('exits with 2 for a header without a value', async () => {
    expect(await diff('--against', 'http://127.0.0.1:1/', '--header', 'token')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("Write 'name: value'"),
    });
  });
});
