import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { recorder, type RecorderOptions, type Recording } from '@decorum/audit';
import { type Context, McpServer, ToolError } from '@decorum/core';
import { connect, replayOf } from '@decorum/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'recordings-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

type Handler = (args: object, ctx: Context) => unknown;

const fails: Handler = () => {
  throw Object.assign(new Error('broken'), { name: 'Failure of token=a8f3e1c5d7b9' });
};

/** Records a failing call with these arguments. Returns the files and the errors of the server. */
async function recorded(args: object, options: Partial<RecorderOptions> = {}, run = fails) {
  const errors: Error[] = [];
  const server = new McpServer({
    name: 'shop',
    version: '1.0.0',
    logger: { warn() {}, error() {} },
    onError: (error) => void errors.push(error as Error),
    plugins: [recorder({ folder, ...options })],
  });
  server.addTool({ name: 'fails', description: 'Fails', input: { type: 'object' } }, run);
  const client = await connect(server);
  await client.callTool('fails', args).catch(() => {});
  await client.close();
  await server.close();
  return { files: readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8')), errors };
}

const SECRET = 'Tr0ub4dor/&3 xyz';
const text = (value: unknown) => JSON.stringify(value);

describe('A secret', () => {
  it.each<[string, string, object]>([
    ['in the value beside its name', SECRET, { env: [{ name: 'DB_PASSWORD', value: SECRET }] }],
    ['in a pair of name and value', SECRET, { headers: [['x-api-key', SECRET]] }],
    ['with white space around it', 'hunter2022', { password: ' hunter2022\n', x: 'hunter2022 was refused' }],
    ['behind a flag of a command', 'hunter2022', { argv: ['mysql', '--password', 'hunter2022'] }],
    ['behind a flag in a text', 'hunter2022', { command: 'mysql --password hunter2022 -u root' }],
    ['in XML', SECRET, { body: `<login><ns:password type="text">${SECRET}</ns:password></login>` }],
    ['in place of a user in a URL', 'a8f3e1c5d7b9a8f3e1', { from: 'https://a8f3e1c5d7b9a8f3e1@host.example' }],
    ['that is a name', 'a8f3e1c5d7b9a8f3e1', { tokens: { a8f3e1c5d7b9a8f3e1: 'ada' } }],
    ['in JSON with a byte order mark', 'hunter2022', { body: `\uFEFF${text({ credentials: { u: 'hunter2022' } })}` }],
    ['with quotes in JSON in a text', 'hunter2022', { body: `got ${text(text({ password: 'a"b\\hunter2022' }))}` }],
    [
      'in hexadecimal digits',
      Buffer.from(SECRET).toString('hex'),
      { password: SECRET, x: Buffer.from(SECRET).toString('hex') },
    ],
    [
      'escaped twice for a URL',
      'Tr0ub4dor%252F',
      { password: SECRET, x: encodeURIComponent(encodeURIComponent(SECRET)) },
    ],
    ['escaped for HTML', 'Tr0ub4dor', { password: SECRET, x: SECRET.replace('&', '&amp;') }],
    ['escaped as PHP does', 'Tr0ub4dor', { password: SECRET, x: SECRET.replace('/', '\\/') }],
    ['escaped as Python does', 'u00e4hnlich', { password: 'u-ähnlich', x: 'u-\\u00e4hnlich' }],
    ['in upper case', SECRET.toUpperCase(), { password: SECRET, x: SECRET.toUpperCase() }],
    ['that is a number', '12345678', { password: 12_345_678, other: 12_345_678 }],
    ['that is a number with an exponent', '1.2345678e-7', { secret: 1.234_567_8e-7 }],
  ])('%s is in no file', async (_where, secret, args) => {
    const { files } = await recorded(args);
    expect(files).toHaveLength(1);
    expect(files.join('').includes(secret)).toBe(false);
    // the name of the error has one, too
    expect(files[0]?.includes('a8f3e1c5d7b9')).toBe(false);
  });
});

describe('A secret of what a recording has not', () => {
  const password = 'hunter2022correct';
  const long = 'x'.repeat(5000);
  const refuse: Handler = () => {
    throw new ToolError(`The password ${password} was refused`);
  };

  it.each<[string, object, Handler]>([
    ['arguments that are too long', { password, long }, refuse],
    ['arguments that almost fit', { password, long: 'x'.repeat(3050) }, refuse],
    [
      'results of effects that are too long',
      {},
      async (_args, ctx) => {
        await ctx.once('sign in', () => ({ password, long }));
        throw new ToolError(`The password ${password} was refused`);
      },
    ],
    [
      'the end of a message',
      { password: password.repeat(3) },
      () => {
        throw new ToolError(`${'-'.repeat(1970)} ${password.repeat(3)}`);
      },
    ],
    [
      'the end of the name of an error',
      { password: password.repeat(3) },
      () => {
        throw Object.assign(new Error('broken'), { name: `${'E'.repeat(70)} ${password.repeat(3)}` });
      },
    ],
  ])('is not in what it has: %s', async (_what, args, run) => {
    const { files } = await recorded(args, { maxBytes: 4096 }, run);
    expect(files).toHaveLength(1);
    expect(files[0]?.includes(password)).toBe(false);
  });
});

describe('A recorder', () => {
  it('leaves out what it would take too long to replace', async () => {
    const password = Array.from({ length: 50 }, (_, at) => `${'a'.repeat(1000 + at)}b`);
    const { files } = await recorded({ password, x: 'a'.repeat(100_000) });
    expect((JSON.parse(files[0] as string) as Recording).cut).toContain('params');
    expect(files[0]?.includes('aaaaaa')).toBe(false);
  });

  it.each<[string, Partial<RecorderOptions>]>([
    ['when', { when: (async () => await Promise.reject(new Error('broken'))) as never }],
    ['find', { redact: { find: (async () => await Promise.reject(new Error('broken'))) as never } }],
  ])('reports a promise of `%s`, which does not end the process', async (_option, options) => {
    const { files, errors } = await recorded({ x: 'text' }, options);
    expect(files).toEqual([]);
    expect(errors.length).toBeGreaterThan(1);
  });
});

describe('A replay', () => {
  it('says why the server can not read a recording that somebody has changed', async () => {
    const { files } = await recorded({ sku: 'tea' });
    const path = join(folder, 'changed.json');
    writeFileSync(path, (files[0] as string).replace('"sku"', '"__proto__": {}, "sku"'));
    const server = new McpServer({ name: 'shop', version: '1.0.0' });
    const { replayed, failure } = await replayOf(path, { server });
    expect(replayed).toMatchObject({ status: 'error', cause: 'invalid-request', code: -32600 });
    expect(failure).toContain('__proto__');
  });
});
