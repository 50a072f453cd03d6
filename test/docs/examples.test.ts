// The `@example`s of doc comments. They may leave out imports of what the packages and class-validator export.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import * as auth from '@decorum/auth';
import * as authServer from '@decorum/auth-server';
import * as core from '@decorum/core';
import * as plugin from '@decorum/core/plugin';
import * as transport from '@decorum/core/transport';
import * as http from '@decorum/http';
import * as clusterEntry from '@decorum/http/cluster';
import * as fetchEntry from '@decorum/http/fetch';
import * as nestjs from '@decorum/nestjs';
import * as nodeEntry from '@decorum/http/node';
import * as schema from '@decorum/schema';
import * as testing from '@decorum/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import * as validator from 'class-validator';

import { expectNone, ROOT, SOURCES } from '../architecture/source.js';

const COMMENT =
  /\/\*\*\n((?: +\*(?!\/).*\n)+) +\*\/\n\s*(?:export )?(?:async |readonly )?(?:function |class |const )?(\w+)/g;

/** The code of the example of a doc comment: a block, or the rest of its line. */
function codeOf(comment: string): string | undefined {
  const text = comment.replaceAll(/^ +\* ?/gm, '');
  const block = /^@example\n```ts\n([^]*?)^```$/m.exec(text)?.[1];
  return block ?? /^@example (\S.*)$/m.exec(text)?.[1];
}

/** The code of every example, with what it is an example of. */
const EXAMPLES = SOURCES.flatMap(({ file, text }) =>
  [...text.matchAll(COMMENT)].flatMap(([, comment = '', of = '']) => {
    const code = codeOf(comment);
    return code === undefined ? [] : [{ file, of, code }];
  }),
);

/** Names that examples need not import, by module. */
const IMPORTED: readonly (readonly [module: string, names: readonly string[]])[] = [
  ['@decorum/core', Object.keys(core)],
  ['@decorum/schema', Object.keys(schema).filter((name) => !(name in core))],
  ['@decorum/core/plugin', Object.keys(plugin)],
  ['@decorum/core/transport', Object.keys(transport)],
  ['@decorum/http', Object.keys(http)],
  ['@decorum/auth', Object.keys(auth)],
  ['@decorum/auth-server', Object.keys(authServer)],
  ['@decorum/nestjs', Object.keys(nestjs)],
  ['class-validator', Object.keys(validator)],
  ['node:fs/promises', ['readFile']],
];

/** A module: the example, with imports of what it uses and does not declare itself. */
function moduleOf(code: string): string {
  // an option is an example by itself
  const body = /^\w+: /.test(code) ? `new McpServer({ name: 'x', version: '1', ${code} });` : code;
  const declared = new Set(body.match(/(?<=^import (?:type )?\{.*)\w+(?=.*\} from)|(?<=\b(?:class|const) )\w+/gm));
  const used = new Set((body.match(/[A-Za-z]\w*/g) ?? []).filter((name) => !declared.has(name)));
  const imports = IMPORTED.map(
    ([module, names]) => `import { ${names.filter((name) => used.has(name)).join(', ')} } from '${module}';`,
  );
  return [...imports, body].join('\n');
}

/** What examples take for granted. */
const GIVEN = `
  declare const server: import('@decorum/core').McpServer;
  declare const model: import('@decorum/testing').Model;
  declare const ctx: import('@decorum/core').Context;
  declare const auth: import('@decorum/http').Auth & import('@decorum/auth-server').AuthorizationServer;
  declare const clientId: string;
  declare const clientSecret: string;
  declare const id: string;
  declare const options: { readonly path?: string };
  declare const socket: import('node:net').Socket;
  declare const frame: import('@decorum/core/transport').Frame;
  declare function openEmptyStore(): Promise<import('@decorum/auth-server').AuthStore>;
  declare function openEmptyValues(): Promise<import('@decorum/core').KeyValueStore>;
  declare function openEmptyTasks(): Promise<import('@decorum/tasks').TaskStore>;
  declare function openEmptySessions(): Promise<import('@decorum/http').SessionStore>;
  declare function openEmptyTasks(): Promise<import('@decorum/tasks').TaskStore>;
  declare const clock: import('@decorum/auth-server/store-contract').ContractClock;
  declare class Weather { forecast(): string }
  declare class AppModule {}
  declare class ConfigModule {}
  declare class ConfigService { getOrThrow(name: string): string }
  declare class NotFoundError extends Error { readonly what: string }
`;

describe('the @examples of doc comments', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(ROOT, '.tmp-examples-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('compile under strict', () => {
    for (const [index, { of, code }] of EXAMPLES.entries()) {
      writeFileSync(join(folder, `${of}-${index}.ts`), moduleOf(code));
    }
    writeFileSync(join(folder, 'given.d.ts'), GIVEN);
    const compilerOptions = {
      target: 'es2023',
      module: 'nodenext',
      types: ['node'],
      strict: true,
      experimentalDecorators: true,
      emitDecoratorMetadata: true,
      skipLibCheck: true,
      noEmit: true,
    };
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
    const args = [join(ROOT, 'node_modules/ts7/bin/tsc'), '-p', folder];
    expect(spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' }).stdout).toBe('');
  });

  it('are there for everything that people call or throw', () => {
    const entries = [schema, core, plugin, transport, http, fetchEntry, nodeEntry, clusterEntry, auth, nestjs, testing];
    const values = entries.flatMap((entry) => Object.entries(entry)).filter(([, value]) => typeof value === 'function');
    // handlers, guards and tests are given instances of the other classes
    const made = /^(?:McpServer|UriTemplate|Memory\w+|(?:Tool|Mcp|Question|Ticket)Error)$/;
    const names = values.flatMap(([name, value]) => (!/^class\b/.test(String(value)) || made.test(name) ? [name] : []));
    const shown = new Set(EXAMPLES.flatMap(({ of, code }) => [of, ...(code.match(/\w+/g) ?? [])]));
    expectNone(
      'Add an @example to the doc comment: short, complete, correct.',
      [...new Set(names)].filter((name) => !shown.has(name)),
    );
  });
});
