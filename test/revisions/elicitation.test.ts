// Forms and visits that handlers ask for.
import { describe, expect } from '@jest/globals';
import { type Context, Describe, type JsonObject, needInput } from '@decorum/core';
import * as v from 'class-validator';
import fc from 'fast-check';
import { z } from 'zod';

import { cpuMs } from '../support/cpu.js';
import { type Answer, RawClient, textOf } from '../support/raw-client.js';
import {
  eachRevision,
  eachSessionRevision,
  itShows,
  type Revision,
  REVISIONS,
  STATELESS,
} from '../support/requirements.js';
import { ask as askAny, type Asking, type AskOptions } from './asking.js';
import { serverWith } from './servers.js';

const FORM = { elicitation: {} };
const BOTH = { elicitation: { form: {}, url: {} } };
const NAME: JsonObject = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };

/** Calls a tool that asks a client with both modes. */
const ask = (revision: Revision, question: Asking, options: Partial<AskOptions> = {}) =>
  askAny(revision, question, { capabilities: BOTH, ...options });

const form =
  (schema: JsonObject = NAME) =>
  (context: Context) =>
    context.elicit(schema, { message: 'Who are you?' });
const visit = (url: string) => (context: Context) => context.elicitUrl({ message: 'Please sign in', url });
const accept =
  (content?: unknown): Answer =>
  () => ({ result: { action: 'accept', ...(content !== undefined && { content }) } });

/** The ways to ask for a form. */
const FORMS: readonly Asking[] = [form(), (context) => context.confirm('Sure?')];

describe('elicitation', () => {
  eachRevision('ELIC-05', 'has a flat form of primitives', async (revision) => {
    const properties = {
      name: { type: 'string', minLength: 2, maxLength: 10 },
      mail: { type: 'string', format: 'email' },
      site: { type: 'string', format: 'uri' },
      born: { type: 'string', format: 'date' },
      wakes: { type: 'string', format: 'date-time' },
      age: { type: 'integer', minimum: 0, maximum: 150 },
      size: { type: 'number' },
      news: { type: 'boolean' },
    };
    const schema = { type: 'object', properties, required: ['name'] };
    const { questions } = await ask(revision, form(schema), { answer: () => ({ result: { action: 'cancel' } }) });
    expect(questions).toMatchObject([{ params: { requestedSchema: schema } }]);
    const nested = [{ type: 'object', properties: {} }, { type: 'array', items: { type: 'object' } }, { type: 'null' }];
    for (const deep of [...nested, {}]) {
      const wrong = await ask(revision, form({ type: 'object', properties: { deep } }));
      expect([deep, wrong.questions]).toEqual([deep, []]);
    }
    for (const format of ['ipv4', 'time', 'uuid', 'hostname', 'uri-reference', 'duration', 'idn-email']) {
      const odd = { type: 'object', properties: { code: { type: 'string', pattern: '^a$', format } } };
      const shown = await ask(revision, form(odd), { answer: () => ({ result: { action: 'cancel' } }) });
      const requestedSchema = { type: 'object', properties: { code: { type: 'string' } } };
      expect([format, shown.questions[0]?.params['requestedSchema']]).toEqual([format, requestedSchema]);
    }
  });

  const CHOICES: JsonObject = {
    type: 'object',
    properties: {
      size: {
        type: 'string',
        oneOf: [
          { const: 's', title: 'Small' },
          { const: 'l', title: 'Large' },
        ],
        default: 's',
      },
      days: {
        type: 'array',
        items: {
          anyOf: [
            { const: 'sat', title: 'Saturday' },
            { const: 'sun', title: 'Sunday' },
          ],
        },
      },
      name: { type: 'string', default: 'Ada' },
      age: { type: 'integer', minimum: 0, default: 36 },
      height: { type: 'number', default: 1.5 },
      news: { type: 'boolean', default: true },
      ads: { type: 'boolean', default: false },
    },
  };

  eachSessionRevision('ELIC-06', 'has only choices and defaults of the revision', async (revision) => {
    const answer = accept({ size: 'l', 'days: sat': false, 'days: sun': true, name: 'Grace', news: false });
    const { said, questions } = await ask(revision, form(CHOICES), { answer });
    expect(questions[0]?.params).toEqual({
      message: 'Who are you?',
      requestedSchema: {
        type: 'object',
        properties: {
          size: { type: 'string', enum: ['s', 'l'], enumNames: ['Small', 'Large'] },
          'days: sat': { type: 'boolean', title: 'days: Saturday' },
          'days: sun': { type: 'boolean', title: 'days: Sunday' },
          name: { type: 'string' },
          age: { type: 'integer', minimum: 0 },
          height: { type: 'number' },
          news: { type: 'boolean', default: true },
          ads: { type: 'boolean', default: false },
        },
      },
    });
    expect(JSON.parse(said)).toEqual({
      action: 'accept',
      content: { size: 'l', days: ['sun'], name: 'Grace', news: false },
    });
  });

  eachRevision('ELIC-07', 'has titled choices, multiple choices, and defaults', async (revision) => {
    const content = { size: 'l', days: ['sun'], name: 'Grace', news: false };
    const { said, questions } = await ask(revision, form(CHOICES), { answer: accept(content) });
    expect(questions).toMatchObject([{ params: { requestedSchema: CHOICES } }]);
    expect(JSON.parse(said)).toEqual({ action: 'accept', content });
  });

  eachRevision('ELIC-07', 'has limits and defaults that are zero or empty', async (revision) => {
    const properties = {
      name: { type: 'string', minLength: 0, default: '' },
      age: { type: 'integer', minimum: 0, default: 0 },
      debt: { type: 'number', maximum: 0, default: 0 },
      news: { type: 'boolean', default: false },
      days: { type: 'array', minItems: 0, items: { type: 'string', enum: ['sat', ''] }, default: [] },
      size: { type: 'string', enum: ['', 's'], default: '' },
    };
    const { questions } = await ask(revision, form({ type: 'object', properties }), { answer: accept({}) });
    expect(questions[0]?.params['requestedSchema']).toEqual({ type: 'object', properties });
  });

  eachRevision('ELIC-09', 'rejects an answer that breaks a rule of the author', async (revision) => {
    const checked: string[] = [];
    const rule = async ({ name }: { name: string }) => {
      checked.push(name);
      return name !== 'taken';
    };
    const free = z.object({ name: z.string() }).refine(rule, 'is taken');
    const pick = (context: Context) => context.elicit(free, { message: 'Which name?' });
    const right = await ask(revision, pick, { answer: accept({ name: 'free' }) });
    expect(right.said).toBe('{"action":"accept","content":{"name":"free"}}');
    const wrong = await ask(revision, pick, { answer: accept({ name: 'taken' }) });
    expect(wrong.said).toMatch(/^ToolError: .*Which name\?/);
    // it may have side effects
    expect(checked).toEqual(['free', 'taken']);
    const atOnce = z.object({ name: z.string() }).refine(({ name }) => name !== 'taken', 'is taken');
    const asked: Asking = (context) => context.elicit(atOnce, { message: 'Which name?' });
    const { said } = await ask(revision, asked, { answer: accept({ name: 'taken' }) });
    expect(said).toMatch(revision === STATELESS ? /^asked again$/ : /^ToolError: .*Which name\?/);
  });

  eachRevision('ELIC-09', 'costs a bounded amount of work to reject', async (revision) => {
    const choices = Array.from({ length: 200 }, (_, n) => `choice ${n}`);
    const one = { type: 'string', enum: choices };
    const schema: JsonObject = {
      type: 'object',
      properties: { one, ...(revision > '2025-06-18' && { many: { type: 'array', items: one } }) },
      additionalProperties: false,
    };
    // compiles
    await ask(revision, form(schema), { answer: accept({ many: ['x'], one: 1, other: 1 }) });
    // 30 KB each
    for (const content of [
      { many: Array.from({ length: 10_000 }, () => 'x') },
      Object.fromEntries(Array.from({ length: 2500 }, (_, n) => [`field${n}`, 1])),
      { one: 'x'.repeat(30_000) },
      { one: { constructor: { prototype: Array.from({ length: 10_000 }, () => ({})) } } },
    ]) {
      const started = cpuMs();
      const { said } = await ask(revision, form(schema), { answer: accept(content) });
      expect(cpuMs() - started).toBeLessThan(200);
      expect(said).toMatch(revision === STATELESS ? /^asked again$/ : /^ToolError: /);
      expect(said.length).toBeLessThan(20_000);
    }
  });

  eachRevision('ELIC-10', 'has choices only as the form asks for them', async (revision) => {
    const items = { type: 'string', enum: ['a', 'b'] };
    const schema: JsonObject = { type: 'object', properties: { several: { type: 'array', items } } };
    // clients without multiple choice are shown a boolean for each choice
    const isFlat = revision === '2025-06-18';
    const right = isFlat ? { 'several: a': true, 'several: b': false } : { several: ['a'] };
    const { said } = await ask(revision, form(schema), { answer: accept(right) });
    expect(JSON.parse(said)).toEqual({ action: 'accept', content: { several: ['a'] } });
    const wrong = ['false', 'true', 'c', '', 0, 1, ['a'], {}];
    const contents = isFlat
      ? wrong.map((value) => ({ ...right, 'several: b': value }))
      : [
          ...wrong.map((value) => ({ several: [value] })),
          { several: 'a' },
          { several: true },
          { several: { a: true } },
        ];
    for (const content of contents) {
      const answered = await ask(revision, form(schema), { answer: accept(content) });
      const rejected = revision === STATELESS ? /^asked again$/ : /^ToolError: .*several/;
      expect([content, answered.said]).toEqual([content, expect.stringMatching(rejected)]);
    }
  });

  eachRevision('ELIC-25', 'is a form if the client declares no mode', async (revision) => {
    // the first revision with forms has no modes
    const params = { message: 'Who are you?', requestedSchema: NAME };
    const ways: Asking[] = [...FORMS];
    for (const mode of [{}, { mode: 'form' }]) {
      const request = { method: 'elicitation/create', params: { ...mode, ...params } } as const;
      ways.push(async (context) => (context.answers ? 'answered' : needInput({ a: request })));
    }
    for (const way of ways) {
      const server = serverWith({ ask: way });
      const answers = { 'elicitation/create': accept({ name: 'Ada' }) };
      for (const capabilities of [FORM, { elicitation: { form: {} } }]) {
        const client = await RawClient.connect(server, { revision, capabilities, answers });
        await client.call('ask');
        const [question] = client.questions;
        expect(client.questions).toHaveLength(1);
        if (revision === '2025-06-18') expect(Object.keys(question?.params ?? {}).sort()).toEqual(Object.keys(params));
        else expect(question?.params['mode'] ?? 'form').toBe('form');
      }
    }
  });
});

describe('elicitation by URL', () => {
  eachRevision(['ELIC-13', 'ELIC-14', 'ELIC-15'], 'has a safe URL, also one made for a visit', async (revision) => {
    const asking = (url: string): readonly Asking[] => [
      visit(url),
      (context) => context.elicitUrl({ message: 'Please sign in', url: () => url }),
      (context) => context.requireUrl({ message: 'Please sign in', url: () => url }),
    ];
    const hosts = 'example.com localhost.example.com localhostess example.localhost 127.0.0.1.example.com [::2]'.split(
      ' ',
    );
    const unsafe = ['ftp://example.com', 'javascript:alert(1)', 'file:///etc/passwd', 'https://ada@example.com'];
    unsafe.push('https://ada:secret@example.com', ...hosts.map((host) => `http://${host}/`));
    for (const url of ['', 'example.com', 'https://', 'https://exa mple.com', ...unsafe]) {
      for (const question of asking(url)) {
        const { said, questions } = await ask(revision, question, { answer: accept() });
        expect([url, questions, said]).toEqual([url, [], expect.stringMatching(/^TypeError/)]);
      }
    }
    for (const url of ['https://example.com/', 'http://localhost:3000/', 'http://127.0.0.1/', 'http://[::1]/']) {
      const { questions } = await ask(revision, visit(url), { answer: accept() });
      expect(questions).toMatchObject([{ params: { url } }]);
    }
  });
});

const each = { each: true };
const ANY = [v.IsOptional(), v.IsNotEmpty(), Describe({ title: 'Title', description: 'What it is' })];

/** Decorators, optional rules and initial values for each kind of field. */
const KINDS = [
  {
    is: [v.IsString()],
    rules: [
      v.IsIn(['a', 'b']),
      v.IsIn(['b', 'c']),
      v.Equals('a'),
      v.NotEquals('b'),
      v.IsNotIn(['c']),
      v.MinLength(1),
      v.MaxLength(9),
      v.Matches(/^[a-z]$/),
      v.Contains('a'),
      v.IsEmail(),
      v.IsUrl(),
      v.IsUUID(),
      v.IsIP(),
      v.IsDateString(),
      v.IsBooleanString(),
    ],
    initials: ['a', 'b'],
  },
  {
    is: [v.IsNumber(), v.IsInt()],
    rules: [
      v.IsIn([1, 2]),
      v.Equals(1),
      v.NotEquals(3),
      v.Min(0.5),
      v.Max(9),
      v.IsPositive(),
      v.IsDivisibleBy(1),
      v.IsInt(),
    ],
    initials: [1, 1.5],
  },
  { is: [v.IsBoolean()], rules: [v.Equals(true), v.IsIn([true]), v.NotEquals(false)], initials: [false, true] },
  { is: [v.IsDate()], rules: [], initials: [] },
  {
    is: [v.IsIn(['a', 'b'], each)],
    rules: [
      v.IsArray(),
      v.ArrayNotEmpty(),
      v.ArrayMaxSize(2),
      v.ArrayUnique(),
      v.ArrayContains(['a']),
      v.IsString(each),
      v.MinLength(1, each),
      v.Matches(/^[ab]$/, each),
      v.IsNotEmpty(each),
    ],
    initials: [['a'], ['b', 'a']],
  },
] as const;

/** Decorators and initial value of a field. */
interface Field {
  readonly rules: readonly PropertyDecorator[];
  readonly initial: unknown;
}

const aField: fc.Arbitrary<Field> = fc.constantFrom(...KINDS).chain(({ is, rules, initials }) =>
  fc
    .record({
      first: fc.constantFrom<PropertyDecorator[]>(...is),
      more: fc.subarray<PropertyDecorator>([...ANY, ...rules]),
      initial: fc.option(fc.constantFrom<unknown>(undefined, ...initials), { nil: undefined }),
    })
    .map(({ first, more, initial }) => ({ rules: [first, ...more], initial }))
    .filter((field) => isAccepted(field) && !isContradictory(field)),
);

/** Whether Decorum says that no value passes the rules of the field, such as those of a UUID that is "true" or "false". */
function isContradictory(field: Field): boolean {
  try {
    serverWith({}).addTool({ name: 'test', input: dtoOf([field]) }, () => 'ok');
    return false;
  } catch (error) {
    if (/no value passes its rules/.test((error as Error).message)) return true;
    throw error;
  }
}

/** Whether the initial value satisfies the rules of the field. If not, asking throws. */
function isAccepted({ rules, initial }: Field): boolean {
  class Dto {
    field0 = initial;
  }
  for (const rule of rules) rule(Dto.prototype, 'field0');
  return initial === undefined || v.validateSync(new Dto()).length === 0;
}

/** Creates a class with these fields. */
function dtoOf(fields: readonly Field[]): new () => object {
  class Dto {
    constructor() {
      for (const [index, { initial }] of fields.entries()) {
        if (initial !== undefined) Object.assign(this, { [`field${index}`]: initial });
      }
    }
  }
  for (const [index, { rules }] of fields.entries()) {
    for (const rule of rules) rule(Dto.prototype, `field${index}`);
  }
  return Dto;
}

describe('a form', () => {
  const cells = REVISIONS.slice(2).map((revision) => ['ELIC-05', revision] as const);
  itShows(cells, 'is valid for any rules of its class', async () => {
    let Dto: new () => object = dtoOf([]);
    const server = serverWith({
      ask: async (context: Context) => (await context.elicit(Dto, { message: 'Please' })).action,
    });
    const open = cells.map(([, revision]) =>
      RawClient.connect(server, {
        revision,
        capabilities: { elicitation: {} },
        answers: { 'elicitation/create': () => ({ result: { action: 'decline' } }) },
      }),
    );
    const clients = await Promise.all(open);
    const property = fc.asyncProperty(fc.array(aField, { minLength: 1, maxLength: 3 }), async (fields) => {
      Dto = dtoOf(fields);
      for (const client of clients) {
        const before = client.questions.length;
        expect(textOf(await client.call('ask'))).toBe('decline');
        expect(client.questions).toHaveLength(before + 1);
        // the client has validated the messages
        expect(client.problems.splice(0)).toEqual([]);
      }
    });
    await fc.assert(property, { numRuns: 100 });
  });
});
