import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { recorder, type RecorderOptions, type Recording } from '@decorum/audit';
import { type Context, type JsonObject, McpServer, type Principal, ToolError } from '@decorum/core';
import { connect, type ConnectOptions, replayOf } from '@decorum/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'recordings-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
let seed = 42;
/** A number below another one: the same ones in each run. */
const below = (count: number): number => {
  seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
  return Math.floor((seed / 2_147_483_648) * count);
};
const random = (length: number, from = LETTERS): string =>
  Array.from({ length }, () => from[below(from.length)] as string).join('');

/** Digits of a card, with a check digit. */
function card(): string {
  const digits = `4${random(14, '0123456789')}`;
  const sum = [...digits].reduce((all, digit, at) => {
    const value = Number(digit) * (at % 2 === 0 ? 2 : 1);
    return all + (value > 9 ? value - 9 : value);
  }, 0);
  return digits + String((10 - (sum % 10)) % 10);
}

/** A secret, a text that has it, and a member that has it. */
interface Planted {
  readonly secret: string;
  readonly text: string;
  readonly member: object;
}

const plain = (secret: string): Planted => ({ secret, text: secret, member: { note: secret } });
const named = (name: string, secret: string): Planted => ({
  secret,
  text: `${name}=${secret}`,
  member: { [name]: secret },
});
const within = (text: string, secret: string): Planted => ({ secret, text, member: { note: text } });

const KINDS: Readonly<Record<string, () => Planted>> = {
  password: () => named('password', `${random(5)}/+!${random(5)}`),
  'API key': () => named('apiKey', random(24)),
  'JSON web token': () => plain(`eyJ${random(20)}1.${random(40)}.${random(30)}`),
  'AWS key': () => plain(`AKIA${random(15, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ')}7`),
  'GitHub token': () => plain(`ghp_${random(35)}1`),
  'private key': () => {
    const lines = [random(64), random(64), random(20)];
    const text = `-----BEGIN PRIVATE KEY-----\n${lines.join('\n')}\n-----END PRIVATE KEY-----`;
    return within(text, lines[1] as string);
  },
  'card number': () => plain(card()),
  'bearer value': () => {
    const secret = random(30);
    return within(`Bearer ${secret}`, secret);
  },
  'URL with credentials': () => {
    const secret = `${random(9)}7`;
    return within(`https://ada:${secret}@example.com/a`, secret);
  },
  cookie: () => {
    const secret = random(32);
    return within(`Cookie: sid=${secret}; theme=dark`, secret);
  },
};

/** What a call is made of. The tool echoes texts in its error, after an effect and a question. */
interface Call {
  readonly args?: object;
  readonly meta?: JsonObject;
  readonly answer?: JsonObject;
  readonly message?: string;
  readonly effect?: unknown;
  readonly error?: string;
  readonly client?: ConnectOptions;
  readonly uri?: string;
}

const claims = (value: unknown): ConnectOptions => ({
  principal: { subject: 'ada@example.com', claims: { credentials: value, hidden: value } } as Principal,
});

/** All places where data enters a recording. */
const PLACES: Readonly<Record<string, (planted: Planted) => Call>> = {
  argument: ({ member }) => ({ args: member }),
  'nested argument': ({ member }) => ({ args: { a: [{ b: [member] }] } }),
  sentence: ({ text }) => ({ args: { note: `See this: ${text} and so on` } }),
  'JSON in a text': ({ member }) => ({ args: { body: JSON.stringify({ a: member }) } }),
  'JSON in JSON in a text': ({ member }) => ({ args: { body: JSON.stringify({ body: JSON.stringify([member]) }) } }),
  'name of an argument': ({ text }) => ({ args: { map: { [text]: 1 } } }),
  meta: ({ member }) => ({ meta: { 'shop/x': member } }),
  answer: ({ member }) => ({ answer: { action: 'accept', content: { ...member } } }),
  question: ({ text }) => ({ message: `Do you mean ${text} ?` }),
  effect: ({ member }) => ({ effect: member }),
  'effect that is a text': ({ text }) => ({ effect: `got ${text}` }),
  'claim of the caller': ({ member }) => ({ client: claims(member) }),
  'subject of the caller': ({ secret }) => ({ client: { principal: { subject: secret } } }),
  'name of the client': ({ text }) => ({ client: { clientInfo: { name: text, version: text } } }),
  error: ({ text }) => ({ error: `Can't use ${text} here` }),
  'error that repeats an argument': ({ member, secret }) => ({ args: member, error: `Wrong: ${secret}.` }),
  'error in a URL': ({ member, secret }) => ({ args: member, error: `/a?b=${encodeURIComponent(secret)}` }),
  'error in Base64': ({ member, secret }) => ({
    args: member,
    error: ['', 'x', 'xy'].map((before) => Buffer.from(`${before}${secret}z`).toString('base64')).join(' '),
  }),
  'error as JSON': ({ member, secret }) => ({ args: member, error: JSON.stringify(JSON.stringify(secret)) }),
  uri: ({ text }) => ({ uri: `echo://a/${encodeURIComponent(text)}?${text.replaceAll(/\s/g, '')}` }),
};

/** A server with a tool and a resource that fail. */
function echo(options: Partial<RecorderOptions> = {}, call: Call = {}) {
  const server = new McpServer({
    name: 'echo',
    version: '1.0.0',
    logger: { warn() {}, error() {} },
    plugins: [recorder({ folder, claims: ['credentials'], ...options })],
  });
  const input = { type: 'object', additionalProperties: true } as const;
  server.addTool({ name: 'echo', description: 'Echoes', input }, async (_input: unknown, ctx: Context) => {
    if (call.effect !== undefined) await ctx.once('effect', () => call.effect as string);
    if (call.message ?? call.answer) await ctx.confirm(call.message ?? 'Sure?');
    throw new ToolError(call.error ?? 'It failed');
  });
  server.addMembers([{ kind: 'resource', key: 'page', options: { uri: 'echo://{+path}', description: 'Echoes' } }], {
    page: () => undefined,
  });
  return server;
}

async function record(call: Call, options: Partial<RecorderOptions> = {}): Promise<string> {
  const server = echo(options, call);
  const client = await connect(server, {
    era: 'stateless',
    ...call.client,
    onElicit: () => (call.answer ?? { action: 'accept' }) as never,
  });
  if (call.uri === undefined) await client.callTool('echo', call.args, { meta: call.meta ?? {} });
  else await client.readResource(call.uri).catch(() => {});
  await client.close();
  await server.close();
  const files = readdirSync(folder);
  expect(files).toHaveLength(1);
  return readFileSync(join(folder, files[0] as string), 'utf8');
}

/** How a secret may be written. Its middle, too: a part of it must not be left. */
function writings(secret: string): readonly string[] {
  const json = (text: string) => JSON.stringify(text).slice(1, -1);
  const middle = secret.slice(4, -2);
  const encoded = ['', 'x', 'xy'].flatMap((before) => {
    const text = Buffer.from(before + secret).toString('base64');
    const inner = text.slice(before === '' ? 0 : 4, -4);
    return [inner, inner.replaceAll('+', '-').replaceAll('/', '_')];
  });
  return [secret, middle, json(secret), json(json(secret)), encodeURIComponent(secret), ...encoded];
}

describe.each(Object.entries(KINDS))('a %s in a recording', (_kind, plant) => {
  it.each(Object.entries(PLACES))('is replaced: %s', async (_place, callOf) => {
    const planted = plant();
    const text = await record(callOf(planted));
    const found = writings(planted.secret).filter((each) => text.includes(each));
    expect(found).toEqual([]);
    expect((JSON.parse(text) as Recording).redacted).toBeGreaterThan(0);
  });
});

describe('placeholders', () => {
  it('are of the same type and shape, and equal for equal secrets', async () => {
    const args = {
      password: 'Sécret-42',
      again: { password: 'Sécret-42' },
      token: 'a3bb189e-8bf9-4c88-9912-ace4e6543002',
      secretMail: 'ada@example.com',
      secretCode: 123_456,
      card: 4_111_111_111_111_111,
      note: 'Sécret-42 and ada@example.com',
      maxTokens: 4096,
      city: 'Oslo',
    };
    const { params } = JSON.parse(await record({ args })) as Recording;
    const kept = params?.['arguments'] as typeof args;
    expect(kept).toMatchObject({ maxTokens: 4096, city: 'Oslo' });
    expect(kept.password).toMatch(/^[A-Z][a-z]{5}-\d\d$/);
    expect(kept.again.password).toBe(kept.password);
    expect(kept.token).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-9[\da-f]{3}-[\da-f]{12}$/);
    expect(kept.secretMail).toMatch(/^[a-z]{3}@[a-z]{7}\.[a-z]{3}$/);
    expect(kept.note).toBe(`${kept.password} and ${kept.secretMail}`);
    expect(String(kept.secretCode)).toMatch(/^[1-9]\d{5}$/);
    expect(kept.secretCode).not.toBe(123_456);
    expect(String(kept.card)).toMatch(/^41\d{14}$/);
    expect(kept.card).not.toBe(4_111_111_111_111_111);
  });

  it('hide secrets that are written in escapes, and those between dashes', async () => {
    const note = 'password=%68%75%6e%74%65%72%32 and {"token":"\\u0068\\u0075\\u006e\\u0074\\u0065\\u0072"}';
    const text = await record({ args: { note, secret: '-----TOPSECRET-----' } });
    expect(text).toMatch(/password=(?:%4[1-9]){7} and/);
    for (const secret of ['%68%75', 'u0068', 'TOPSECRET']) expect(text).not.toContain(secret);
  });

  it('are others in each recording, so that nobody can find out a secret by trying', async () => {
    const call = { args: { password: 'hunter2hunter2' } };
    const first = JSON.parse(await record(call)) as Recording;
    for (const each of readdirSync(folder)) rmSync(join(folder, each));
    const second = JSON.parse(await record(call)) as Recording;
    expect(first.params).not.toEqual(second.params);
  });

  it('also stand for what the user names', async () => {
    const redact = {
      names: ['ssn', /^customer/],
      patterns: [/\bCUST-\d+/],
      find: (text: string) => text.match(/Ada \w+/g) ?? [],
    };
    const args = { SSN: '078-05-1120', customerName: 'Grace', note: 'CUST-12345 of Ada Lovelace in Oslo' };
    const text = await record({ args }, { redact });
    for (const secret of ['078-05-1120', 'Grace', 'CUST-12345', 'Lovelace']) expect(text).not.toContain(secret);
    expect(text).toContain('in Oslo');
  });

  it('leave the caller who is allowed, and only the claims that are', async () => {
    const principal = {
      subject: 'ada@example.com',
      scopes: ['shop'],
      claims: { tenant: 'blue', mail: 'x@example.com' },
    };
    const call = { client: { principal } };
    const recording = JSON.parse(await record(call, { subject: true, claims: ['tenant'] })) as Recording;
    expect(recording.principal).toEqual({ subject: 'ada@example.com', scopes: ['shop'], claims: { tenant: 'blue' } });
  });

  it('let the call fail again with the same cause', async () => {
    await record({ args: { password: 'hunter2hunter2' }, message: 'Is it ghp_abcdefghijklmnopqrst1 ?' });
    const [file] = readdirSync(folder) as [string];
    const server = echo({}, { message: 'Sure?' });
    expect((await replayOf(join(folder, file), { server })).differences).toEqual([]);
    await server.close();
  });
});

describe('hostile arguments', () => {
  const deep = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;

  it.each([
    ['have too many bytes', { note: 'x'.repeat(5000) }, 4096],
    ['are nested too deeply in a text', { body: deep(150) }, 100_000],
    ['have too many secrets', { tokens: Array.from({ length: 600 }, (_, at) => `secret-${at}`) }, 100_000],
  ])('are cut if they %s, and the call is not replayed', async (_what, args, maxBytes) => {
    const text = await record({ args }, { maxBytes });
    const recording = JSON.parse(text) as Recording;
    expect(recording.cut).toContain('params');
    expect(recording.params).toBeUndefined();
    expect(recording.outcome.cause).toBe('expected');
    expect(text.length).toBeLessThan(4096);
    const [file] = readdirSync(folder) as [string];
    await expect(replayOf(join(folder, file), { server: echo() })).rejects.toThrow("can't be replayed: it was cut");
  });

  it('with JSON that sets a prototype keep no secret', async () => {
    const text = await record({ args: { body: '{"__proto__":{"password":"hunter2hunter2"},"x":1}' } });
    expect(text).toContain('__proto__');
    expect(text).not.toContain('hunter2hunter2');
  });
});
