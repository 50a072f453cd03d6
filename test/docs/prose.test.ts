// Names that the prose of the documentation mentions exist.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';

import { expectNone, filesUnder, PACKAGES, ROOT, visit } from '../architecture/source.js';
import { blocksOf, PAGES } from './blocks.js';
import { PACKAGE_SCOPE } from './fragments.js';
import { problemsIn, programOf } from './program.js';
import { type Span, spansOf } from './prose.js';

/** Names that belong to others. Add one only if you have looked it up. */
const FOREIGN = new Set(
  Object.values({
    compilers: 'baseUrl emitDecoratorMetadata experimentalDecorators keepNames moduleResolution serverExternalPackages',
    javascript: 'File Map setImmediate super toJSON',
    node: 'AsyncLocalStorage createServer maxConnections writeSync',
    http: 'Accept Authorization Forwarded',
    protocol: 'promptsListChanged resourcesListChanged toolsListChanged',
    // MCP SDK, both versions
    sdk: `StdioServerTransport createLinkedPair createMcpHandler createMessage disable eventStore getClientCapabilities
      listRoots requestSampling sendLoggingMessage sendResourceListChanged sendResourceUpdated sendToolListChanged`,
    fastify: 'forceCloseConnections inject onSend',
    nest: `AuthGuard HttpException PartialType Reflector ValidationPipe enableShutdownHooks getClass getHandler overrideProvider
      setGlobalPrefix useValue`,
    others: 'afterEach consume createZodDto destination terminationGracePeriodSeconds toStandardJsonSchema',
    // of an example in the sentence
    examples: 'Dto Files clean closeShop now',
  }).flatMap((names) => names.split(/\s+/)),
);

const SPANS = PAGES.flatMap(spansOf);

const wordsIn = (text: string): string[] => {
  const found: string[] = [];
  visit(ts.createSourceFile('any.ts', text, ts.ScriptTarget.Latest, false), (node) => {
    if (ts.isIdentifier(node) || ts.isStringLiteral(node)) found.push(node.text);
  });
  return found;
};
const SOURCES = PACKAGES.flatMap((name) => filesUnder(`packages/${name}/src`, '.ts'));
/** Every name in the source of our packages. */
const OURS = new Set(SOURCES.flatMap((file) => wordsIn(readFileSync(join(ROOT, file), 'utf8'))));
/** Every name in the blocks of a page. */
const SHOWN = new Map(PAGES.map((page) => [page, new Set(blocksOf(page).flatMap(({ text }) => wordsIn(text)))]));

/** The names in the prose that match, as far as nobody has them. */
function unknown(pattern: RegExp, isKnown: (name: string, page: string) => boolean): string[] {
  return SPANS.flatMap(({ page, line, text }) =>
    [...text.matchAll(pattern)]
      .map(([, name = '']) => name)
      .filter((name) => !isKnown(name, page))
      .map((name) => `${page}:${line}: ${name}`),
  );
}

const isKnown = (name: string, page: string): boolean =>
  OURS.has(name) || PACKAGE_SCOPE.has(name) || SHOWN.get(page)?.has(name) === true || FOREIGN.has(name);

/** Chains such as `ctx.client.capabilities` of what they name, with the calls left out. */
const SUBJECTS = {
  ctx: "import('@decorum/core').CompletionContext",
  server: "import('@decorum/core').McpServer",
  client: "import('@decorum/testing').TestClient",
  handler: "ReturnType<typeof import('@decorum/http/node').nodeHandler>",
  registration: "import('@decorum/core').Registration",
} as const;
const CHAIN = new RegExp(`(?<![\\w.])((?:${Object.keys(SUBJECTS).join('|')})(?:\\.\\w+)+)`, 'g');
/** The official SDK's, on the page about it. */
const SDK_CHAIN = /^(?:ctx\.(?:mcpReq|http)|server\.(?:server|send\w+))\b/;

const CHAINS = SPANS.flatMap((span) =>
  [...span.text.matchAll(CHAIN)].map(([, chain = '']) => ({ ...span, text: chain })),
).filter(({ text }) => !SDK_CHAIN.test(text) && !text.endsWith('.ts'));
const CHAINS_FILE = join(ROOT, 'test/docs/pages/prose.ts');
const PROGRAM = programOf([
  {
    file: CHAINS_FILE,
    text: [
      Object.entries(SUBJECTS)
        .map(([name, type]) => `declare const ${name}: ${type};`)
        .join(' '),
      ...CHAINS.map(({ text }) => `${text};`),
    ].join('\n'),
  },
]);
// most of the work, and no test's
PROGRAM.getTypeChecker();

/** The members of every interface of options. */
const OPTIONS = new Set<string>();
for (const file of SOURCES) {
  visit(ts.createSourceFile(file, readFileSync(join(ROOT, file), 'utf8'), ts.ScriptTarget.Latest, true), (node) => {
    if (!ts.isPropertySignature(node) && !ts.isMethodSignature(node)) return;
    let owner: ts.Node = node.parent;
    while (ts.isTypeLiteralNode(owner) || ts.isIntersectionTypeNode(owner)) owner = owner.parent;
    const isOptions =
      (ts.isInterfaceDeclaration(owner) || ts.isTypeAliasDeclaration(owner)) && owner.name.text.endsWith('Options');
    if (isOptions && ts.isIdentifier(node.name)) OPTIONS.add(node.name.text);
  });
}

/** Decorators of Nest that the documentation names. */
const DECORATORS_OF_NEST = new Set('ApiProperty Body Headers HostParam Ip Param Query Req Res Session'.split(' '));

describe('in the prose of the documentation', () => {
  it('every decorator is exported', () => {
    const found = unknown(/@([A-Z]\w*)/g, (name) => PACKAGE_SCOPE.has(name) || DECORATORS_OF_NEST.has(name));
    expectNone('Correct the name.', found);
  });

  it('every member of the context, a server, and the like exists', () => {
    const problems = problemsIn(PROGRAM, CHAINS_FILE).map(({ line, message }) => {
      const { page, line: place, text } = CHAINS[line - 1] as Span;
      return `${page}:${place}: ${text}: ${message}`;
    });
    expect(CHAINS.length).toBeGreaterThan(50);
    expectNone('Correct the name.', problems);
  });

  it('every function and method that is called exists', () => {
    expectNone('Correct the name, or say in FOREIGN whose it is.', unknown(/(?<!@)\b([A-Za-z]\w*)\(/g, isKnown));
  });

  it('every name in camel case exists', () => {
    const found = unknown(/^([a-z]+[A-Z]\w*|[A-Z][a-z]\w*)$/g, isKnown);
    expectNone('Correct the name, or say in FOREIGN whose it is.', found);
  });

  it('every option in a table of options exists', () => {
    const options = SPANS.filter(({ column }) => column !== undefined && /^options?$/.test(column));
    expect(options.length).toBeGreaterThan(30);
    const found = options
      .filter(({ text }) => !OURS.has(text))
      .map(({ page, line, text }) => `${page}:${line}: ${text}`);
    expectNone('Correct the option.', found);
  });
});
