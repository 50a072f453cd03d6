// How members fail: what clients see, what plugins learn, and what the operator reads.
import { AsyncLocalStorage } from 'node:async_hooks';
import { Writable } from 'node:stream';

import { afterEach, describe, expect, it, jest } from '@jest/globals';
import {
  Completion,
  connectMemory,
  Context,
  type ErrorOrigin,
  type FailureCause,
  type Interceptor,
  McpError,
  McpServer,
  type McpServerOptions,
  NoInput,
  Prompt,
  QuestionError,
  rateLimit,
  Resource,
  sanitize,
  Tool,
  ToolError,
  toolResult,
} from '@decorum/core';
import type { Plugin, QuestionOutcome, RequestOutcome } from '@decorum/core/plugin';
import { connect, type ConnectOptions, type TestClient } from '@decorum/testing';
import { IsInt, IsString } from 'class-validator';
import { pino } from 'pino';
import { createLogger, format, transports } from 'winston';

import { STDERR_LOGGER } from '../../src/kernel/stderr-logger.js';
import { ENVELOPE } from '../transports/pipe-client.js';
import { reporting, serveTool, turn } from './serving.js';

const INTERNAL = /^Internal error \(reference [\da-f]{8}\)$/;
const failed = (text: unknown) => ({ isError: true, content: [{ type: 'text', text }] });
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

class NoteError extends Error {
  constructor(readonly id: string) {
    super(`SELECT * FROM notes WHERE id = ${id}`);
  }
}

class NoteNotFound extends NoteError {
  readonly status = 404;
}

class Forbidden extends Error {}

const ERRORS: McpServerOptions['errors'] = [
  [NoteNotFound, (error: NoteNotFound) => `There is no note ${error.id}.`],
  [NoteError, 'The notes are not available.'],
  [Forbidden, () => new McpError(4711, 'Not for you', { why: 'private' })],
];

async function notes(error: unknown, errors = ERRORS) {
  thrown = error;
  const { server, errors: reported } = reporting({ providers: [Notes], ...(errors && { errors }) });
  return { client: await connect(server), reported };
}

describe('an error of a class that the server expects', () => {
  const denied = { code: 4711, message: 'Not for you', data: { why: 'private' } };
  const hidden = { code: -32603, message: 'The notes are not available.' };
  const message = 'There is no note 42.';
  const missing = { code: -32002, message, data: { uri: 'notes://one' } };

  it.each<[string, () => unknown, object, object, object]>([
    ['shows its message where there is no status', () => new NoteError('42'), failed(hidden.message), hidden, hidden],
    ['has its status as a code', () => new NoteNotFound('42'), failed(message), missing, { code: -32602, message }],
    ['may become an McpError', () => new Forbidden(), denied, denied, denied],
  ])('%s, in tools, resources and prompts, and is not reported', async (_what, make, tool, resource, prompt) => {
    const { client, reported } = await notes(make());
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
    const secret = new NoteError('private');
    for (const [error, text] of [
      [new NoteError('42'), 'There is no note 42.'],
      [Object.assign(new NoteError('private'), { code: 'ENOENT' }), 'Failed with ENOENT.'],
      [secret, expect.stringMatching(INTERNAL)],
    ] as const) {
      const { client, reported } = await notes(error, rules);
      expect(await client.callTool('tool')).toEqual(failed(text));
      expect(reported).toEqual(error === secret ? [secret] : []);
    }
  });

  it('does not affect ToolErrors and McpErrors', async () => {
    const all: McpServerOptions['errors'] = [[Error, 'something']];
    expect(await (await notes(new ToolError('Try again'), all)).client.callTool('tool')).toEqual(failed('Try again'));
    const { client } = await notes(new McpError(4711, 'Pay'), all);
    await expect(client.callTool('tool')).rejects.toMatchObject({ code: 4711, message: 'Pay' });
  });

  it('is masked if its rule throws, and both errors are reported', async () => {
    const broken = () => {
      throw new Error('the rule is broken');
    };
    for (const rule of [broken, (() => 5) as unknown as () => string]) {
      const error = new Forbidden();
      const { client, reported } = await notes(error, [[Forbidden, rule]]);
      expect(await client.callTool('tool')).toEqual(failed(expect.stringMatching(INTERNAL)));
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
    const { client, reported } = await notes(httpError(status, true));
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
    const { client, reported } = await notes(error);
    const hidden = { code: -32603, message: expect.stringMatching(INTERNAL) };
    expect(await client.callTool('tool')).toEqual(failed(hidden.message));
    await expect(client.readResource('notes://one')).rejects.toMatchObject(hidden);
    expect(reported).toEqual([error, error]);
  });
});

describe('an error of a tool', () => {
  const circular: { self?: unknown } = {};
  circular.self = circular;

  it.each<[string, () => unknown]>([
    ['the reason of a promise', () => Promise.reject(new TypeError('secret'))],
    ...['a text', 10n, circular].map((value): [string, () => never] => [
      typeof value,
      () => {
        throw value;
      },
    ]),
  ])('is masked, with a reference that is logged too, if it is %s', async (_what, fail) => {
    const origins: ErrorOrigin[] = [];
    const onError = (_error: unknown, origin: ErrorOrigin) => void origins.push(origin);
    const { client } = await serveTool(fail, {}, { onError });
    expect(await client.callTool('tool')).toEqual(failed(`Internal error (reference ${origins[0]?.reference})`));
    expect(origins).toMatchObject([{ method: 'tools/call', reference: expect.stringMatching(/./) }]);
  });

  it('names its member to the operator, also after a question', async () => {
    const members: unknown[] = [];
    const onError = (_error: unknown, { member }: ErrorOrigin) => void members.push(member);
    const onElicit = () => ({ action: 'cancel' }) as const;
    const ask = async (ctx: Context) => {
      await ctx.confirm('Sure?');
      throw new Error('broken');
    };
    await (await serveTool(ask, { onElicit }, { onError })).client.callTool('tool');
    expect(members).toEqual(['tool']);
  });

  it('is answered even if logger and onError throw', async () => {
    const fails = () => {
      throw new Error('the logger is broken');
    };
    const { client } = await serveTool(fails, {}, { logger: { warn: fails, error: fails }, onError: fails });
    expect(await client.callTool('tool')).toMatchObject({ isError: true });
  });

  it('is answered once, and reported once, if an async onError rejects', async () => {
    let [reported, handled] = [0, 0];
    // the process ends for a promise whose rejection nobody handles
    const rejected = () => ({
      // oxlint-disable-next-line unicorn/no-thenable
      then(_done: unknown, fail: (failure: Error) => void) {
        fail(new Error('the audit is down'));
        handled += 1;
      },
    });
    const onError = () => ((reported += 1), rejected() as unknown as void);
    const logger = { warn: () => {}, error: () => rejected() as unknown as void };
    const { client } = await serveTool(() => Promise.reject(new Error('broken')), {}, { logger, onError });
    expect(await client.callTool('tool')).toMatchObject({ isError: true });
    expect([reported, handled]).toEqual([1, 2]);
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
    await send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'tool', _meta: ENVELOPE } });
    expect(write).toHaveBeenCalledTimes(1);
    return String(write.mock.calls[0]?.[0]);
  };

  it('is one line unless stderr is a terminal', async () => {
    const text = await printed(false, new Error('no\nconnection', { cause: new Error('refused') }));
    expect(text.trimEnd().split('\n')).toHaveLength(1);
    expect(text).toMatch(/^error an error was masked.*tools\/call.*refused/);
  });

  it('has its stack and causes on a terminal', async () => {
    const [first, ...lines] = (await printed(true, new Error('gone', { cause: new Error('refused') }))).split('\n');
    expect(first).toMatch(
      /^error an error was masked from the client \{ reference: '[\da-f]{8}', method: 'tools\/call'/,
    );
    expect(lines[0]).toBe('Error: gone');
    expect(lines[1]).toMatch(/^ {4}at /);
    expect(lines.join('\n')).toContain('[cause]: Error: refused');
  });

  it.each([true, false])(
    'cannot inject escape sequences or change the direction of text: terminal %s',
    async (isTerminal) => {
      const hostile = '\u001b[2J\u0007\u009bgone\tstays \u202egnp.exe\u2066\u061c\u2028';
      const text = await printed(isTerminal, new Error(hostile));
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

class Input {
  @IsString() text!: string;
}

class Note {
  @IsInt() id!: number;
}

/** Fails for a text. */
const secretFor = (text: unknown) => {
  if (text === 'bug') throw new Error('secret');
};

class Desk {
  @Tool() fail(_input: NoInput) {
    throw thrown;
  }

  @Tool() say({ text }: Input) {
    return text;
  }

  @Tool() refuse() {
    return toolResult({ content: 'No.', isError: true });
  }

  @Tool({ access: () => false }) hidden() {}
  @Tool({ access: () => Promise.reject(new Error('no database')) }) broken() {}

  @Tool() async ask(_input: NoInput, ctx: Context) {
    return await ctx.confirm('Really?', { timeoutMs: 1 });
  }

  @Tool() async hang(_input: NoInput, ctx: Context) {
    await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve));
  }

  @Prompt() letter({ text }: Input) {
    secretFor(text);
    return text;
  }

  @Completion({ for: 'letter', argument: 'text' }) texts(typed: string) {
    secretFor(typed);
    return [typed];
  }

  @Prompt({ access: () => false }) secret() {}

  @Resource('notes://{id}', { list: 'all' }) note({ id }: Note) {
    if (id === 0) secretFor('bug');
    return undefined;
  }

  all() {
    secretFor('bug');
  }

  @Resource('secrets://{name}', { access: () => false }) hiddenNote() {}
}

async function observed(options: ConnectOptions = {}, interceptors: readonly Interceptor[] = []) {
  const outcomes: RequestOutcome[] = [];
  const questions: QuestionOutcome[] = [];
  const plugin: Plugin = {
    name: 'observer',
    ended: (_request, outcome) => void outcomes.push(outcome),
    ask: async (_question, run) => questions.push(await run()),
  };
  const errors: McpServerOptions['errors'] = [[NoteError, 'There is none.']];
  const { server } = reporting({ providers: [Desk], plugins: [plugin], interceptors, errors });
  const client = await connect(server, options);
  const last = async (request: Promise<unknown>) => {
    const shown = await request.catch((error: unknown) => (error as Error).message);
    const { status, cause, reference } = outcomes.at(-1) as RequestOutcome;
    // the reference is the one that the client gets
    if (reference !== undefined) expect(JSON.stringify(shown)).toContain(`reference ${reference}`);
    return [status, cause, reference !== undefined] as const;
  };
  return { server, client, last, outcomes, questions };
}

type Row = readonly [
  title: string,
  send: (client: TestClient) => Promise<unknown>,
  status: string,
  cause?: FailureCause,
];

const completing =
  (ref: { prompt: string } | { resource: string }, name: string, value: string) => (client: TestClient) =>
    client.complete(ref, { name, value });

const ROWS: readonly Row[] = [
  ['success', (client) => client.callTool('say', { text: 'hi' }), 'ok'],
  ['a result with isError', (client) => client.callTool('refuse'), 'tool-error', 'expected'],
  ['arguments that do not fit', (client) => client.callTool('say', { text: 1 }), 'tool-error', 'invalid-arguments'],
  ['arguments of a prompt', (client) => client.getPrompt('letter', {}), 'error', 'invalid-arguments'],
  ['a bug in a prompt', (client) => client.getPrompt('letter', { text: 'bug' }), 'error', 'bug'],
  ['a bug in a resource', (client) => client.readResource('notes://0'), 'error', 'bug'],
  ['a bug in a completion', completing({ prompt: 'letter' }, 'text', 'bug'), 'error', 'bug'],
  ['a bug in a list', (client) => client.listResources(), 'error', 'bug'],
  ['a resource that is gone', (client) => client.readResource('notes://1'), 'error', 'not-found'],
  ['an unknown tool', (client) => client.callTool('none'), 'error', 'not-found'],
  ['an unknown prompt', (client) => client.getPrompt('none'), 'error', 'not-found'],
  ['an unknown resource', (client) => client.readResource('none://1'), 'error', 'not-found'],
  ['an unknown template', completing({ resource: 'none://{id}' }, 'id', ''), 'error', 'not-found'],
  ['an unknown method', (client) => client.request('invented', {}), 'error', 'not-found'],
  ['a tool that access hides', (client) => client.callTool('hidden'), 'error', 'denied'],
  ['a broken access function', (client) => client.callTool('broken'), 'error', 'denied'],
  ['a prompt that access hides', (client) => client.getPrompt('secret'), 'error', 'denied'],
  ['a resource that access hides', (client) => client.readResource('secrets://1'), 'error', 'denied'],
  ['a missing name', (client) => client.request('tools/call', {}), 'error', 'invalid-request'],
  ['an invalid cursor', (client) => client.request('tools/list', { cursor: 'x' }), 'error', 'invalid-request'],
];

describe.each(['memory', 'stdio', 'http'] as const)('Over %s, the cause', (via) => {
  it('tells apart every way to fail, and a masked error has its reference (#23)', async () => {
    const { client, last, server } = await observed({ via });
    const found: unknown[] = [];
    for (const [title, send] of ROWS) found.push([title, ...(await last(send(client)))]);
    expect(found).toEqual(ROWS.map(([title, , status, cause]) => [title, status, cause, cause === 'bug']));
    await client.close();
    await server.close();
  });
});

describe('The cause of an error that a tool throws', () => {
  const timeout = { cause: { code: 'UND_ERR_HEADERS_TIMEOUT' } };

  it.each<[string, () => unknown, FailureCause]>([
    ['an unexpected error', () => new Error('secret'), 'bug'],
    ['a text', () => 'secret', 'bug'],
    ['a ToolError', () => new ToolError('Not today.'), 'expected'],
    ['an error with a rule', () => new NoteError('7'), 'expected'],
    ['invalid params', () => new McpError('invalid-params', 'No.'), 'invalid-arguments'],
    ['the same by its code', () => new McpError(-32_602, 'No.'), 'invalid-arguments'],
    ['a code of the application', () => new McpError(7, 'No.'), 'expected'],
    ['missing scopes', () => new McpError('insufficient-scope', 'No.', { scopes: ['x'] }), 'denied'],
    ['an exposed 403', () => httpError(403, true), 'denied'],
    ['an exposed 404', () => httpError(404, true), 'not-found'],
    ['an exposed 422', () => httpError(422, true), 'invalid-arguments'],
    ['an exposed 429', () => httpError(429, true), 'limit'],
    ['an exposed 418', () => httpError(418, true), 'expected'],
    ['the status of another server', () => httpError(403, false), 'bug'],
    ['the same as the cause', () => new ToolError('Try later.', { cause: httpError(403, false) }), 'expected'],
    ['a timeout', () => new DOMException('late', 'TimeoutError'), 'timeout'],
    ['a timeout of fetch', () => new TypeError('fetch failed', timeout), 'timeout'],
    ['a timeout of a socket', () => Object.assign(new Error('late'), { code: 'ETIMEDOUT' }), 'timeout'],
    ['an answer of the client', () => new QuestionError('The client answered with an error.'), 'client'],
  ])('is known for %s (#23)', async (_title, error, cause) => {
    const { client, last } = await observed();
    thrown = error();
    expect((await last(client.callTool('fail')))[1]).toBe(cause);
  });

  it('survives sanitize(), and is a limit for rateLimit() (#23)', async () => {
    const { client, last } = await observed({}, [sanitize()]);
    expect(await last(client.callTool('say', { text: 1 }))).toEqual(['tool-error', 'invalid-arguments', false]);
    thrown = httpError(403, true);
    expect(await last(client.callTool('fail'))).toEqual(['tool-error', 'denied', false]);
    const limiter = { consume: async () => await Promise.reject({ msBeforeNext: 1000 }) };
    const limited = await observed({}, [rateLimit(limiter, { of: () => 'all' })]);
    expect(await limited.last(limited.client.callTool('fail'))).toEqual(['tool-error', 'limit', false]);
  });
});

describe('The cause of a call that ends early', () => {
  it('is a timeout if the client does not answer a question, and the client if it cannot be asked (#23)', async () => {
    const { client, last, questions } = await observed({ onElicit: () => new Promise(() => {}) });
    expect(await last(client.callTool('ask'))).toEqual(['tool-error', 'timeout', false]);
    expect(questions).toMatchObject([{ status: 'error', cause: 'timeout' }]);
    const mute = await observed();
    expect((await mute.last(mute.client.callTool('ask')))[1]).toBe('client');
  });

  it('is a cancellation by the client, or by a server that closes (#23)', async () => {
    for (const cause of ['cancelled', 'closing'] as const) {
      const { client, server, outcomes } = await observed();
      const controller = new AbortController();
      const call = client.callTool('hang', {}, { signal: controller.signal }).catch(() => undefined);
      await turn();
      if (cause === 'cancelled') controller.abort();
      else await server.close({ deadlineMs: 1 });
      await call;
      await turn();
      expect(outcomes.find(({ status }) => status === 'cancelled')?.cause).toBe(cause);
      await server.close();
    }
  });

  it('is logged with the reason of the client, but not what the handler throws then (#22)', async () => {
    const logged: unknown[] = [];
    const log = (details: object, message: string) => void logged.push([message, details]);
    let began = () => {};
    const running = new Promise<void>((resolve) => (began = resolve));
    const hang = async ({ signal }: Context) => {
      const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve));
      began();
      await aborted;
      throw new Error('The download was interrupted.');
    };
    const logger = { debug: log, warn: log, error: log };
    const { client, call } = await serveTool(hang, {}, { logger });
    const cancelled = call().catch(() => {});
    await running;
    await client.notify('notifications/cancelled', { requestId: 2, reason: 'too slow' });
    await cancelled;
    await turn();
    expect(logged).toEqual([
      ['the client cancelled a request', { requestId: 2, method: 'tools/call', reason: 'too slow' }],
    ]);
  });
});

type Entry = Record<string, unknown>;

class Card {
  @IsString() number!: string;
}

const CARD = { number: '4111 1111 1111 1111' };

/** As axios throws them: with the headers of the request. */
const refused = () =>
  Object.assign(new Error('The bank refused.', { cause: new TypeError('fetch failed') }), {
    code: 'ECONNREFUSED',
    config: { headers: { authorization: 'Bearer secret' } },
  });

class Till {
  @Tool() pay(_input: Card) {
    throw refused();
  }

  @Tool() throwText() {
    // oxlint-disable-next-line no-throw-literal -- libraries do
    throw 'only a text';
  }

  @Prompt() receipt(_input: Card) {
    throw refused();
  }

  @Resource('cards://{number}') card(_input: Card) {
    throw refused();
  }
}

/** A stream that keeps its lines of JSON. */
function memory() {
  const entries: Entry[] = [];
  const write = (chunk: unknown, _encoding: string, done: () => void) => {
    entries.push(JSON.parse(String(chunk)) as Entry);
    done();
  };
  return { entries, stream: new Writable({ write }) };
}

const winston = (stream: Writable) =>
  createLogger({ level: 'debug', format: format.json(), transports: [new transports.Stream({ stream })] });

const LOGGERS = {
  pino: (stream: Writable) => pino({ level: 'debug' }, stream),
  winston,
  'a child of pino': (stream: Writable) => pino({ level: 'debug' }, stream).child({}),
  'a child of winston': (stream: Writable) => winston(stream).child({}),
};

async function till(name: keyof typeof LOGGERS, options: Partial<McpServerOptions> = {}, via?: ConnectOptions) {
  const { entries, stream } = memory();
  const logger = LOGGERS[name](stream);
  const server = new McpServer({ name: 'shop', version: '1.0.0', providers: [Till], logger, ...options });
  return { entries, server, client: await connect(server, { principal: { subject: 'ada' }, ...via }) };
}

describe.each(Object.keys(LOGGERS) as (keyof typeof LOGGERS)[])('%s, as `logger`,', (name) => {
  it('gets a masked error as `err`, with its reference and where it happened (#23)', async () => {
    const { entries, client } = await till(name, {}, { via: 'http' });
    const result = await client.callTool('pay', CARD);
    const [reference] = /[\da-f]{8}/.exec(JSON.stringify(result)) ?? [];
    expect(entries[0]?.['msg'] ?? entries[0]?.['message']).toBe('an error was masked from the client');
    expect(entries).toMatchObject([
      {
        reference,
        method: 'tools/call',
        requestId: expect.any(Number),
        member: 'pay',
        session: expect.stringMatching(/./),
        subject: 'ada',
        transport: 'http',
        err: {
          type: 'Error',
          message: expect.stringContaining('The bank refused.'),
          stack: expect.stringMatching(/The bank refused\.\n +at /),
          code: 'ECONNREFUSED',
        },
      },
    ]);
    expect(JSON.stringify(entries)).toContain('fetch failed');
    await client.close();
  });

  it('gets values that are not errors, names prompts and templates, and never gets an argument (#23)', async () => {
    const { entries, client } = await till(name);
    await Promise.allSettled([
      client.callTool('throwText'),
      client.callTool('pay', CARD),
      client.getPrompt('receipt', CARD),
      client.readResource('cards://4111%201111%201111%201111'),
    ]);
    expect(entries.map(({ member }) => member)).toEqual(['throwText', 'pay', 'receipt', 'cards://{number}']);
    expect(entries[0]).toMatchObject({ err: 'only a text' });
    expect(JSON.stringify(entries)).not.toContain('1111');
  });
});

describe('`logger`', () => {
  it('keeps the members that libraries add to errors out of the log of winston (#23)', async () => {
    const { entries, client } = await till('winston');
    await client.callTool('pay', CARD);
    expect(JSON.stringify(entries)).not.toContain('Bearer');
  });

  it('runs inside the request: entries have the request id of an AsyncLocalStorage (#23)', async () => {
    const current = new AsyncLocalStorage<string>();
    const requestIds: Plugin = { name: 'request-ids', observe: (_request, run) => current.run('r-42', run) };
    const { entries, stream } = memory();
    const logger = pino({ mixin: () => ({ request: current.getStore() }) }, stream);
    const { client } = await till('pino', { logger, plugins: [requestIds] }, { via: 'http' });
    await client.callTool('pay', CARD);
    expect(entries).toMatchObject([{ request: 'r-42', member: 'pay' }]);
    await client.close();
  });

  it('has the same facts as `onError` (#23)', async () => {
    const origins: ErrorOrigin[] = [];
    const { entries, client } = await till('pino', { onError: (_error, origin) => void origins.push(origin) });
    await client.callTool('pay', CARD);
    expect(entries).toMatchObject(origins);
    const facts = ['member', 'method', 'reference', 'requestId', 'subject', 'transport'];
    expect(Object.keys(origins[0] ?? {}).sort()).toEqual(facts);
  });

  it('in a test, keeps the lines of a stack, unless the server has its own logger (#23)', async () => {
    const write = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
    try {
      const client = await connect(new McpServer({ name: 'shop', version: '1.0.0', providers: [Till] }));
      await client.callTool('pay', CARD);
      const [entry] = write.mock.calls.map(([text]) => String(text));
      expect(entry).toMatch(
        /^error an error was masked .*member: 'pay'.*\nError: The bank refused\.\n {4}at .*failures\.test/,
      );
    } finally {
      write.mockRestore();
    }
  });
});
