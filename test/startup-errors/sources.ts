import { proxy } from '@decorum/client';
import { Prompt, Tool } from '@decorum/core';

import { type Mistakes, serverOf, start, untyped } from './table.js';

const SOURCE = 'proxy(https://mcp.example.com)';

/** Adds members from outside, each with a handler. */
const adding =
  (records: unknown, options: object = {}) =>
  () => {
    const server = serverOf([]);
    server.addTool({ name: 'pay' }, () => 'ours');
    const add = untyped<unknown>(server.addMembers.bind(server));
    return add(records, { pay: () => '', constructor: () => '' }, { source: SOURCE, ...options });
  };

/** Adds an entry of another server, of the kind that its fields tell. */
const relaying = (entry: unknown, options: object = {}, kind = 'tool') =>
  adding([{ kind, key: 'pay', entry }], options);

const AMOUNT = {
  type: 'object',
  properties: { amount: { type: 'integer' }, note: { type: 'string' } },
  anyOf: [{ required: ['note'] }, {}],
};

/** Creates a proxy. */
const proxying = (options: object) => () => proxy('https://mcp.example.com', options);

const inputSchema = { type: 'object' };
const publicTool = { kind: 'tool', key: 'pay', options: { name: 'a', public: true } };

class Billing {
  @Tool({ input: AMOUNT }) pay() {}

  @Prompt() remind() {
    return '';
  }

  @Tool({ public: true }) list() {}
}

/** Serves a provider with this transform. */
const transforming = (transform: unknown) => start({ provider: Billing, transform });

/** Members from outside. */
export const SOURCES: Mistakes = {
  DECORUM_DUPLICATE_NAME: [
    [
      'a tool of another server whose name is taken',
      relaying({ name: 'pay', inputSchema }),
      `addTool.pay and ${SOURCE}.pay. Give ${SOURCE} a \`prefix\`, or rename the member in its \`transform\``,
    ],
  ],
  DECORUM_INVALID_NAME: [
    ['a new name with a blank', transforming({ pay: { name: 'p ay' } }), 'from A–Z, a–z, 0–9, "_", "-" and "."'],
    [
      'names of another server with blanks, or too long with the prefix',
      [relaying({ name: 'p a y', inputSchema }), relaying({ name: 'p'.repeat(128), inputSchema }, { prefix: 'x' })],
      `${SOURCE}.pay: ... from A–Z, a–z, 0–9, "_", "-" and "."`,
    ],
  ],
  DECORUM_BAD_URI: [
    [
      'URIs of another server without a scheme',
      [relaying({ name: 'a', uri: '/a' }, {}, 'resource'), relaying({ name: 'a', uriTemplate: '{a}' }, {}, 'resource')],
      `${SOURCE}.pay: ... Correct the entry, or leave it out`,
    ],
  ],
  DECORUM_BAD_TEMPLATE: [
    [
      'a template of another server that is none',
      relaying({ name: 'a', uriTemplate: 'a://{b' }, {}, 'resource'),
      `${SOURCE}.pay: "a://{b" ... Write variables as in "docs://{id}" or "docs://{+path}"`,
    ],
  ],
  DECORUM_INVALID_HEADER: [
    [
      'a mirrored header of another server that is none',
      relaying({ name: 'a', inputSchema: { ...inputSchema, properties: { a: { 'x-mcp-header': 'a b' } } } }),
      `${SOURCE}.pay: ... put it on a string, integer or boolean property`,
    ],
  ],
  DECORUM_INVALID_OPTION: [
    [
      'tools of another server that clients reject',
      [relaying({ name: 'a' }), relaying({ name: 'a', inputSchema: { type: 'array' } })],
      `${SOURCE}.pay: \`entry.inputSchema\` is not a schema with \`type: "object"\`. Correct the entry, or leave it out`,
    ],
    [
      'an output schema of another server that is none',
      relaying({ name: 'a', inputSchema, outputSchema: [] }),
      '`entry.outputSchema` is not a schema. Correct the entry, or leave it out',
    ],
    [
      'text of another server that is none',
      [relaying({ inputSchema }), relaying({ name: 'a', description: 5 }, {}, 'prompt')],
      'is not a string. Correct the entry, or leave it out',
    ],
    ['an entry that is no object', relaying('pay'), '`entry` is not an object. Pass the entry of the tool'],
    [
      'arguments of a prompt without names',
      relaying({ name: 'a', arguments: [{}] }, {}, 'prompt'),
      '`entry.arguments` is not a list of arguments with names. Correct the entry, or leave it out',
    ],
    [
      'members without handlers, or with what every object inherits',
      [adding([{ kind: 'tool', key: 'b', options: {} }]), adding([{ kind: 'tool', key: 'toString', options: {} }])],
      '`handlers` has no function for ... Add it',
    ],
    ['one record instead of a list', adding(publicTool), '`records` is not an array. Pass `[{ kind, key, options }]`'],
    [
      'a public member of a source with scopes',
      adding([publicTool], { scopes: ['read'] }),
      `${SOURCE}.pay: \`public\` is true, but ... Remove it, or the \`scopes\` of its provider`,
    ],
    [
      'a transform that is none',
      [transforming([]), transforming('pay'), transforming(null), adding([], { transform: 1 })],
      "`transform` is not an object. Write `transform: { pay: { name: 'pay_invoice' }, refund: false }`, or a function",
    ],
    [
      'transforms of one provider, twice',
      start({ provider: { provider: Billing, transform: {} }, transform: {} }),
      '`transform` is given twice. Write one function that makes both changes',
    ],
    [
      'a change of a member that is not there',
      transforming({ pays: false }),
      'Billing: `transform` has "pays", which is no member. Use the known ones: "remind", "pay", "list"',
    ],
    [
      'a fixed argument that is not there',
      transforming({ pay: { fix: { currency: 'EUR' } } }),
      'Billing.pay (transform): `fix` has "currency", which is no argument. Use the known ones: "amount", "note"',
    ],
    [
      'a fixed argument that does not fit its schema',
      transforming({ pay: { fix: { amount: 'EUR' } } }),
      '`fix` does not fit the schema: amount must be an integer. Correct the value',
    ],
    [
      'a fixed argument that other keywords name',
      transforming({ pay: { fix: { note: 'x' } } }),
      '`fix` has "note", which `anyOf` of the schema may name too. Leave it to the client',
    ],
    [
      'an argument of a prompt, fixed without one',
      transforming({ remind: { fix: { tone: 'kind' } } }),
      '`fix` has "tone", which is no argument. Use the known ones: none',
    ],
    [
      'changes that prompts cannot have',
      [transforming({ remind: { annotations: {} } }), transforming({ remind: { outputSchema: false } })],
      'is not for a prompt. Remove it',
    ],
    ['a change with a misspelled option', transforming({ pay: { nam: 'x' } }), '`nam` is not an option. Write `name`'],
    [
      'scopes for a public member',
      transforming({ list: { scopes: ['a'] } }),
      'Billing.list (transform): `scopes` are given, but the member is `public`. Remove one of them',
    ],
    ['an unknown option of a proxy', proxying({ prefx: 'geo' }), '`prefx` is not an option. Write `prefix`'],
    ['a choice that a proxy lacks', proxying({ whenDown: 'hide' }), "is 'hide', but must be 'keep' or 'empty'"],
    [
      'a prefix that names cannot have',
      proxying({ prefix: 'a b' }),
      'must be up to 64 characters from A–Z, a–z, 0–9, "_", "-" and "."',
    ],
    [
      'a filter that is one name',
      proxying({ filter: { tools: 'locate' } }),
      'must be a list of names, or a function. Write ... for example',
    ],
    ['a pin that is no digest', proxying({ pin: 'sha256-1' }), "must be 'digest', or what `contractDigest` returns"],
    ['a pin of lists of callers', proxying({ pin: 'digest', lists: 'caller' }), "Remove it, or `lists: 'caller'`"],
    ['a process of a URL', proxying({ process: 'session' }), '`process` is for programs. Remove it'],
    ['a revision that does not exist', proxying({ revision: '1.0' }), "is '1.0'. Pass one of ... '2026-07-28'"],
    ['a segment with a slash', adding([], { uriPrefix: 'a/b' }), '`uriPrefix` is "a/b", but must be ... Correct it'],
  ],
};
