import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import * as core from '@decorum/core';
import { FAILURES, newestOf } from '@decorum/core/internal';
import { describe, expect, it } from '@jest/globals';

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
  ...['docs', 'packages', 'examples', 'bench', 'skills'].flatMap((folder) => filesUnder(folder, '.md')),
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

describe('docs/reference/errors.md', () => {
  const page = read('docs/reference/errors.md');

  it('describes every failure of a message, with its numbers', () => {
    const rows = [...page.matchAll(/^\| `([a-z-]+)` \|.*\| (-?\d+) \| (-?\d+) \|$/gm)];
    const described = rows.map(([, kind, stateful, stateless]) => [kind, Number(stateful), Number(stateless)]);
    const kinds = Object.keys(FAILURES) as core.FailureKind[];
    const numberOf = (kind: core.FailureKind, era: 'stateful' | 'stateless') =>
      newestOf(era).errorCode(new core.McpError(kind, '')) ?? FAILURES['internal-error'].code;
    // if this fails, add or correct the row of the page
    expect(described).toEqual(kinds.map((kind) => [kind, numberOf(kind, 'stateful'), numberOf(kind, 'stateless')]));
  });
});
