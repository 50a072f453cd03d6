import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { planAddition } from '../src/add/add.js';
import { KINDS } from '../src/add/names.js';
import { parseSource } from '../src/add/source.js';

let folder = '';
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'decorum-add-')));
  mkdirSync(join(folder, 'src'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
});
afterAll(() => rmSync(folder, { recursive: true }));

const some = (...texts: string[]) => fc.constantFrom(...texts);
const any = (...texts: string[]) => fc.subarray(texts).map((list) => list.join(''));

/** Files in one style, with lines that end in `⏎` and one level of indentation as `→`. */
const FILES = fc
  .record({
    bom: some('', '', '\uFEFF'),
    top: any('#!/usr/bin/env node⏎', '// 🌦 «licence»⏎⏎', "'use strict'%⏎"),
    imports: any(
      "import { Tool } from '@decorum/core'%⏎",
      "import type { Context } from '@decorum/core'%⏎",
      "import {⏎→Prompt as Ask,⏎→type Hidden⏎} from '@decorum/core'% // 🌦⏎",
      "import { IsInt } from 'class-validator'% import other from './other.js'%⏎",
      "import * as validator from 'class-validator'%⏎",
      "import {⏎→MaxLength,⏎→MinLength,⏎} from 'class-validator'%⏎⏎",
      "import './effects.js'%⏎",
    ),
    above: any('⏎', 'const Tool2 = 1%⏎', 'type Describe = string%⏎⏎', 'class Dto { 名前 = "é" }⏎', '⏎⏎'),
    comments: any('/** Says. */⏎', '// says⏎', '/*⏎ * says⏎ */⏎', '⏎'),
    head: some(
      'class Box',
      'export class Box',
      'export default class Box',
      'abstract class Box<T>',
      'export class Box extends Object',
    ),
    open: some(' {⏎', '⏎{⏎', ' { // open⏎', ' {⏎⏎'),
    members: any(
      '→value = "}"%⏎',
      '→// 🌦⏎',
      '→run() {⏎→→return `${1}}`%⏎→}⏎',
      '⏎',
      '→static {⏎→}⏎',
      "→'q-r'() {}⏎",
      '→/* } */⏎',
    ),
    after: some('', '⏎', ' // end⏎', '⏎⏎', '⏎export {}%⏎', '⏎// }', ' const rest = {⏎→a: 1⏎}%⏎'),
    eol: some('\n', '\r\n'),
    unit: some('  ', '    ', '\t'),
    semi: some(';', ''),
    quote: some("'", '"'),
  })
  .map(({ bom, eol, unit, semi, quote, ...parts }) => {
    // a second statement on a line needs a semicolon
    const terminated = (text: string) => text.replaceAll(/%(?= import)/g, ';').replaceAll('%', semi);
    const { top, imports, above, comments, head, open, members, after } = parts;
    const text = terminated(`${top}${imports}${above}${comments}${head}${open}${members}}${after}`);
    return bom + text.replaceAll('⏎', eol).replaceAll('→', unit).replaceAll("'", quote);
  })
  .filter((text) => {
    try {
      return parseSource(join(folder, 'x.ts'), text).program.body.length > 0;
    } catch {
      return false;
    }
  });

const bare = (text: string): string => text.replace(/^\uFEFF/, '');

const linesOf = (text: string): string[] => text.split(/(?<=\n)/);

/** The lines of `after` that are not in `before`; undefined if one of `before` is missing. */
function addedLines(before: string, after: string): string[] | undefined {
  const added: string[] = [];
  const rest = linesOf(before);
  for (const line of linesOf(after)) {
    if (line === rest[0]) rest.shift();
    else added.push(line);
  }
  return rest.length === 0 ? added : undefined;
}

describe('decorum add, for files of any style', () => {
  it('only adds lines, in the style of the file', async () => {
    const path = join(folder, 'src/box.ts');
    const toBox = (text: string) => `${path}:${text.slice(0, text.indexOf('class Box')).split('\n').length}`;
    await fc.assert(
      fc.asyncProperty(FILES, fc.constantFrom(...KINDS.slice(0, 3)), async (text, kind) => {
        let current = text;
        for (const [each, name] of [
          [kind, 'first'],
          ['prompt', 'ask-it'],
          ['completion', 'ask-it/topic'],
        ] as const) {
          writeFileSync(path, current);
          const { changes } = await planAddition({ kind: each, name, to: toBox(current) });
          // above the first line, a byte order mark can't stay in its line
          const added = addedLines(bare(current), bare(changes[0]!.text));
          expect(changes[0]!.text.startsWith('\uFEFF')).toBe(text.startsWith('\uFEFF'));
          expect(added).toBeDefined();
          const eol = text.includes('\r\n') ? '\r\n' : '\n';
          expect(added?.filter((line) => !line.endsWith(eol) || (eol === '\n' && line.includes('\r')))).toEqual([]);
          current = changes[0]!.text;
        }
        writeFileSync(path, current);
        await expect(planAddition({ kind: 'prompt', name: 'ask-it', to: toBox(current) })).rejects.toThrow(
          'exists already',
        );
      }),
      { numRuns: 60 },
    );
  });
});
