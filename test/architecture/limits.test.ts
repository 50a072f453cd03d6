import { basename } from 'node:path';

import { describe, it } from '@jest/globals';
import ts from 'typescript';

import { commentsOf, expectNone, lineOf, type Source, SOURCES, visit } from './source.js';

const FILE_LINES = 300;
const FUNCTION_LINES = 50;
const PARAMETERS = 3;

/** Says nothing: what a thing is, is in the rest of its name. */
const EMPTY_WORDS = /(?:Impl|Base|Manager|Helpers?|Utils?)(?=[A-Z]|$)/;
const EMPTY_FILE_WORDS = /(?:^|[-.])(?:impl|base|manager|helpers?|utils?)(?=[-.])/;

const DATES = /20(?:24-11-05|25-03-26|25-06-18|25-11-25|26-07-28)/;

/** What outsiders cannot read, or what belongs into an issue. */
const PRIVATE = /\/work\/|\bshared\/|\bdesign\/|\b(?:TODO|FIXME|XXX|HACK)\b|(?:^|\s)#\d+\b/;
const PUBLIC_HOSTS = new Set([
  'modelcontextprotocol.io',
  'www.rfc-editor.org',
  'www.jsonrpc.org',
  'json-schema.org',
  'html.spec.whatwg.org',
  'fetch.spec.whatwg.org',
  'www.w3.org',
  'nodejs.org',
]);
/** Not a link, but what an example is about. */
const SAMPLE_HOST = /^(?:127\.|localhost\b|(?:.+\.)?example(?:\.|$))/;

/** What a visitor of all nodes finds, as `file:line what`. */
function search(sources: readonly Source[], judge: (node: ts.Node, source: Source) => string | undefined): string[] {
  const found: string[] = [];
  for (const source of sources) {
    visit(source.tree, (node) => {
      const what = judge(node, source);
      if (what !== undefined) found.push(`${source.file}:${lineOf(source.tree, node.getStart(source.tree))} ${what}`);
    });
  }
  return found;
}

function searchComments(pattern: RegExp): string[] {
  return SOURCES.flatMap((source) =>
    commentsOf(source)
      .filter(({ text }) => pattern.test(text))
      .map(({ text, line }) => `${source.file}:${line} "${pattern.exec(text)?.[0].trim()}"`),
  );
}

const nameOf = (node: ts.Node): string => (node as { name?: ts.Node }).name?.getText() ?? 'a function without a name';

/** Whether it is a function of ours: one with a body, not the type of one. */
const isWritten = (node: ts.Node): node is ts.FunctionLikeDeclaration =>
  ts.isFunctionLike(node) && 'body' in node && node.body !== undefined;

/** Whether a line is neither blank nor a comment. */
const isCode = (line: string): boolean => !/^\s*(?:$|\/\/|\/?\*)/.test(line);

const hasModifier = (node: ts.Node, kind: ts.SyntaxKind): boolean =>
  ts.canHaveModifiers(node) && (ts.getModifiers(node) ?? []).some((modifier) => modifier.kind === kind);

/** What a file declares at its top, with the node that carries the doc comment. */
function declarationsOf({ tree }: Source): { name: string; node: ts.Node }[] {
  return tree.statements.flatMap((node): { name: string; node: ts.Node }[] => {
    if (ts.isVariableStatement(node)) {
      return node.declarationList.declarations.map(({ name }) => ({ name: name.getText(), node }));
    }
    const declares =
      ts.isFunctionDeclaration(node) ||
      ts.isClassDeclaration(node) ||
      ts.isInterfaceDeclaration(node) ||
      ts.isTypeAliasDeclaration(node) ||
      ts.isEnumDeclaration(node);
    return declares ? [{ name: nameOf(node), node }] : [];
  });
}

describe('sizes', () => {
  it(`files have at most ${FILE_LINES} lines`, () => {
    const long = SOURCES.map(({ file, text }) => ({ file, lines: text.trimEnd().split('\n').length }))
      .filter(({ lines }) => lines > FILE_LINES)
      .map(({ file, lines }) => `${file} has ${lines}`);
    expectNone('Too long. Find the second thing that the file is about, and give it a file.', long);
  });

  it(`functions have at most ${FUNCTION_LINES} lines of code`, () => {
    const long = search(SOURCES, (node, { tree }) => {
      if (!isWritten(node)) return undefined;
      const lines = node.getText(tree).split('\n').filter(isCode).length;
      return lines > FUNCTION_LINES ? `${nameOf(node)} has ${lines}` : undefined;
    });
    expectNone('Too long. Split the function into named steps.', long);
  });

  it(`functions have at most ${PARAMETERS} parameters`, () => {
    const many = search(SOURCES, (node) => {
      if (!isWritten(node)) return undefined;
      const count = node.parameters.filter(({ name }) => name.getText() !== 'this').length;
      return count > PARAMETERS ? `${nameOf(node)} has ${count}` : undefined;
    });
    expectNone('Too many. Group what belongs together into an object with named members.', many);
  });
});

describe('what is not written in packages', () => {
  it('any', () => {
    const found = search(SOURCES, ({ kind }) => (kind === ts.SyntaxKind.AnyKeyword ? 'any' : undefined));
    expectNone('No `any`. Take `unknown` and check, or a type parameter.', found);
  });

  it('comments that switch the compiler off', () => {
    expectNone(
      'No @ts-ignore, @ts-expect-error or @ts-nocheck. Say to the compiler what is true.',
      searchComments(/@ts-(?:ignore|expect-error|nocheck)/),
    );
  });

  it('default exports', () => {
    const found = search(SOURCES, (node) => {
      const isDefault =
        ts.isExportAssignment(node) ||
        hasModifier(node, ts.SyntaxKind.DefaultKeyword) ||
        (ts.isExportSpecifier(node) && node.name.text === 'default');
      return isDefault ? 'exports a default' : undefined;
    });
    expectNone('No default exports. Export by name.', found);
  });

  it('console', () => {
    const found = search(SOURCES, (node) => {
      const isMember =
        node.parent !== undefined && ts.isPropertyAccessExpression(node.parent) && node.parent.name === node;
      return ts.isIdentifier(node) && node.text === 'console' && !isMember ? 'uses the console' : undefined;
    });
    expectNone('No `console`: on stdio, stdout is the wire. Report through the server’s logger.', found);
  });

  it('dates of revisions, but in protocol/revisions', () => {
    const elsewhere = SOURCES.filter(({ file }) => !file.startsWith('packages/core/src/protocol/revisions/'));
    const found = search(elsewhere, (node) => {
      const isText = ts.isLiteralExpression(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node);
      const date = isText ? DATES.exec(node.getText())?.[0] : undefined;
      return date === undefined ? undefined : `spells ${date}`;
    });
    expectNone(
      'A revision’s date is spelled only in protocol/revisions (and in comments). Name the behaviour: give Revision a member, and ask for it.',
      found,
    );
  });
});

describe('names', () => {
  it('say what a thing is', () => {
    const empty = SOURCES.flatMap((source) => {
      const declared = declarationsOf(source)
        .filter(({ name }) => EMPTY_WORDS.test(name))
        .map(({ name, node }) => `${source.file}:${lineOf(source.tree, node.getStart(source.tree))} ${name}`);
      return EMPTY_FILE_WORDS.test(basename(source.file)) ? [...declared, source.file] : declared;
    });
    expectNone('No Impl, Base, Manager, Helper or Utils. Name what it does or holds.', empty);
  });

  it('of interfaces have no I before them', () => {
    const found = search(SOURCES, (node) =>
      ts.isInterfaceDeclaration(node) && /^I[A-Z][a-z]/.test(node.name.text) ? node.name.text : undefined,
    );
    expectNone('Interfaces are named like any other type.', found);
  });

  it('of files are written with hyphens', () => {
    const found = SOURCES.map(({ file }) => file).filter(
      (file) => !/^[a-z0-9]+(?:-[a-z0-9]+)*\.ts$/.test(basename(file)),
    );
    expectNone('Files are named in kebab-case, after their main export.', found);
  });
});

describe('comments', () => {
  it('describe every export', () => {
    const bare = SOURCES.flatMap((source) => {
      const exported = declarationsOf(source).filter(({ node }) => hasModifier(node, ts.SyntaxKind.ExportKeyword));
      const documented = new Set(
        exported.filter(({ node }) => ts.getJSDocCommentsAndTags(node).length > 0).map(({ name }) => name),
      );
      return exported
        .filter(({ name }) => !documented.has(name))
        .map(({ name, node }) => `${source.file}:${lineOf(source.tree, node.getStart(source.tree))} ${name}`);
    });
    expectNone('Write a /** doc comment */ before it: what it is for, in one sentence, from the reader’s side.', bare);
  });

  it('cite nothing that the public cannot read', () => {
    expectNone(
      'Comments say why, and cite only public documents. Say it here, or open an issue.',
      searchComments(PRIVATE),
    );
  });

  it('link to specifications', () => {
    const found = SOURCES.flatMap((source) =>
      commentsOf(source).flatMap(({ text, line }) =>
        [...text.matchAll(/https?:\/\/([^\s/)>`'",]+)/g)]
          .filter(([, host = '']) => !PUBLIC_HOSTS.has(host) && !SAMPLE_HOST.test(host))
          .map(([url]) => `${source.file}:${line} ${url}`),
      ),
    );
    expectNone('Link to the specification, an RFC or a standard, so that the link stays; else describe it.', found);
  });
});
