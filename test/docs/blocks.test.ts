// Every code block of the documentation is what it claims to be. How fragments become modules: ./fragments.ts
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';

import { expectNone } from '../architecture/source.js';
import { type Block, blocksOf, PAGES } from './blocks.js';
import { fragmentsOf, SETUPS } from './fragments.js';
import { messageOf, problemsIn, programOf } from './program.js';

const FRAGMENTS = PAGES.flatMap(fragmentsOf);
const PROGRAM = programOf(FRAGMENTS);
// most of the work, and no test's
PROGRAM.getTypeChecker();
const BLOCKS = PAGES.flatMap(blocksOf);
const at = ({ page, line }: Block) => `${page}:${line}`;
const withLanguage = (...languages: string[]) => BLOCKS.filter(({ language }) => languages.includes(language));

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe('the code blocks of the documentation', () => {
  const pages = PAGES.filter((page) => FRAGMENTS.some(({ block }) => block.page === page));

  it.each(pages)('compile under strict: %s', (page) => {
    const problems = FRAGMENTS.filter(({ block }) => block.page === page).flatMap(({ block, file }) =>
      // the first line of a fragment stands above the block
      problemsIn(PROGRAM, file).map(({ line, message }) => `${page}:${block.line + line - 1}: ${message}`),
    );
    expectNone('Correct the block, or add what the page takes for granted to test/docs/setup.', problems);
  });

  it('stand on setups that compile', () => {
    const used = [...SETUPS].filter((file) => PROGRAM.getSourceFile(file) !== undefined);
    const problems = used.flatMap((file) =>
      problemsIn(PROGRAM, file).map(({ line, message }) => `${file}:${line + 1}: ${message}`),
    );
    expect(used).toHaveLength(SETUPS.size);
    expectNone('Correct the setup.', problems);
  });

  it('that are JSON can be parsed', () => {
    const broken = [
      ...withLanguage('json').filter(({ text }) => !isJson(text)),
      ...withLanguage('jsonc').filter((block) => ts.parseConfigFileTextToJson(at(block), block.text).error),
    ];
    expectNone('Correct the JSON; with comments, it is jsonc.', broken.map(at));
  });

  it('that are a tsconfig have options that the compiler knows', () => {
    const problems = withLanguage('json', 'jsonc').flatMap((block) => {
      const { config } = ts.parseConfigFileTextToJson(at(block), block.text);
      const { errors } = ts.convertCompilerOptionsFromJson(config?.compilerOptions ?? {}, '/');
      return errors.map((error) => `${at(block)} ${messageOf(error)}`);
    });
    expectNone('Correct the tsconfig.', problems);
  });

  it('that are JavaScript can be parsed', () => {
    const broken = withLanguage('js').filter(({ text }) => {
      const { diagnostics = [] } = ts.transpileModule(text, { reportDiagnostics: true, fileName: 'block.js' });
      return diagnostics.length > 0;
    });
    expectNone('Correct the code.', broken.map(at));
  });

  it('name a language that is known', () => {
    const known = new Set(['ts', 'js', 'json', 'jsonc', 'sh', 'http', 'ini', 'dockerfile', 'yaml', 'text']);
    expectNone('Name another.', BLOCKS.filter(({ language }) => !known.has(language)).map(at));
    expect(BLOCKS.length).toBeGreaterThan(100);
  });
});
