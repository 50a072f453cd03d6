import { describe, expect, it } from '@jest/globals';
import {
  type Call,
  type CallToolResult,
  QuestionError,
  Completion,
  type Context,
  embedded,
  image,
  InputSignal,
  type Interceptor,
  link,
  McpError,
  McpServer,
  type McpServerOptions,
  Prompt,
  rateLimit,
  Resource,
  sanitize,
  text,
  Tool,
  ToolError,
  toolResult,
  user,
} from '@decorum/core';
import { connect, type ConnectOptions } from '@decorum/testing';
import { IsString } from 'class-validator';

import { cpuMs } from '../../../../test/support/cpu.js';
import { ERAS, reporting, serveTool, SILENT, textOf } from './serving.js';

class City {
  @IsString() city!: string;
}

class Weather {
  runs = 0;

  @Tool() forecast({ city }: City) {
    this.runs += 1;
    return `7 degrees in ${city}`;
  }

  @Tool() fail(): string {
    throw new Error('a bug');
  }

  @Prompt() pack({ city }: City) {
    return `What to pack for ${city}?`;
  }

  @Resource('weather://{city}/today') today({ city }: City) {
    return `rain in ${city}`;
  }

  @Completion({ for: ['pack', 'today'], argument: 'city' }) cities() {
    return ['Oslo'];
  }
}

const serverOf = (options: Partial<McpServerOptions>) =>
  new McpServer({ name: 'test', version: '1', providers: [new Weather()], logger: SILENT, ...options });

/** Connects to a server with this interceptor. */
async function intercepted(interceptor: Interceptor, options: ConnectOptions = {}) {
  const errors: string[] = [];
  const provider = new Weather();
  const onError = (error: unknown) => void errors.push((error as Error).message);
  const server = serverOf({ providers: [provider], interceptors: [interceptor], onError });
  return { client: await connect(server, options), server, provider, errors };
}

/** Calls one member of each kind. */
async function callAll(server: McpServer, era: 'stateful' | 'stateless') {
  const client = await connect(server, { era });
  return [
    (await client.callTool('forecast', { city: 'Oslo' })).content,
    (await client.getPrompt('pack', { city: 'Oslo' })).messages[0]?.content,
    (await client.readResource('weather://Oslo/today')).contents,
    (await client.complete({ prompt: 'pack' }, { name: 'city', value: 'O' })).values,
  ];
}

describe.each(ERAS)('interceptors (%s)', (era) => {
  it('wrap everything that runs, the first one outermost', async () => {
    const seen: unknown[] = [];
    const note =
      (who: string): Interceptor =>
      async ({ kind, name, args, ctx }, next) => {
        seen.push([who, kind, name, args, ctx.transport.kind]);
        const result = await next();
        seen.push([who, Object.keys(result)]);
        return result;
      };
    const plain = await callAll(serverOf({}), era);
    expect(await callAll(serverOf({ interceptors: [note('outer'), note('inner')] }), era)).toEqual(plain);
    const kinds = [
      ['tool', 'forecast', { city: 'Oslo' }, ['content']],
      ['prompt', 'pack', { city: 'Oslo' }, ['messages']],
      ['resource', 'weather://Oslo/today', { city: 'Oslo' }, ['contents']],
      ['completion', 'pack', { city: 'O' }, ['completion']],
    ] as const;
    const expected = kinds.flatMap(([kind, name, args, members]) => [
      ['outer', kind, name, args, 'memory'],
      ['inner', kind, name, args, 'memory'],
      ['inner', members],
      ['outer', members],
    ]);
    expect(seen).toEqual(expected);
  });

  it('see arguments before validation, and the outcome of invalid ones', async () => {
    const seen: unknown[] = [];
    const look: Interceptor = async ({ args }, next) => {
      const result = (await next()) as CallToolResult;
      seen.push(args, result.isError);
      return result;
    };
    const { client } = await intercepted(look, { era });
    await client.callTool('forecast', { city: 7, more: true });
    expect(seen).toEqual([{ city: 7, more: true }, true]);
  });

  it('provide the result', async () => {
    const answers: Interceptor = () => ({ content: [text('no need to look')] });
    const { client, provider } = await intercepted(answers, { era });
    expect(textOf(await client.callTool('forecast', { city: 'Oslo' }))).toBe('no need to look');
    expect(provider.runs).toBe(0);
  });

  it('reject by throwing', async () => {
    const refuse: Interceptor = ({ args }) => {
      if (args['city'] === 'a') throw new ToolError('not this one');
      if (args['city'] === 'b') throw new McpError(-31000, 'not that one', { why: 1 });
      throw new Error('a secret');
    };
    const { client, errors } = await intercepted(refuse, { era });
    const content = [{ text: 'not this one' }];
    expect(await client.callTool('forecast', { city: 'a' })).toMatchObject({ isError: true, content });
    const shown = { code: -32603, message: 'not this one' };
    await expect(client.getPrompt('pack', { city: 'a' })).rejects.toMatchObject(shown);
    await expect(client.callTool('forecast', { city: 'b' })).rejects.toMatchObject({ code: -31000, data: { why: 1 } });
    expect(textOf(await client.callTool('forecast', { city: 'c' }))).toMatch(/^Internal error \(reference \w{8}\)$/);
    expect(errors).toEqual(['a secret']);
  });

  it('see errors of handlers, and may replace them', async () => {
    const mend: Interceptor = async (_call, next) =>
      await next().catch((error: Error) => {
        throw new ToolError(`mended: ${error.message}`);
      });
    const { client } = await intercepted(mend, { era });
    expect(textOf(await client.callTool('fail'))).toBe('mended: a bug');
  });

  it('call next once', async () => {
    const twice: Interceptor = async (_call, next) => (await next(), await next());
    const { client, provider, errors } = await intercepted(twice, { era });
    expect((await client.callTool('forecast', { city: 'Oslo' })).isError).toBe(true);
    expect(provider.runs).toBe(1);
    expect(errors).toEqual([expect.stringContaining('The interceptor twice called next() twice. Call it once, or ')]);
  });

  it('cause an error if they forget to return the result', async () => {
    const forgets = (async (_call: Call, next: () => Promise<unknown>) => void (await next())) as never;
    const { client, errors } = await intercepted(forgets, { era });
    await expect(client.getPrompt('pack', { city: 'Oslo' })).rejects.toMatchObject({ code: -32603 });
    expect(errors).toEqual([expect.stringMatching(/(\(anonymous\)|forgets).*Return the result of next\(\)/)]);
  });

  it('cause an error if their result has another kind', async () => {
    let wrong: unknown;
    const { client, errors } = await intercepted((() => wrong) as never, { era });
    const calls = {
      content: async () => {
        throw new Error(textOf(await client.callTool('forecast', { city: 'Oslo' })));
      },
      messages: () => client.getPrompt('pack', { city: 'Oslo' }),
      contents: () => client.readResource('weather://Oslo/today'),
      completion: () => client.complete({ prompt: 'pack' }, { name: 'city', value: 'O' }),
    };
    for (const [member, call] of Object.entries(calls)) {
      for (wrong of [{}, { [member]: 'x' }, { [member]: null }, { other: [] }, []]) {
        await expect(call()).rejects.toThrow(/Internal error \(reference \w{8}\)$/);
        expect(errors.pop()).toContain(`"${member}" is missing`);
      }
    }
    expect(errors).toEqual([]);
  });

  it('do not see calls without access or of unknown members', async () => {
    const seen: string[] = [];
    const { client, server } = await intercepted(({ name }, next) => (seen.push(name), next()), { era });
    server.addTool({ name: 'hidden', access: () => false }, () => '');
    await expect(client.callTool('hidden')).rejects.toThrow('Unknown tool');
    await expect(client.callTool('none')).rejects.toThrow('Unknown tool');
    expect(seen).toEqual([]);
  });
});

describe('interceptors', () => {
  it('run in every round, and pass on the end of a round', async () => {
    const rounds: unknown[] = [];
    const watch: Interceptor = async (_call, next) => {
      try {
        const result = await next();
        rounds.push('result');
        return result;
      } catch (error) {
        rounds.push(error instanceof InputSignal);
        throw error;
      }
    };
    const onElicit = () => ({ action: 'accept', content: { confirmed: true } }) as const;
    const ask = async (ctx: Context) => String(await ctx.confirm('Really?'));
    const { client } = await serveTool(ask, { era: 'stateless', onElicit }, { interceptors: [watch, sanitize()] });
    expect(textOf(await client.callTool('tool'))).toBe('true');
    expect(rounds).toEqual([true, 'result']);
  });

  it.each([
    ['rateLimit', rateLimit, 'rateLimit(limiter)'],
    ['sanitize', sanitize, 'sanitize()'],
  ])('cause an error that says how to call %s if it was listed without a call (#22)', async (name, maker, call) => {
    const { client, errors } = await intercepted(maker as unknown as Interceptor);
    expect((await client.callTool('forecast', { city: 'Oslo' })).isError).toBe(true);
    expect(errors).toEqual([expect.stringContaining(`contains \`${name}\` itself. Write \`interceptors: [${call}]\``)]);
  });
});

describe('rateLimit', () => {
  it('counts by a custom key, and not what has none', async () => {
    const keys: string[] = [];
    const of = ({ kind, name }: Call) => (kind === 'tool' ? name : undefined);
    const { client } = await intercepted(rateLimit({ consume: async (key) => void keys.push(key) }, { of }));
    await client.getPrompt('pack', { city: 'Oslo' });
    await client.callTool('forecast', { city: 'Oslo' });
    expect(keys).toEqual(['forecast']);
  });

  it('counts by issuer and subject, session or address, or else all callers together', async () => {
    const keys: string[] = [];
    const interceptor = rateLimit({ consume: async (key) => void keys.push(key) });
    const next = async () => ({ content: [] });
    const transport = { kind: 'http', remoteAddress: '192.0.2.1' };
    const memory = { transport: { kind: 'memory' } };
    const session = { sessionId: 's1', transport };
    const ways = [{ principal: { subject: 'ada' }, ...session }, session, { transport }, memory, memory];
    for (const ctx of ways) {
      await interceptor({ kind: 'tool', name: 'a', args: {}, ctx: ctx as unknown as Context }, next);
    }
    expect(keys).toEqual(['user:[null,"ada"]', 'session:s1', 'address:192.0.2.1', 'everybody', 'everybody']);
  });

  it.each([
    ['an error', new Error('no connection to redis://secret')],
    ['an error for the client', new ToolError('no connection to redis://secret')],
    ['an error that says how long', Object.assign(new Error('no connection'), { msBeforeNext: 5000 })],
    ['nothing that it knows', 'redis://secret'],
  ])('rejects calls if the limiter fails with %s, and reports it', async (_what, failure) => {
    let runs = 0;
    const broken = { consume: () => Promise.reject(failure as Error) };
    const { client, errors } = await serveTool(() => (runs += 1), {}, { interceptors: [rateLimit(broken)] });
    const refused = await client.callTool('tool');
    expect([refused.isError, textOf(refused)]).toEqual([true, expect.stringMatching(/^Internal error \(.* \w{8}\)$/)]);
    expect([runs, ...errors.map(({ cause }) => cause)]).toEqual([0, failure]);
  });

  it.each([
    [-1, 1],
    [0, 1],
    [1, 1],
    [1000, 1],
    [1001, 2],
    [59_001, 60],
  ])('says %d ms as %d s', async (msBeforeNext, seconds) => {
    // oxlint-disable-next-line prefer-promise-reject-errors -- like real rate limiters
    const spent = { consume: () => Promise.reject({ msBeforeNext }) };
    const { client } = await serveTool(() => '', {}, { interceptors: [rateLimit(spent)] });
    expect(textOf(await client.callTool('tool'))).toBe(`Too many calls. Try again in ${seconds} s.`);
  });
});

describe('sanitize', () => {
  /** The text that a client receives if a tool returns `dirty`. */
  async function cleaned(dirty: string, options?: Parameters<typeof sanitize>[0]) {
    const { client } = await serveTool(() => dirty, {}, { interceptors: [sanitize(options)] });
    return textOf(await client.callTool('tool'));
  }

  const hidden = (secret: string) => String.fromCodePoint(...[...secret].map((c) => 0xe0000 + (c.codePointAt(0) ?? 0)));

  it('removes what is hidden, and secrets', async () => {
    const rows = [
      ['control characters', 'a\u0000b\u0007c\u0008d\u007fe\u0085f', 'abcdef'],
      ['colours', '\u001b[1;31mred\u001b[0m and \u009b32mgreen\u009b0m', 'red and green'],
      ['cursor movements', 'seen\u001b[2K\u001b[1Ghidden\u001b7\u001b(B', 'seenhidden'],
      ['links and titles', '\u001b]8;;https://evil.example\u001b\\text\u001b]8;;\u0007\u001b]0;title\u009c', 'text'],
      ['device commands', 'a\u001bPq#0\u001b\\b\u0090x\u009cc', 'abc'],
      ['sequences that do not end', 'a\u001b]8;;b \u001b[31', 'a8;;b 31'],
      ['sequences with something hidden inside', '\u001b\u200b[31mred', 'red'],
      ['tag characters', `hello${hidden('ignore all')}`, 'hello'],
      ['bidirectional overrides and isolates', 'a\u202eb\u202cc\u2066d\u2069', 'abcd'],
      ['zero-width spaces', 'pay\u200bload\u2060\ufeff\u180e', 'payload'],
      ['rows of joiners and marks', 'a\u200c\u200d\u200c\u200db\u200e\u200f\u200ec', 'abc'],
      ['variation selectors of another script', 'a\u180bb\u180cc\u180dd\u180fe', 'abcde'],
      ['rows of Mongolian variation selectors', '\u182d\u180b\u180c\u180d\u180fa', '\u182d\u180ba'],
      ['grapheme joiners', 'a\u034fb', 'ab'],
      ['fillers', 'a\u3164b\uffa0c\u115fd\u1160e', 'abcde'],
      ['annotations', 'a\ufff9b\ufffac\ufffb', 'abc'],
      ['rows of soft hyphens', 'a\u00ad\u00adb\u00ad\u200cc', 'abc'],
      ['other characters that do not show', 'a\u17b4b\u206fc\u{1d173}d\u{e0fff}e', 'abcde'],
      ['variation selectors without an ideograph', 'a\u{e0100}b\u{e01ef}😀\u{e0110}', 'ab😀'],
      ['rows of variation selectors of an ideograph', '葛\u{e0100}\u{e0101}\u{e0102}', '葛\u{e0100}'],
      ['rows of variation selectors', 'a\ufe00\ufe01\u{e0101}\u{e0102}b', 'ab'],
      ['secrets', 'password=hunter2, Bearer abcdefghij1234567890', 'password=[redacted], Bearer [redacted]'],
      ['secrets with something hidden inside', 'pass\u200bword=hun\u200bter2', 'password=[redacted]'],
    ] as const;
    const found = await Promise.all(rows.map(async ([what, dirty]) => [what, dirty, await cleaned(dirty)]));
    expect(found).toEqual(rows);
  });

  it('leaves the texts of many scripts', async () => {
    const rows = [
      ['lines and tabs', 'a\tb\r\nc\n'],
      ['many scripts', 'Grüße, 你好, שלום\u200f, नमस्ते क्\u200dष, می\u200cخواهم'],
      ['emoji', '👩\u200d🔬 ❤\ufe0f\u200d🔥 👁\ufe0f\u200d🗨\ufe0f'],
      ['ideographic variants', '葛\u{e0100}飾区と葛\u{e0101}城市、神\ufe00'],
      ['Mongolian variants', '\u182d\u180b\u1820 \u182d\u180f'],
      ['soft hyphens', 'Donau\u00addampf\u00adschiff'],
      ['ordinary words', 'Basic authentication needs a password. 12 tokens left.'],
    ] as const;
    expect(await Promise.all(rows.map(async ([what, clean]) => [what, await cleaned(clean)]))).toEqual(rows);
  });

  it.each([
    ['unfinished commands', '\u001b]'],
    ['unfinished commands of one character', '\u009d'],
    ['parameters', '\u001b[1;'],
    ['joiners', '\u200d\ufe0f'],
  ])('runs in linear time: %s', async (_what, part) => {
    const begin = cpuMs();
    await cleaned(part.repeat(200_000));
    await cleaned(part[0] + (part[1] ?? '0').repeat(400_000));
    expect(cpuMs() - begin).toBeLessThan(5000);
  });

  it.each(ERAS)('sanitizes only the texts of a result (%s)', async (era) => {
    const bell = '\u0007';
    const result = Object.freeze({
      content: [
        text(`a${bell}`),
        embedded({ uri: 'x://a', data: `b${bell}` }),
        embedded({ uri: 'x://b', data: Buffer.from(bell) }),
        image(Buffer.from(bell), 'image/png'),
        link('x://c', { name: `c${bell}`, description: `d${bell}` }),
      ],
      structuredContent: { list: [{ [`name${bell}`]: `e${bell}`, count: 1, none: null }], password: 'hunter2' },
      _meta: { 'example.com/raw': bell },
    });
    const before = JSON.stringify(result);
    class Texts {
      @Tool() all() {
        return toolResult(result);
      }

      @Prompt({ description: `about${bell}` }) ask() {
        return [user(`f${bell}`), embedded({ uri: 'x://a', data: `g${bell}` })];
      }

      @Resource('x://text') read() {
        return `h${bell}`;
      }

      @Resource('x://bytes') bytes() {
        return Buffer.from(bell);
      }
    }
    const client = await connect(serverOf({ providers: [new Texts()], interceptors: [sanitize()] }), { era });
    const blob = Buffer.from(bell).toString('base64');
    expect(await client.callTool('all')).toMatchObject({
      content: [
        { text: 'a' },
        { resource: { text: 'b' } },
        { resource: { blob } },
        { data: blob },
        { name: 'c', description: 'd' },
      ],
      structuredContent: { list: [{ name: 'e', count: 1, none: null }], password: '[redacted]' },
      _meta: { 'example.com/raw': bell },
    });
    expect(JSON.stringify(result)).toBe(before);
    expect(await client.getPrompt('ask')).toMatchObject({
      description: 'about',
      messages: [{ content: { text: 'f' } }, { content: { resource: { text: 'g' } } }],
    });
    expect((await client.readResource('x://text')).contents).toMatchObject([{ text: 'h' }]);
    expect((await client.readResource('x://bytes')).contents).toMatchObject([{ blob }]);
  });

  it('keeps the text in sync with structured content', async () => {
    const server = serverOf({ providers: [], interceptors: [sanitize()] });
    const output = { type: 'object', properties: { note: { type: 'string' } } };
    server.addTool({ name: 'tool', output }, () => ({ note: '\u001b[31mred' }));
    const { content, structuredContent } = await (await connect(server)).callTool('tool');
    expect(structuredContent).toEqual({ note: 'red' });
    expect(content).toEqual([{ type: 'text', text: '{"note":"red"}' }]);
  });

  it('sanitizes error messages', async () => {
    const thrown = [
      new ToolError('token=abc123\u0007'),
      new QuestionError('no answer\u0007', { code: 7 }),
      new McpError(-31000, 'token=abc123\u0007', { password: 'x', list: ['\u0007'] }),
      new Error('token=abc123'),
    ];
    const { server, errors } = reporting({ interceptors: [sanitize()] });
    for (const [index, error] of thrown.entries()) {
      server.addTool({ name: `fail${index}` }, () => {
        throw error;
      });
    }
    const client = await connect(server);
    expect(textOf(await client.callTool('fail0'))).toBe('token=[redacted]');
    expect(textOf(await client.callTool('fail1'))).toBe('no answer');
    await expect(client.callTool('fail2')).rejects.toMatchObject({
      code: -31000,
      message: 'token=[redacted]',
      data: { password: '[redacted]', list: [''] },
    });
    expect(textOf(await client.callTool('fail3'))).toMatch(/^Internal error/);
    expect(errors).toEqual([thrown[3]]);
  });

  it('requires `text` to return a string', async () => {
    for (const wrong of [() => 5, () => undefined, async () => 'later']) {
      const interceptors = [sanitize({ text: wrong as never })];
      for (const result of ['a', new ToolError('a')]) {
        const { client, errors } = await serveTool(() => result, {}, { interceptors });
        expect(textOf(await client.callTool('tool'))).toMatch(/^Internal error \(reference \w{8}\)$/);
        expect(errors.map(({ message }) => message)).toEqual([expect.stringContaining('`text`')]);
      }
    }
  });

  it('applies a custom function last', async () => {
    const seen: string[] = [];
    const hideNumbers = (clean: string) => (seen.push(clean), clean.replaceAll(/\d{4}/g, '[number]'));
    expect(await cleaned('a\u0007 1234 token=abc', { text: hideNumbers })).toBe('a [number] token=[redacted]');
    expect(seen).toEqual(['a 1234 token=[redacted]']);
  });
});
