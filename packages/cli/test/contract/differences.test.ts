import { describe, expect, it } from '@jest/globals';

import { differences } from '../../src/contract/differences.js';
import { contract, linesBetween, object } from './contracts.js';

const INPUT = object({ query: { type: 'string' } });
const tool = (name: string, more: object = {}) => ({ name, inputSchema: INPUT, ...more });
const tools = (before: object, after: object) =>
  linesBetween({ tools: [{ ...tool('list_bills'), ...before }] }, { tools: [{ ...tool('list_bills'), ...after }] });

describe('a tool', () => {
  it('that is gone breaks clients, and so does one of its other names', () => {
    expect(linesBetween({ tools: [tool('list_bills', { aliases: ['bills'] })] }, { tools: [] })).toEqual([
      'breaking bills: the alias of list_bills is gone',
      'breaking list_bills: the tool is gone',
    ]);
  });

  it('that was renamed should keep its old name as an alias', () => {
    expect(linesBetween({ tools: [tool('list_bills')] }, { tools: [tool('search_invoices'), tool('pay')] })).toEqual([
      "breaking list_bills: the tool is gone → add aliases: ['list_bills'] to search_invoices",
      'widening search_invoices: the tool is new',
      'widening pay: the tool is new',
    ]);
    expect(
      linesBetween({ tools: [tool('list_bills')] }, { tools: [tool('search_invoices', { aliases: ['list_bills'] })] }),
    ).toEqual(['widening list_bills: is called search_invoices now; the old name is an alias']);
  });

  it('that was renamed is still compared', () => {
    const renamed = {
      name: 'search',
      aliases: ['list_bills'],
      inputSchema: object({ query: { type: 'string' } }, 'query'),
    };
    expect(linesBetween({ tools: [tool('list_bills')] }, { tools: [renamed] })).toContain(
      'breaking list_bills: argument "query" is now required',
    );
  });

  it('breaks clients if its calls only show a plan now, or act at once', () => {
    const planning = { preview: true, inputSchema: object({ query: { type: 'string' }, ticket: { type: 'string' } }) };
    const listed = { inputSchema: planning.inputSchema };
    expect(tools({}, planning)).toContain(
      'breaking list_bills: a call only shows a plan now, and does nothing without its ticket',
    );
    expect(tools(planning, {})).toContain('breaking list_bills: a call acts at once now, and shows no plan before');
    expect([tools(planning, planning), tools(listed, planning), tools(planning, listed)]).toEqual([[], [], []]);
  });

  it('is not taken for a new one that only takes nothing, too', () => {
    const nothing = { inputSchema: { type: 'object' } };
    expect(linesBetween({ tools: [tool('list_bills', nothing)] }, { tools: [tool('refund', nothing)] })).toEqual([
      'breaking list_bills: the tool is gone',
      'widening refund: the tool is new',
    ]);
  });

  it.each([
    ['reads no longer only', { readOnlyHint: true }, {}, 'breaking list_bills: readOnlyHint is no longer true'],
    [
      'may destroy, by default',
      { destructiveHint: false },
      {},
      'breaking list_bills: destructiveHint is no longer false',
    ],
    [
      'may not be repeated',
      { idempotentHint: true },
      { idempotentHint: false },
      'breaking list_bills: idempotentHint is no longer true',
    ],
    ['reaches out, by default', { openWorldHint: false }, {}, 'breaking list_bills: openWorldHint is no longer false'],
    ['only reads now', {}, { readOnlyHint: true }, 'widening list_bills: readOnlyHint is true now'],
    ['has another title', { title: 'A' }, { title: 'B' }, 'wording list_bills: has another title in its annotations'],
  ])('that %s', (_title, before, after, line) => {
    expect(tools({ annotations: before }, { annotations: after })).toEqual([line]);
  });

  it('has hints that say what holds anyway', () => {
    expect(tools({}, { annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true } })).toEqual([]);
    const reads = { readOnlyHint: true };
    expect(tools({ annotations: { ...reads, idempotentHint: true } }, { annotations: reads })).toEqual([]);
  });

  it.each([
    ['returns structured results', {}, { outputSchema: INPUT }, 'widening list_bills: returns structured results now'],
    ['returns none any more', { outputSchema: INPUT }, {}, 'breaking list_bills: no longer returns structured results'],
    [
      'has another description',
      { description: 'a' },
      { description: 'b' },
      'wording list_bills: has another description',
    ],
    ['has other metadata', {}, { _meta: { a: 1 } }, 'wording list_bills: has metadata now'],
    ['is on no list', {}, { listed: false }, 'wording list_bills: is on no list any more, but still answers'],
    ['has another name, too', {}, { aliases: ['bills'] }, 'widening list_bills: can also be called bills'],
    [
      'runs as a task only',
      { execution: { taskSupport: 'optional' } },
      { execution: { taskSupport: 'required' } },
      'breaking list_bills: can no longer be called without a task',
    ],
    [
      'runs as a task, too',
      {},
      { execution: { taskSupport: 'optional' } },
      'widening list_bills: can be called as a task now',
    ],
  ])('that %s', (_title, before, after, line) => {
    expect(tools(before, after)).toEqual([line]);
  });
});

describe('a header of an argument', () => {
  const input = (header: object) => ({ inputSchema: object({ region: { type: 'string', ...header } }) });
  const EU = { 'x-mcp-header': 'Region' };

  it('breaks clients that do not send it yet, and nobody once it is gone', () => {
    expect(tools(input({}), input(EU))).toEqual([
      'breaking list_bills: argument "region" must now be repeated in the header Mcp-Param-Region',
    ]);
    expect(tools(input(EU), input({ 'x-mcp-header': 'Area' }))).toHaveLength(1);
    expect(tools(input(EU), input({ 'x-mcp-header': 'region' }))).toEqual([]);
    expect(tools(input(EU), input({}))).toEqual([]);
    expect(tools({ inputSchema: object({}) }, input(EU))).toEqual(['widening list_bills: argument "region" is new']);
  });
});

describe('a prompt', () => {
  const prompts = (before: readonly object[], after: readonly object[]) =>
    linesBetween(
      { prompts: [{ name: 'remind', arguments: before }] },
      { prompts: [{ name: 'remind', arguments: after }] },
    );

  it('is compared by its arguments', () => {
    const before = [{ name: 'a' }, { name: 'b', required: true }, { name: 'c' }, { name: 'd', description: 'x' }];
    const after = [
      { name: 'a', required: true },
      { name: 'b' },
      { name: 'd' },
      { name: 'e' },
      { name: 'f', required: true },
    ];
    expect(prompts(before, after)).toEqual([
      'breaking remind: argument "a" is now required',
      'breaking remind: argument "c" is gone',
      'breaking remind: argument "f" is now required',
      'widening remind: argument "b" is no longer required',
      'widening remind: argument "e" is new',
      'wording remind: argument "d" has no description any more',
    ]);
  });

  it('may be gone', () => {
    expect(linesBetween({ prompts: [{ name: 'remind' }] }, {})).toEqual(['breaking remind: the prompt is gone']);
  });
});

describe('a resource', () => {
  const resource = (uri: string, more: object = {}) => ({ uri, name: 'terms', ...more });
  const between = (before: object, after: object) =>
    linesBetween({ resources: [resource('a://terms', before)] }, { resources: [resource('a://terms', after)] });

  it('is known by its URI', () => {
    expect(linesBetween({ resources: [resource('a://terms')] }, { resources: [resource('a://rules')] })).toEqual([
      'breaking a://terms: the resource has another URI: a://rules',
      'widening a://rules: the resource is new',
    ]);
    expect(linesBetween({ resources: [resource('a://terms')] }, {})).toEqual([
      'breaking a://terms: the resource is gone',
    ]);
    expect(
      linesBetween(
        { resources: [resource('a://terms')] },
        { resourceTemplates: [{ uriTemplate: 'a://{page}', name: 'x' }] },
      ),
    ).toEqual([
      'widening a://{page}: the template is new',
      'wording a://terms: is on no list any more, but a://{page} serves it',
    ]);
  });

  it('keeps its type', () => {
    expect(between({ mimeType: 'text/plain' }, { mimeType: 'text/html' })).toEqual([
      'breaking a://terms: is text/html now, and was text/plain',
    ]);
    expect(between({ mimeType: 'text/plain' }, {})).toHaveLength(1);
    expect(between({}, { mimeType: 'text/plain' })).toEqual(['widening a://terms: says that its type is text/plain']);
    expect(between({}, { name: 'rules', size: 3 })).toEqual([
      'wording a://terms: has another name',
      'wording a://terms: has a size now',
    ]);
  });
});

describe('a template', () => {
  const between = (before: string, after: string) =>
    linesBetween(
      { resourceTemplates: [{ uriTemplate: before, name: 'x' }] },
      { resourceTemplates: [{ uriTemplate: after, name: 'x' }] },
    );

  it.each([
    ['a://{id}', 'a://{id}{?page}', 'widening a://{id}: is a://{id}{?page} now, which serves the same URIs'],
    ['a://{id}', 'a://{key}', 'breaking a://{id}: its variables have other names: it is a://{key} now'],
    ['a://{id}{?page}', 'a://{id}', 'breaking a://{id}{?page}: the template is gone'],
    ['a://{id}', 'b://{id}', 'breaking a://{id}: the template is gone'],
    ['a://{+path}', 'a://{path}', 'breaking a://{+path}: the template is gone'],
    ['a://{path}', 'a://{+path}', 'widening a://{path}: is a://{+path} now, which serves the same URIs'],
  ])('%s that becomes %s', (before, after, line) => {
    expect(between(before, after)[0]).toBe(line);
  });
});

describe('a contract', () => {
  it('breaks with a revision that is gone, and grows with a new one', () => {
    const lines = differences(contract({}, ['2025-03-26', '2025-06-18']), contract({}, ['2025-06-18', '2025-11-25']));
    expect(lines).toEqual([
      { class: 'breaking', member: '2025-03-26', path: 'revisions', why: 'the revision is no longer served' },
      { class: 'widening', member: '2025-11-25', path: 'revisions', why: 'the revision is served now' },
    ]);
  });

  it('names revisions only if a change is not in all that could have it', () => {
    const [before, after] = [
      contract({ tools: [tool('a', { title: 'A' })] }),
      contract({ tools: [tool('a', { title: 'B' })] }),
    ];
    const [older, newer] = Object.keys(before.revisions) as [string, string];
    const mixed = { ...after, revisions: { ...after.revisions, [older]: before.revisions[older] as never } };
    expect(differences(before, after).map(({ why }) => why)).toEqual(['has another title']);
    expect(differences(before, mixed).map(({ why }) => why)).toEqual([`has another title (in ${newer})`]);
    const without = { ...before.revisions, [older]: contract({ tools: [tool('a')] }).revisions[older] as never };
    // the older revision has no titles
    expect(
      differences(
        { ...before, revisions: without },
        { ...after, revisions: { ...after.revisions, [older]: without[older] as never } },
      ).map(({ why }) => why),
    ).toEqual(['has another title']);
  });

  it('has JSON paths beside the words', () => {
    const [found] = differences(
      contract({ tools: [{ name: 'pay', inputSchema: object({}) }] }),
      contract({ tools: [{ name: 'pay', inputSchema: object({ currency: { type: 'string' } }, 'currency') }] }),
    );
    expect(found).toEqual({
      class: 'breaking',
      member: 'pay',
      path: 'arguments.currency',
      why: 'argument "currency" is now required',
    });
  });
});
