import { afterEach, describe, expect, it, jest } from '@jest/globals';
import {
  connectMemory,
  McpError,
  McpServer,
  type McpServerOptions,
  Prompt,
  Resource,
  Tool,
  ToolError,
} from '@decorum/core';
import { connect } from '@decorum/testing';

import { STDERR_LOGGER } from '../../src/kernel/stderr-logger.js';

class NoteError extends Error {
  constructor(readonly id: string) {
    super(`SELECT * FROM notes WHERE id = ${id}`);
  }
}

class NoteNotFound extends NoteError {
  readonly status = 404;
}

class Forbidden extends Error {}

const httpError = (status: number, expose: boolean) => Object.assign(new Error(`status ${status}`), { status, expose });

let thrown: unknown;

class Notes {
  @Tool() tool() {
    throw thrown;
  }
  @Tool() returned() {
    return thrown;
  }
  @Prompt() prompt() {
    throw thrown;
  }
  @Resource('notes://one') resource() {
    throw thrown;
  }
}

const ERRORS: McpServerOptions['errors'] = [
  [NoteNotFound, (error: NoteNotFound) => `There is no note ${error.id}.`],
  [NoteError, 'The notes are not available.'],
  [Forbidden, () => new McpError(4711, 'Not for you', { why: 'private' })],
];

async function serve(error: unknown, errors = ERRORS) {
  thrown = error;
  const reported: unknown[] = [];
  const logger = { warn: () => {}, error: () => {} };
  const onError = (each: unknown) => reported.push(each);
  const server = new McpServer({
    name: 'test',
    version: '1',
    providers: [Notes],
    logger,
    onError,
    ...(errors && { errors }),
  });
  return { client: await connect(server), reported };
}

const failed = (words: string) => ({ isError: true, content: [{ type: 'text', text: words }] });

describe('an error of a class that the server expects', () => {
  const denied = { code: 4711, message: 'Not for you', data: { why: 'private' } };
  const hidden = { code: -32603, message: 'The notes are not available.' };
  const message = 'There is no note 42.';

  it.each<[string, () => unknown, object, object, object]>([
    ['shows its message where there is no status', () => new NoteError('42'), failed(hidden.message), hidden, hidden],
    [
      'has its status as a code of the protocol',
      () => new NoteNotFound('42'),
      failed(message),
      { code: -32002, message, data: { uri: 'notes://one' } },
      { code: -32602, message },
    ],
    ['may become an McpError', () => new Forbidden(), denied, denied, denied],
  ])('%s, in tools, resources and prompts, and is not reported', async (_what, make, tool, resource, prompt) => {
    const { client, reported } = await serve(make());
    for (const name of ['tool', 'returned']) {
      expect(await client.callTool(name).catch((error: unknown) => error)).toMatchObject(tool);
    }
    await expect(client.readResource('notes://one')).rejects.toMatchObject(resource);
    await expect(client.getPrompt('prompt')).rejects.toMatchObject(prompt);
    expect(reported).toEqual([]);
  });

  it('is passed to the next rule if its rule returns undefined, and masked at the end', async () => {
    const rules: McpServerOptions['errors'] = [
      [NoteError, (error: NoteError) => (error.id === 'private' ? undefined : `There is no note ${error.id}.`)],
      [Error, (error: Error) => ('code' in error ? `Failed with ${String(error.code)}.` : undefined)],
    ];
    const shown = await serve(new NoteError('42'), rules);
    expect(await shown.client.callTool('tool')).toEqual(failed('There is no note 42.'));
    const next = await serve(Object.assign(new NoteError('private'), { code: 'ENOENT' }), rules);
    expect(await next.client.callTool('tool')).toEqual(failed('Failed with ENOENT.'));
    const secret = new NoteError('private');
    const masked = await serve(secret, rules);
    expect(JSON.stringify(await masked.client.callTool('tool'))).toMatch(/Internal error/);
    expect(masked.reported).toEqual([secret]);
  });

  it('may become an McpError, everywhere', async () => {
    const { client } = await serve(new Forbidden());
    const shown = { code: 4711, message: 'Not for you', data: { why: 'private' } };
    await expect(client.callTool('tool')).rejects.toMatchObject(shown);
    await expect(client.readResource('notes://one')).rejects.toMatchObject(shown);
    await expect(client.getPrompt('prompt')).rejects.toMatchObject(shown);
  });

  it('does not affect ToolErrors and McpErrors', async () => {
    const all: McpServerOptions['errors'] = [[Error, 'something']];
    const { client } = await serve(new ToolError('Try again'), all);
    expect(await client.callTool('tool')).toEqual(failed('Try again'));
    const protocol = await serve(new McpError(4711, 'Pay'), all);
    await expect(protocol.client.callTool('tool')).rejects.toMatchObject({ code: 4711, message: 'Pay' });
  });

  it('is masked if its rule throws, and both errors are reported', async () => {
    const broken = () => {
      throw new Error('the rule is broken');
    };
    for (const rule of [broken, (() => 5) as unknown as () => string]) {
      const error = new Forbidden();
      const { client, reported } = await serve(error, [[Forbidden, rule]]);
      expect(await client.callTool('tool')).toMatchObject(
        failed(expect.stringMatching(/^Internal error/) as unknown as string),
      );
      expect(reported).toEqual([expect.any(Error), error]);
    }
  });
});

describe('an error with `expose: true`', () => {
  it.each([
    [404, -32002],
    [400, -32602],
    [503, -32603],
  ])('shows its message; in a resource, %i is the code %i', async (status, code) => {
    const { client, reported } = await serve(httpError(status, true));
    expect(await client.callTool('tool')).toEqual(failed(`status ${status}`));
    await expect(client.readResource('notes://one')).rejects.toMatchObject({ code, message: `status ${status}` });
    expect(reported).toEqual([]);
  });

  it.each<[string, unknown]>([
    ['false', httpError(404, false)],
    ['a text', Object.assign(new Error('secret'), { expose: 'true' })],
    ['on something without a message', { expose: true }],
    ['on nothing', undefined],
  ])('must be true, on an error: %s', async (_name, error) => {
    const { client, reported } = await serve(error);
    const hidden = { code: -32603, message: expect.stringMatching(/^Internal error/) };
    expect(await client.callTool('tool')).toMatchObject({ isError: true, content: [{ text: hidden.message }] });
    await expect(client.readResource('notes://one')).rejects.toMatchObject(hidden);
    expect(reported).toEqual([error, error]);
  });
});

describe('a masked error, with the default logger', () => {
  const { isTTY } = process.stderr;
  afterEach(() => {
    jest.restoreAllMocks();
    process.stderr.isTTY = isTTY;
  });

  const printed = async (isTerminal: boolean, error: unknown) => {
    const write = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
    process.stderr.isTTY = isTerminal;
    thrown = error;
    // not through the test kit, which has entries written as on a terminal
    const server = new McpServer({ name: 'test', version: '1', providers: [Notes] });
    const { send } = await connectMemory(server, { receive() {} });
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    await send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'tool', _meta: meta } });
    expect(write).toHaveBeenCalledTimes(1);
    return String(write.mock.calls[0]?.[0]);
  };

  it('is one line unless stderr is a terminal', async () => {
    const text = await printed(false, new Error('no\nconnection', { cause: new Error('refused') }));
    expect(text.trimEnd().split('\n')).toHaveLength(1);
    expect(text).toMatch(/^error an error was masked.*tools\/call.*refused/);
  });

  it('has its stack and causes on a terminal', async () => {
    const lines = (await printed(true, new Error('no connection', { cause: new Error('refused') }))).split('\n');
    expect(lines[0]).toMatch(
      /^error an error was masked from the client \{ reference: '[\da-f]{8}', method: 'tools\/call'/,
    );
    expect(lines[1]).toBe('Error: no connection');
    expect(lines[2]).toMatch(/^ {4}at /);
    expect(lines.join('\n')).toContain('[cause]: Error: refused');
  });

  it.each([true, false])(
    'cannot inject escape sequences or change the direction of text: terminal %s',
    async (isTerminal) => {
      const text = await printed(
        isTerminal,
        new Error('\u001b[2J\u0007\u009bgone\tstays \u202egnp.exe\u2066\u061c\u2028'),
      );
      expect(text).toContain('\\x1b[2J\\x07\\x9bgone\tstays \\u202egnp.exe\\u2066\\u061c\\u2028');
      // oxlint-disable-next-line no-control-regex -- control characters are intended here
      expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/);
    },
  );

  it.each([
    ['letters', 'x', 1],
    ['escaped characters', '\u202e', 6],
    ['line feeds', '\n', 2],
  ])('has at most 16,384 characters: %s', (_title, character, length) => {
    const write = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
    process.stderr.isTTY = false;
    const entry = (message: string) => {
      write.mockClear();
      STDERR_LOGGER.warn({}, message);
      return String(write.mock.calls[0]?.[0]);
    };
    const count = Math.floor((16_384 - 'warn  {}'.length) / length);
    const rest = 'y'.repeat(16_384 - 'warn  {}'.length - count * length);
    expect(entry(rest + character.repeat(count))).toMatch(/^warn .* \{\}\n$/);
    for (const more of ['y', character.repeat(1_000_000)]) {
      const cut = entry(rest + character.repeat(count) + more);
      expect(cut).toHaveLength(16_384 + '…\n'.length);
      expect(cut).toMatch(/^warn .*…\n$/);
    }
  });
});
