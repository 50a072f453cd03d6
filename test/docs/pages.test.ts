// What the pages show and say: blocks of code compile, names in prose and tables exist, and terms are explained. How
// blocks become modules: ./fragments.ts
import { readFileSync } from 'node:fs';
import * as nodeHttp from 'node:http';
import { join } from 'node:path';

import * as auth from '@decorum/auth';
import * as core from '@decorum/core';
import * as plugin from '@decorum/core/plugin';
import * as http from '@decorum/http';
import * as clusterEntry from '@decorum/http/cluster';
import * as fetchEntry from '@decorum/http/fetch';
import * as lambdaEntry from '@decorum/http/lambda';
import * as nodeEntry from '@decorum/http/node';
import * as testing from '@decorum/testing';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';

import { expectNone, filesUnder, PACKAGES, ROOT, visit } from '../architecture/source.js';
import { type Block, blocksOf, PAGES, textOf } from './blocks.js';
import { fragmentsOf, PACKAGE_SCOPE, SETUPS } from './fragments.js';
import { messageOf, problemsIn, programOf } from './program.js';
import { type Span, spansOf } from './prose.js';

const FRAGMENTS = PAGES.flatMap(fragmentsOf);
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
    const known = new Set(['ts', 'js', 'json', 'jsonc', 'sh', 'http', 'ini', 'dockerfile', 'nginx', 'yaml', 'text']);
    expectNone('Name another.', BLOCKS.filter(({ language }) => !known.has(language)).map(at));
    expect(BLOCKS.length).toBeGreaterThan(100);
  });
});

/** Names that belong to others. Add one only if you have looked it up. */
const FOREIGN = new Set(
  Object.values({
    compilers: 'baseUrl emitDecoratorMetadata experimentalDecorators keepNames moduleResolution serverExternalPackages',
    aws: 'NodejsFunction fromAsset',
    javascript: 'File Map setImmediate super toJSON',
    node: 'AsyncLocalStorage createServer maxConnections writeSync',
    http: 'Accept Authorization Cookie Forwarded',
    protocol: 'promptsListChanged resourcesListChanged toolsListChanged',
    // MCP SDK, both versions
    sdk: `StdioServerTransport authProvider createLinkedPair createMcpHandler createMessage disable eventStore getClientCapabilities
      listRoots registerToolTask requestSampling sendLoggingMessage sendResourceListChanged sendResourceUpdated sendToolListChanged
      taskStore`,
    fastmcp: `EdgeFastMCP GitHubProvider audioContent getApp jsonSchemaAdapter onToolCall removeTool requestElicitation
      requireRole streamContent streamKeepalive clientCapabilities`,
    mcpNest: `McpExceptionFilter McpHttpControllerFor McpRegistryService StdioTransport cacheHints createMicroservice enableJsonResponse
      getClientInfo getProtocolVersion getSession registerPrompt registerResource responseMode serverMutator apiPrefix mcpEndpoint`,
    fastify: 'forceCloseConnections inject onSend',
    nest: `AuthGuard HttpException PartialType Reflector ValidationPipe enableShutdownHooks getClass getContext getHandler getRequest overrideProvider
      setGlobalPrefix switchToHttp useValue`,
    others:
      'afterEach consume createZodDto destination preStop terminationGracePeriodSeconds toStandardJsonSchema waitUntil',
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
  client: "import('@decorum/testing').TestClient & Omit<import('@decorum/client').Client, never>",
  handler: "ReturnType<typeof import('@decorum/http/node').nodeHandler>",
  registration: "import('@decorum/core').Registration",
} as const;
const CHAIN = new RegExp(`(?<![\\w.])((?:${Object.keys(SUBJECTS).join('|')})(?:\\.\\w+)+)`, 'g');
/** The official SDK's, on the page about it. */
const SDK_CHAIN = /^(?:ctx\.(?:mcpReq|http)|server\.(?:server|send\w+))\b/;

const CHAINS = SPANS.flatMap((span) =>
  [...span.text.matchAll(CHAIN)].map(([, chain = '']) => ({ ...span, text: chain })),
).filter(({ text }) => !SDK_CHAIN.test(text) && !/\.(?:ts|json)$/.test(text));
const CHAINS_FILE = {
  file: join(ROOT, 'test/docs/pages/prose.ts'),
  text: [
    Object.entries(SUBJECTS)
      .map(([name, type]) => `declare const ${name}: ${type};`)
      .join(' '),
    ...CHAINS.map(({ text }) => `${text};`),
  ].join('\n'),
};

/** The entries whose types the reference has. */
const ENTRIES = [
  'core',
  'core/plugin',
  'http',
  'http/node',
  'http/fetch',
  'http/lambda',
  'http/cluster',
  'testing',
  'testing/jest',
  'auth',
  'auth-server',
  'opentelemetry',
  'prometheus',
  'redis',
  'audit',
  'apps',
  'skills',
  'client',
  'openapi',
  'search',
  'tasks',
].map((entry) => `@decorum/${entry}`);

/** A module that has everything that our packages export. */
const ENTRIES_FILE = {
  file: join(ROOT, 'test/docs/pages/entries.ts'),
  text: ENTRIES.map((entry) => `export * as _${entry.replaceAll(/\W/g, '_')} from '${entry}';`).join('\n'),
};

/** One program for all that is checked, because most of the work is to create it. */
const PROGRAM = programOf([...FRAGMENTS, CHAINS_FILE, ENTRIES_FILE]);
const CHECKER = PROGRAM.getTypeChecker();

/** Decorators of Nest and MCP-Nest that the documentation names. */
const DECORATORS_OF_NEST = new Set(
  `ApiProperty Body Ctx Headers HostParam Ip McpController McpRawRequest Param Payload PublicTool Query Req Res
  ResourceTemplate Session ToolGuards ToolRoles ToolScopes`.split(/\s+/),
);

describe('in the prose of the documentation', () => {
  it('every decorator is exported', () => {
    const found = unknown(/@([A-Z]\w*)/g, (name) => PACKAGE_SCOPE.has(name) || DECORATORS_OF_NEST.has(name));
    expectNone('Correct the name.', found);
  });

  it('every member of the context, a server, and the like exists', () => {
    const problems = problemsIn(PROGRAM, CHAINS_FILE.file).map(({ line, message }) => {
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

const TEXTS = filesUnder('docs', '.md').map((page) => ({ page, text: textOf(page) }));

function isOfClient(statement: ts.Statement): boolean {
  return moduleIn(statement).text === '@decorum/client';
}

const moduleIn = (statement: ts.Statement) => (statement as ts.ExportDeclaration).moduleSpecifier as ts.StringLiteral;

/** The exported types of all packages, by name. Some types of the client have namesakes, which are meant. */
const types = new Map(
  [...(PROGRAM.getSourceFile(ENTRIES_FILE.file)?.statements ?? [])]
    .toSorted((a, b) => Number(isOfClient(b)) - Number(isOfClient(a)))
    .flatMap((statement) => {
      const module = CHECKER.getSymbolAtLocation(moduleIn(statement));
      return module ? CHECKER.getExportsOfModule(module) : [];
    })
    .map((symbol) => {
      const isAlias = (symbol.flags & ts.SymbolFlags.Alias) !== 0;
      return [symbol.name, isAlias ? CHECKER.getAliasedSymbol(symbol) : symbol] as const;
    }),
);

const isForFramework = (member: ts.Symbol): boolean =>
  ts.displayPartsToString(member.getDocumentationComment(CHECKER)).startsWith('Internal');

/** Whether an extension adds the member, by declaration merging. Its own page tells of it. */
const isAdded = ({ declarations = [] }: ts.Symbol): boolean =>
  declarations.some(({ parent }) => ts.isModuleBlock(parent.parent));

const isPublic = (member: ts.Symbol): boolean =>
  !/^(?:__|#)/.test(member.name) &&
  !isForFramework(member) &&
  !isAdded(member) &&
  (member.declarations ?? []).every(
    (node) => (ts.getCombinedModifierFlags(node) & (ts.ModifierFlags.Private | ts.ModifierFlags.Protected)) === 0,
  );

/** The public members of a type; of a union those of each part. */
function symbolsOf(name: string): ts.Symbol[] {
  const symbol = types.get(name);
  if (symbol === undefined) throw new Error(`No package exports a type "${name}".`);
  const type = CHECKER.getDeclaredTypeOfSymbol(symbol);
  const parts = type.isUnion() ? type.types : [type];
  return parts.flatMap((part) => CHECKER.getPropertiesOfType(part).filter(isPublic));
}

const membersOf = (name: string): string[] => symbolsOf(name).map((member) => member.name);

const isOptional = (member: ts.Symbol): boolean => (member.flags & ts.SymbolFlags.Optional) !== 0;

const unique = (names: readonly string[]): string[] => [...new Set(names)].sort();

/**
 * A table whose rows are the members of types. Their names are in the paragraph before it: "Type: `ToolOptions`". "All of
 * `PromptOptions`, plus these. Type: `ToolOptions`" leaves out the members of another table.
 */
interface MemberTable {
  readonly where: string;
  readonly types: readonly string[];
  /** Types whose members are in another table. */
  readonly besides: readonly string[];
  readonly names: readonly string[];
  /** The names of rows that say "required"; undefined for a table without a column for defaults. */
  readonly required: readonly string[] | undefined;
}

const namesIn = (text: string): string[] => [...text.matchAll(/`@?(\w+)[^`]*`/g)].map(([, name = '']) => name);

/** The name of each row is in its first cell, as code. */
function tablesOf({ page, text }: { readonly page: string; readonly text: string }): MemberTable[] {
  const found = text.matchAll(/((?:^[^|\n].*\n)+)\n(\|.*\n\|[-| :]+\n(?:\|.*\n?)+)/gm);
  return [...found].flatMap(([whole, paragraph = '', table = '']) => {
    const named = /\b(?:types?|class):((?:\s+`\w+`,?)+)/i.exec(paragraph)?.[1];
    if (named === undefined) return [];
    const besides = namesIn(/\ball\s+of\s+`\w+`/i.exec(paragraph)?.[0] ?? '');
    const [head = '', , ...rows] = table.trimEnd().split('\n');
    const line = text.slice(0, text.indexOf(whole)).split('\n').length;
    const where = `${page}:${line} (${namesIn(named).join(', ')})`;
    const firstNames = (chosen: readonly string[]) => chosen.flatMap((row) => namesIn(row.split('|')[1] ?? ''));
    const required = firstNames(rows.filter((row) => /\| required +\|/.test(row)));
    const hasDefaults = /\| default +\|/.test(head);
    return [
      { where, types: namesIn(named), besides, names: firstNames(rows), required: hasDefaults ? required : undefined },
    ];
  });
}

const TABLES = TEXTS.flatMap(tablesOf);

describe('the tables of options and members', () => {
  it.each(TABLES.map((table) => [table.where, table] as const))('have what the type has: %s', (_where, table) => {
    const members = table.types.flatMap(membersOf);
    const elsewhere = new Set(table.besides.flatMap(membersOf));
    // a difference? a row is missing, or names what the code doesn't have
    expect([...table.names].sort()).toEqual(unique(members.filter((member) => !elsewhere.has(member))));
  });

  it.each(TABLES.filter(({ required }) => required).map((table) => [table.where, table] as const))(
    'say what is required: %s',
    (_where, { types: named, names, required }) => {
      const members = named.flatMap(symbolsOf).filter((member) => names.includes(member.name));
      const optional = new Set(members.filter(isOptional).map((member) => member.name));
      expect([...(required ?? [])].sort()).toEqual(
        unique(members.map((member) => member.name)).filter((name) => !optional.has(name)),
      );
    },
  );

  it('are there for every exported type of options', () => {
    const documented = new Set(TABLES.flatMap((table) => table.types));
    const known = new Set([...documented].map((name) => unique(membersOf(name)).join()));
    const missing = [...types.keys()].filter(
      (name) =>
        /^[A-Z]\w*Options$/.test(name) &&
        !documented.has(name) &&
        // that of extensions is empty
        ![...known, ''].includes(unique(membersOf(name)).join()),
    );
    expectNone('Add a table to docs/reference with "Type: `…`" before it.', missing);
  });
});

describe('the documentation', () => {
  // the pages about classes and their options; the others of the reference speak of the command line and of HTTP
  const names = ['index', 'mcp-server', 'decorators', 'context', 'transports', 'content-and-errors'];
  const reference = names.map((name) => TEXTS.find(({ page }) => page === `docs/reference/${name}.md`)?.text ?? '');

  it('names only types in the reference that exist', () => {
    const named = reference.flatMap((text) => [...text.matchAll(/(?<=`)[A-Z][A-Za-z]*(?=(?:<S>|\[\])?`)/g)]);
    const known = (name: string) => types.has(name) || name in globalThis || name in nodeHttp;
    expectNone(
      'Correct the name.',
      named.map(([name]) => name).filter((name) => !known(name)),
    );
  });

  const code = TEXTS.flatMap(({ text }) => [...text.matchAll(/`[^`\n]+`|^```[^]*?^```/gm)].map(([found]) => found));
  const words = new Set(code.join(' ').match(/\w+/g));

  it.each([
    ['@decorum/core', core],
    ['@decorum/core/plugin', plugin],
    ['@decorum/http', http],
    ['@decorum/http/node', nodeEntry],
    ['@decorum/http/fetch', fetchEntry],
    ['@decorum/http/lambda', lambdaEntry],
    ['@decorum/http/cluster', clusterEntry],
    ['@decorum/testing', testing],
    ['@decorum/auth', auth],
  ])('names everything that %s exports', (_name, entry) => {
    expectNone(
      'Say in docs/ what it is for.',
      Object.keys(entry).filter((name) => !words.has(name)),
    );
  });
});

const EXPLANATION = 'docs/protocol/revisions.md#sessions-and-stateless-requests';
const TERMS = /\b(?:sessions?|stateful|stateless|eras?)\b/i;

/** The prose of a page, by sections: without code, and without the targets of links. */
const sectionsOf = (page: string) =>
  textOf(page)
    .replaceAll(/^```[^]*?^```/gm, '')
    .split(/^(?=#)/m)
    .map((text) => ({ text, prose: text.replaceAll(/`[^`\n]*`|\]\([^)]*\)/g, '') }));

/** Where a link of a page leads, from the root. */
const targetsIn = (page: string, text: string) =>
  [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) =>
    target.startsWith('#') ? `${page}${target}` : join(page, '..', target),
  );

describe('sessions and stateless requests', () => {
  const READMES = filesUnder('packages/create-decorum/templates', 'README.md');

  it.each([...PAGES, ...READMES])(
    'are explained, or a link leads to the explanation, where %s first speaks of them',
    (page) => {
      const first = sectionsOf(page).find(({ prose }) => TERMS.test(prose));
      if (first !== undefined) expect(targetsIn(page, first.text)).toContain(EXPLANATION);
    },
  );
});
