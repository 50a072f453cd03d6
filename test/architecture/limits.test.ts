import { basename } from 'node:path';

import { describe, it } from '@jest/globals';
import ts from 'typescript';

import { commentsOf, expectNone, lineOf, type Source, SOURCES, visit } from './source.js';

const FILE_LINES = 300;
const FUNCTION_LINES = 50;
const PARAMETERS = 3;

/** Words without meaning: the rest of the name has to say what the thing is. */
const EMPTY_WORDS = /(?:Impl|Base|Manager|Helpers?|Utils?)(?=[A-Z]|$)/;
const EMPTY_FILE_WORDS = /(?:^|[-.])(?:impl|base|manager|helpers?|utils?)(?=[-.])/;

const DATES = /20(?:24-11-05|25-03-26|25-06-18|25-11-25|26-07-28)/;

/** References that outsiders can't follow, and notes that belong in an issue. */
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
/** Hosts of sample URLs. */
const SAMPLE_HOST = /^(?:127\.|localhost\b|(?:.+\.)?example(?:\.|$))/;

/** Visits all nodes and returns the findings of `judge` as `file:line finding`. */
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

/** Whether a node is a function with a body, not a function type. */
const isWritten = (node: ts.Node): node is ts.FunctionLikeDeclaration =>
  ts.isFunctionLike(node) && 'body' in node && node.body !== undefined;

/** Whether a line is neither blank nor a comment. */
const isCode = (line: string): boolean => !/^\s*(?:$|\/\/|\/?\*)/.test(line);

const hasModifier = (node: ts.Node, kind: ts.SyntaxKind): boolean =>
  ts.canHaveModifiers(node) && (ts.getModifiers(node) ?? []).some((modifier) => modifier.kind === kind);

/** The top-level declarations of a file, each with the node that has the doc comment. */
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
    expectNone('File too long. Move the second concern to its own file.', long);
  });

  it(`functions have at most ${FUNCTION_LINES} lines of code`, () => {
    const long = search(SOURCES, (node, { tree }) => {
      if (!isWritten(node)) return undefined;
      const lines = node.getText(tree).split('\n').filter(isCode).length;
      return lines > FUNCTION_LINES ? `${nameOf(node)} has ${lines}` : undefined;
    });
    expectNone('Function too long. Split it into named steps.', long);
  });

  it(`functions have at most ${PARAMETERS} parameters`, () => {
    const many = search(SOURCES, (node) => {
      if (!isWritten(node)) return undefined;
      const count = node.parameters.filter(({ name }) => name.getText() !== 'this').length;
      return count > PARAMETERS ? `${nameOf(node)} has ${count}` : undefined;
    });
    expectNone('Too many parameters. Group related ones in an object.', many);
  });
});

describe('packages', () => {
  it('do not use any', () => {
    const found = search(SOURCES, ({ kind }) => (kind === ts.SyntaxKind.AnyKeyword ? 'any' : undefined));
    expectNone('Do not use `any`. Use `unknown` and a check, or a type parameter.', found);
  });

  it('do not silence the compiler', () => {
    expectNone(
      'Do not use @ts-ignore, @ts-expect-error or @ts-nocheck. Fix the types.',
      searchComments(/@ts-(?:ignore|expect-error|nocheck)/),
    );
  });

  it('have no default exports', () => {
    const found = search(SOURCES, (node) => {
      const isDefault =
        ts.isExportAssignment(node) ||
        hasModifier(node, ts.SyntaxKind.DefaultKeyword) ||
        (ts.isExportSpecifier(node) && node.name.text === 'default');
      return isDefault ? 'exports a default' : undefined;
    });
    expectNone('Use a named export.', found);
  });

  it('do not use console', () => {
    const found = search(SOURCES, (node) => {
      const isMember =
        node.parent !== undefined && ts.isPropertyAccessExpression(node.parent) && node.parent.name === node;
      return ts.isIdentifier(node) && node.text === 'console' && !isMember ? 'uses the console' : undefined;
    });
    expectNone('Do not use `console`: on stdio, stdout carries the protocol. Use the logger of the server.', found);
  });

  it('name revision dates only in protocol/revisions, and in one file of each extension', () => {
    const known = /^packages\/(?:core\/src\/protocol\/revisions\/|(?:apps|skills|tasks)\/src\/revisions\.ts$)/;
    const elsewhere = SOURCES.filter(({ file }) => !known.test(file));
    const found = search(elsewhere, (node) => {
      const isText = ts.isLiteralExpression(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node);
      const date = isText ? DATES.exec(node.getText())?.[0] : undefined;
      return date === undefined ? undefined : `spells ${date}`;
    });
    expectNone(
      'Revision dates belong in protocol/revisions and comments only. Add a member that names the behaviour to Revision, and branch on that.',
      found,
    );
  });
});

describe('names', () => {
  it('contain no meaningless words', () => {
    const empty = SOURCES.flatMap((source) => {
      const declared = declarationsOf(source)
        .filter(({ name }) => EMPTY_WORDS.test(name))
        .map(({ name, node }) => `${source.file}:${lineOf(source.tree, node.getStart(source.tree))} ${name}`);
      return EMPTY_FILE_WORDS.test(basename(source.file)) ? [...declared, source.file] : declared;
    });
    expectNone('Avoid Impl, Base, Manager, Helper and Utils. Name it after what it does or holds.', empty);
  });

  it('of interfaces have no I prefix', () => {
    const found = search(SOURCES, (node) =>
      ts.isInterfaceDeclaration(node) && /^I[A-Z][a-z]/.test(node.name.text) ? node.name.text : undefined,
    );
    expectNone('Name interfaces like any other type, without the I prefix.', found);
  });

  it('of files are kebab-case', () => {
    const found = SOURCES.map(({ file }) => file).filter(
      (file) => !/^[a-z0-9]+(?:-[a-z0-9]+)*\.ts$/.test(basename(file)),
    );
    expectNone('Name the file in kebab-case, after its main export.', found);
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
    expectNone('Add a /** doc comment */ that tells the reader in one sentence what it is for.', bare);
  });

  it('cite only public documents', () => {
    expectNone(
      'Comments may cite only public documents. Explain it in the comment, or open an issue.',
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
    expectNone(
      'Link only to the specification, an RFC or a standard, because other links break. Otherwise describe it.',
      found,
    );
  });
});
