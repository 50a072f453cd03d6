// Messages that the page about trouble quotes are those that people see.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';

import { expectNone, filesUnder, PACKAGES, ROOT, visit } from '../architecture/source.js';
import { spansOf } from './prose.js';

const PAGE = 'docs/operate/troubleshooting.md';

/** Messages of others, by who writes them. Add one only if you have seen it. */
const FOREIGN = new Set(
  Object.values({
    node: [
      'spawn node ENOENT',
      'listen EADDRINUSE: address already in use …',
      'SyntaxError: Invalid or unexpected token',
      'Unexpected token … is not valid JSON',
      "Cannot find module '…/dist/main.js'",
    ],
    npm: ['uv_os_homedir returned ENOENT'],
    sdk: ['MCP error -32000: Connection closed', 'MCP error -32001: Request timed out'],
    transformer: ['Reflect.getMetadata is not a function'],
    validator: ["Cannot read properties of undefined (reading 'constructor')"],
  }).flat(),
);

/** The text of a literal or of several that are added, with `…` for what is only known at run time. */
function textOf(node: ts.Node): string {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isTemplateExpression(node)) {
    return node.head.text + node.templateSpans.map(({ literal }) => `…${literal.text}`).join('');
  }
  const isSum = ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken;
  return isSum ? textOf(node.left) + textOf(node.right) : '…';
}

const SOURCES = PACKAGES.flatMap((name) => filesUnder(`packages/${name}/src`, '.ts'));
/** Every text in the source of our packages. */
const TEXTS = SOURCES.flatMap((file) => {
  const found: string[] = [];
  const text = readFileSync(join(ROOT, file), 'utf8');
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, false), (node) => found.push(textOf(node)));
  return found.filter((each) => each.length > 8);
});

const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
const partsOf = (text: string) => text.split('…').map((part) => escaped(part.trim()));
/** Whether our source has the message. Both may leave out with `…` what differs. */
function isOurs(message: string): boolean {
  const quoted = new RegExp(partsOf(message).join('.*'), 's');
  return TEXTS.some((text) => {
    const isSpecific = text.replaceAll('…', '').length > 15;
    return quoted.test(text) || (isSpecific && new RegExp(`^${partsOf(text).join('.*')}$`, 's').test(message));
  });
}

describe('docs/operate/troubleshooting.md', () => {
  const quoted = spansOf(PAGE).filter(
    ({ column, text }) => column === 'message' || (column === 'what you see' && /^\S+ \S+ /.test(text)),
  );

  it('quotes only messages that somebody writes', () => {
    expect(quoted.length).toBeGreaterThan(40);
    expectNone(
      'Correct the message, or say in FOREIGN whose it is.',
      quoted.filter(({ text }) => !FOREIGN.has(text) && !isOurs(text)).map(({ line, text }) => `${line}: ${text}`),
    );
  });
});
