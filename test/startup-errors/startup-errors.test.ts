// What users get wrong in their first hour. None of it is silent: each row says where, and ends with what to write.
//
// What needs compilers and bundlers of its own is tested elsewhere: missing class-validator and class-transformer in
// test/packaging/optional-peers.test.ts, standard decorators in packages/core/test/decorators/standard.tc39.test.ts,
// and stdout in packages/core/test/transports/stdio-process.test.ts.
import { readFileSync } from 'node:fs';

import * as core from '@decorum/core';
import * as plugin from '@decorum/core/plugin';
import { STARTUP_ERROR_CODES } from '@decorum/core/internal';
import * as http from '@decorum/http';
import { McpModule } from '@decorum/nestjs';
import { describe, expect, it } from '@jest/globals';
import { Module, UseGuards } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { transformSync } from '@swc/core';
import * as transformer from 'class-transformer';
import * as validator from 'class-validator';

import { ARGUMENTS, PLACES } from './decorators.js';
import { INPUTS } from './inputs.js';
import { SCHEMAS } from './schemas.js';
import { PROVIDERS, SERVERS } from './servers.js';
import { expectMistake, type Mistake, type Mistakes } from './table.js';
import { TRANSPORTS } from './transports.js';

describe.each<readonly [string, Mistakes]>([
  ['a decorator in the wrong place', PLACES],
  ['a wrong argument of a decorator', ARGUMENTS],
  ['a parameter that gives no input', INPUTS],
  ['a wrong schema', SCHEMAS],
  ['a wrong option of a server', SERVERS],
  ['a wrong provider', PROVIDERS],
  ['a transport that cannot be opened', TRANSPORTS],
])('%s fails at startup, and the error says where it is and what to write:', (_kind, table) => {
  describe.each(Object.entries(table) as [core.StartupErrorCode, Mistake[]][])('%s', (code, rows) => {
    it.each(rows)('%s', async (_wrote, run, message) => {
      await expectMistake(run, code, message);
    });
  });
});

describe('docs/errors.md', () => {
  const page = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8');
  const sections = page.split(/^### /m).slice(1);
  const codeOf = (section: string): string => /^`(\w+)`/.exec(section)?.[1] ?? section.slice(0, 20);

  it('describes every startup error', () => {
    // if this fails, add or remove the section: what the error means, what to do, and code that causes it
    expect(sections.map(codeOf).toSorted()).toEqual(STARTUP_ERROR_CODES.toSorted());
  });

  // test/packaging runs the examples that need libraries to be missing, or another runtime
  const elsewhere = ['DECORUM_MISSING_LIBRARY', 'DECORUM_NO_CODE_GENERATION'];
  const runnable = sections.filter((section) => !elsewhere.includes(codeOf(section)));

  it.each(runnable.map((section) => [codeOf(section), section]))('has code that causes %s', async (code, section) => {
    await expect(runExample(/```ts\n([^]*?)```/.exec(section)?.[1] ?? '')).rejects.toMatchObject({ code });
  });
});

/** Runs TypeScript code with all public names in scope. */
async function runExample(code: string): Promise<unknown> {
  const scope = new Map(
    Object.entries({
      Module,
      NestFactory,
      UseGuards,
      McpModule,
      ...transformer,
      ...validator,
      ...http,
      ...plugin,
      ...core,
    }),
  );
  // added by Node to the exports of a CommonJS module
  for (const name of ['default', 'module.exports']) scope.delete(name);
  const { code: script } = transformSync(`async function example() {${code}}`, {
    swcrc: false,
    isModule: false,
    jsc: {
      target: 'es2022',
      parser: { syntax: 'typescript', decorators: true },
      transform: { legacyDecorator: true, decoratorMetadata: true },
    },
  });
  // oxlint-disable-next-line no-implied-eval -- the code is from a page of this repository
  const run = new Function(...scope.keys(), `${script}; return example();`);
  return await (run as (...values: unknown[]) => Promise<unknown>)(...scope.values());
}
