// Why requests fail, as plugins learn it.
import { describe, expect, it } from '@jest/globals';
import {
  QuestionError,
  Completion,
  Context,
  type FailureCause,
  type Interceptor,
  McpError,
  McpServer,
  NoInput,
  Prompt,
  rateLimit,
  Resource,
  sanitize,
  Tool,
  ToolError,
  toolResult,
} from '@decorum/core';
import type { RequestOutcome, Plugin, QuestionOutcome } from '@decorum/core/plugin';
import { connect, type ConnectOptions, type TestClient } from '@decorum/testing';
import { IsInt, IsString } from 'class-validator';

class Input {
  @IsString() text!: string;
}

class Note {
  @IsInt() id!: number;
}

/** An error of the application that one of the server's rules shows. */
class Missing extends Error {}

const http = (status: number, expose: boolean) => Object.assign(new Error('from http-errors'), { status, expose });

/** What `fail` throws. */
let thrown: unknown;

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

  @Tool({
    access: () => {
      throw new Error('no database');
    },
  })
  broken() {}

  @Tool() async ask(_input: NoInput, ctx: Context) {
    return await ctx.confirm('Really?', { timeoutMs: 1 });
  }

  @Tool() async hang(_input: NoInput, ctx: Context) {
    await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve));
  }

  @Prompt() letter({ text }: Input) {
    if (text === 'bug') throw new Error('secret');
    return text;
  }

  @Completion({ for: 'letter', argument: 'text' }) texts(typed: string) {
    if (typed === 'bug') throw new Error('secret');
    return [typed];
  }

  @Prompt({ access: () => false }) secret() {
    return '';
  }

  @Resource('notes://{id}', { list: 'all' }) note({ id }: Note) {
    if (id === 0) throw new Error('secret');
    return undefined;
  }

  all() {
    throw new Error('secret');
  }

  @Resource('secrets://{name}', { access: () => false }) hiddenNote() {
    return '';
  }
}

async function observed(options: ConnectOptions = {}, interceptors: readonly Interceptor[] = []) {
  const outcomes: RequestOutcome[] = [];
  const questions: QuestionOutcome[] = [];
  const plugin: Plugin = {
    name: 'observer',
    ended: (_request, outcome) => void outcomes.push(outcome),
    ask: async (_question, run) => questions.push(await run()),
  };
  const server = new McpServer({
    name: 'desk',
    version: '1.0.0',
    providers: [Desk],
    plugins: [plugin],
    interceptors,
    logger: { warn() {}, error() {} },
    errors: [[Missing, 'There is none.']],
  });
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

const ROWS: readonly Row[] = [
  ['success', (client) => client.callTool('say', { text: 'hi' }), 'ok'],
  ['a result with isError', (client) => client.callTool('refuse'), 'tool-error', 'expected'],
  ['arguments that do not fit', (client) => client.callTool('say', { text: 1 }), 'tool-error', 'invalid-arguments'],
  ['arguments of a prompt', (client) => client.getPrompt('letter', {}), 'error', 'invalid-arguments'],
  ['a bug in a prompt', (client) => client.getPrompt('letter', { text: 'bug' }), 'error', 'bug'],
  ['a bug in a resource', (client) => client.readResource('notes://0'), 'error', 'bug'],
  [
    'a bug in a completion',
    (client) => client.complete({ prompt: 'letter' }, { name: 'text', value: 'bug' }),
    'error',
    'bug',
  ],
  ['a bug in a list', (client) => client.listResources(), 'error', 'bug'],
  ['a resource that is gone', (client) => client.readResource('notes://1'), 'error', 'not-found'],
  ['an unknown tool', (client) => client.callTool('none'), 'error', 'not-found'],
  ['an unknown prompt', (client) => client.getPrompt('none'), 'error', 'not-found'],
  ['an unknown resource', (client) => client.readResource('none://1'), 'error', 'not-found'],
  [
    'an unknown template',
    (client) => client.complete({ resource: 'none://{id}' }, { name: 'id', value: '' }),
    'error',
    'not-found',
  ],
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
  it.each<[string, () => unknown, FailureCause]>([
    ['an unexpected error', () => new Error('secret'), 'bug'],
    ['a text', () => 'secret', 'bug'],
    ['a ToolError', () => new ToolError('Not today.'), 'expected'],
    ['an error with a rule', () => new Missing('row 7'), 'expected'],
    ['invalid params', () => new McpError('invalid-params', 'No.'), 'invalid-arguments'],
    ['the same by its code', () => new McpError(-32_602, 'No.'), 'invalid-arguments'],
    ['a code of the application', () => new McpError(7, 'No.'), 'expected'],
    ['missing scopes', () => new McpError('insufficient-scope', 'No.', { scopes: ['x'] }), 'denied'],
    ['an exposed 403', () => http(403, true), 'denied'],
    ['an exposed 404', () => http(404, true), 'not-found'],
    ['an exposed 422', () => http(422, true), 'invalid-arguments'],
    ['an exposed 429', () => http(429, true), 'limit'],
    ['an exposed 418', () => http(418, true), 'expected'],
    ['the status of another server', () => http(403, false), 'bug'],
    ['the same as the cause', () => new ToolError('Try later.', { cause: http(403, false) }), 'expected'],
    ['a timeout', () => new DOMException('late', 'TimeoutError'), 'timeout'],
    [
      'a timeout of fetch',
      () => new TypeError('fetch failed', { cause: { code: 'UND_ERR_HEADERS_TIMEOUT' } }),
      'timeout',
    ],
    ['a timeout of a socket', () => Object.assign(new Error('late'), { code: 'ETIMEDOUT' }), 'timeout'],
    ['an answer of the client', () => new QuestionError('The client answered with an error.'), 'client'],
  ])('is known for %s (#23)', async (_title, error, cause) => {
    const { client, last } = await observed();
    thrown = error();
    expect((await last(client.callTool('fail')))[1]).toBe(cause);
    await client.close();
  });

  it('survives sanitize() (#23)', async () => {
    const { client, last } = await observed({}, [sanitize()]);
    expect(await last(client.callTool('say', { text: 1 }))).toEqual(['tool-error', 'invalid-arguments', false]);
    thrown = http(403, true);
    expect(await last(client.callTool('fail'))).toEqual(['tool-error', 'denied', false]);
    await client.close();
  });

  it('is a limit for rateLimit() (#23)', async () => {
    const limiter = { consume: async () => await Promise.reject({ msBeforeNext: 1000 }) };
    const { client, last } = await observed({}, [rateLimit(limiter, { of: () => 'all' })]);
    expect(await last(client.callTool('say', { text: 'x' }))).toEqual(['tool-error', 'limit', false]);
    await client.close();
  });
});

describe('The cause of a call that ends early', () => {
  it('is a timeout if the client does not answer a question, for the call and the question (#23)', async () => {
    const { client, last, questions } = await observed({ onElicit: () => new Promise(() => {}) });
    expect(await last(client.callTool('ask'))).toEqual(['tool-error', 'timeout', false]);
    expect(questions.map(({ status, cause }) => [status, cause])).toEqual([['error', 'timeout']]);
    await client.close();
  });

  it('is the client if it cannot be asked (#23)', async () => {
    const { client, last } = await observed();
    expect((await last(client.callTool('ask')))[1]).toBe('client');
    await client.close();
  });

  it('is a cancellation by the client, or by a server that closes (#23)', async () => {
    for (const cause of ['cancelled', 'closing'] as const) {
      const { client, server, outcomes } = await observed();
      const controller = new AbortController();
      const call = client.callTool('hang', {}, { signal: controller.signal }).catch(() => undefined);
      await new Promise(setImmediate);
      if (cause === 'cancelled') controller.abort();
      else await server.close({ deadlineMs: 1 });
      await call;
      await new Promise(setImmediate);
      expect(outcomes.find(({ status }) => status === 'cancelled')?.cause).toBe(cause);
      await client.close();
      await server.close();
    }
  });
});
