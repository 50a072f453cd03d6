import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import * as core from '@decorum/core';
import { FAILURES, newestOf } from '@decorum/core/transport';
import * as http from '@decorum/http';
import { McpModule } from '@decorum/nestjs';
import { describe, expect, it } from '@jest/globals';
import { Module, UseGuards } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { transformSync } from '@swc/core';
import * as transformer from 'class-transformer';
import * as validator from 'class-validator';

import { expectNone, filesUnder, ROOT } from './source.js';

const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const withoutCode = (markdown: string): string =>
  markdown.replaceAll(/^```[^]*?^```/gm, '').replaceAll(/`[^`\n]*`/g, '');

/** The anchor of a heading, as on GitHub. */
function anchorOf(heading: string): string {
  const text = heading.toLowerCase().replaceAll(/[^\p{L}\p{N}\s_-]/gu, '');
  return text.trim().replaceAll(/\s/g, '-');
}

const anchorsOf = (file: string): Set<string> =>
  new Set(
    [
      ...read(file)
        .replaceAll(/^```[^]*?^```/gm, '')
        .matchAll(/^#+ +(.+)$/gm),
    ].map(([, heading = '']) => anchorOf(heading)),
  );

const ROOT_PAGES = readdirSync(ROOT).filter((file) => file.endsWith('.md'));
const PAGES = [
  ...ROOT_PAGES,
  ...['docs', 'packages', 'examples', 'bench'].flatMap((folder) => filesUnder(folder, '.md')),
];

function brokenLinks(page: string): string[] {
  const links = [...withoutCode(read(page)).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
  return links
    .filter((target) => !/^[a-z]+:/.test(target))
    .filter((target) => {
      const [path = '', anchor] = target.split('#');
      const file = path === '' ? page : join(dirname(page), path);
      if (!existsSync(join(ROOT, file))) return true;
      return anchor !== undefined && file.endsWith('.md') && !anchorsOf(file).has(anchor);
    })
    .map((target) => `${page} links to ${target}`);
}

describe('pages', () => {
  it('link to files and headings that exist', () => {
    expectNone('Correct the link, or write what it promises.', PAGES.flatMap(brokenLinks));
  });
});

describe('docs/errors.md', () => {
  const page = read('docs/errors.md');
  const sections = page.split(/^### /m).slice(1);
  const codeOf = (section: string): string => /^`(\w+)`/.exec(section)?.[1] ?? section.slice(0, 20);

  it('describes every startup error, in the order of the table', () => {
    // if this fails, add or remove the section: what the error means, what to do, and code that causes it
    expect(sections.map(codeOf)).toEqual(core.STARTUP_ERROR_CODES);
  });

  // test/packaging runs the examples that need libraries to be missing, or another runtime
  const elsewhere = ['DECORUM_MISSING_LIBRARY', 'DECORUM_NO_CODE_GENERATION'];
  const runnable = sections.filter((section) => !elsewhere.includes(codeOf(section)));

  it.each(runnable.map((section) => [codeOf(section), section]))('has code that causes %s', async (code, section) => {
    await expect(runExample(/```ts\n([^]*?)```/.exec(section)?.[1] ?? '')).rejects.toMatchObject({ code });
  });

  it('describes every failure of a message, with its numbers', () => {
    const rows = [...page.matchAll(/^\| `([a-z-]+)` \|.*\| (-?\d+) \| (-?\d+) \|$/gm)];
    const described = rows.map(([, kind, stateful, stateless]) => [kind, Number(stateful), Number(stateless)]);
    const kinds = Object.keys(FAILURES) as core.FailureKind[];
    const numberOf = (kind: core.FailureKind, era: 'stateful' | 'stateless') =>
      newestOf(era).errorCode(new core.McpError(kind, '')) ?? FAILURES['internal-error'];
    // if this fails, add or correct the row of the page
    expect(described).toEqual(kinds.map((kind) => [kind, numberOf(kind, 'stateful'), numberOf(kind, 'stateless')]));
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
