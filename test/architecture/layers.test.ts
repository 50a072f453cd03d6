import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from '@jest/globals';

import ts from 'typescript';

import { expectNone, type Import, lineOf, OTHERS, PACKAGES, ROOT, type Source, SOURCES, visit } from './source.js';

/** The layers that each folder or root file of core may import. Nothing imports upward. */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  protocol: [],
  text: [],
  metadata: ['protocol'],
  decorators: ['metadata', 'protocol'],
  registry: ['metadata', 'protocol', 'text'],
  kernel: ['registry', 'protocol', 'text'],
  transports: ['kernel', 'protocol'],
  interceptors: ['kernel', 'protocol', 'text'],
  'hooks.ts': [],
  'hosting.ts': ['kernel', 'registry'],
  'secrets.ts': ['kernel'],
  'notifier.ts': ['kernel'],
  'providers.ts': ['transform.ts', 'transports', 'kernel', 'registry', 'metadata', 'protocol'],
  'plugins.ts': ['providers.ts', 'transports', 'kernel', 'protocol'],
  'kernel-options.ts': [
    'options.ts',
    'stores.ts',
    'hosting.ts',
    'secrets.ts',
    'plugins.ts',
    'providers.ts',
    'kernel',
    'registry',
    'metadata',
    'protocol',
  ],
  'stores.ts': ['options.ts', 'secrets.ts', 'kernel'],
  'options.ts': ['plugins.ts', 'providers.ts', 'kernel', 'registry', 'metadata', 'protocol'],
  'added-tool.ts': ['added-members.ts', 'registry', 'protocol'],
  'server.ts': [
    'added-tool.ts',
    'kernel-options.ts',
    'options.ts',
    'stores.ts',
    'plugins.ts',
    'notifier.ts',
    'added-members.ts',
    'live-source.ts',
    'open-extensions.ts',
    'open-transports.ts',
    'source.ts',
    'registration.ts',
    'mountable.ts',
    'providers.ts',
    'hooks.ts',
    'hosting.ts',
    'transports',
    'kernel',
    'registry',
    'metadata',
    'protocol',
    'decorators (types)',
  ],
  'live-source.ts': ['kernel', 'registry', 'metadata', 'protocol'],
  'open-extensions.ts': ['hooks.ts', 'secrets.ts', 'kernel'],
  'added-members.ts': ['source-options.ts', 'registry', 'metadata', 'protocol'],
  'transform.ts': ['kernel', 'registry', 'protocol'],
  'open-transports.ts': ['providers.ts', 'hooks.ts', 'transports', 'kernel', 'registry', 'protocol'],
  'registration.ts': [],
  'source.ts': ['registration.ts'],
  'mountable.ts': [
    'open-transports.ts',
    'options.ts',
    'hosting.ts',
    'hooks.ts',
    'transports',
    'kernel',
    'registry',
    'protocol',
  ],
  'source-options.ts': ['transform.ts', 'protocol'],
  'mount.ts': [
    'server.ts',
    'mountable.ts',
    'source-options.ts',
    'registration.ts',
    'source.ts',
    'kernel',
    'registry',
    'protocol',
  ],
  'plugin.ts': [
    'text',
    'server.ts',
    'plugins.ts',
    'source.ts',
    'source-options.ts',
    'added-members.ts',
    'live-source.ts',
    'transports',
    'kernel',
    'registry',
    'metadata',
    'protocol',
  ],
  'health.ts': ['plugin.ts', 'transports', 'protocol'],
  'transport.ts': ['transports', 'kernel', 'protocol'],
  'contract.ts': ['mountable.ts', 'registry', 'protocol'],
  'repeated-calls.ts': ['mountable.ts', 'transports', 'kernel', 'protocol'],
  'visible-tools.ts': ['mountable.ts', 'kernel', 'registry'],
  'internal.ts': [
    'contract.ts',
    'visible-tools.ts',
    'repeated-calls.ts',
    'hosting.ts',
    'transports',
    'kernel',
    'registry',
    'metadata',
    'protocol',
  ],
  'index.ts': [
    'server.ts',
    'mount.ts',
    'registration.ts',
    'health.ts',
    'notifier.ts',
    'options.ts',
    'providers.ts',
    'transform.ts',
    'decorators',
    'interceptors',
    'transports',
    'kernel',
    'registry',
    'metadata',
    'protocol',
  ],
};

/** The folders and root files of schema, lowest first. Each may import those before it. */
const SCHEMA_LAYERS = [
  'values',
  'errors.ts',
  'options.ts',
  'metadata',
  'json-schema',
  'patterns',
  'decorators',
  'shape.ts',
  'rules',
  'interpreter',
  'validation',
  'standard',
  'dto',
  'mistaken-source.ts',
  'compile.ts',
  'parse.ts',
  'index.ts',
  'internal.ts',
];

/** Parts of protocol that never import each other. */
const APART: readonly (readonly [from: string, to: string])[] = [
  ['protocol/revisions/', 'protocol/eras/'],
  ['protocol/', 'protocol/eras/'],
];

const CORE_ENTRIES = ['@decorum/core', '@decorum/core/plugin', '@decorum/core/transport'];
const INTERNAL = '@decorum/core/internal';

/** The sibling entries that each package may import. Only packages that release together may use an `/internal` entry. */
const DIRECTION: Readonly<Record<string, readonly string[]>> = {
  'uri-template': [],
  schema: [],
  core: ['@decorum/schema', '@decorum/schema/internal', '@decorum/uri-template'],
  http: [...CORE_ENTRIES, INTERNAL, '@decorum/schema/internal'],
  auth: [...CORE_ENTRIES, INTERNAL, '@decorum/http'],
  // what stores share that keep files
  files: ['@decorum/core', '@decorum/core/plugin'],
  'auth-server': [
    ...CORE_ENTRIES,
    INTERNAL,
    '@decorum/files',
    '@decorum/http',
    '@decorum/auth',
    '@decorum/auth/internal',
  ],
  // plugins are built on the public contract, as those of others are
  opentelemetry: ['@decorum/core', '@decorum/core/plugin'],
  prometheus: ['@decorum/core', '@decorum/core/plugin'],
  audit: ['@decorum/core', '@decorum/core/plugin', '@decorum/files'],
  redis: ['@decorum/core', '@decorum/core/plugin', '@decorum/http', '@decorum/tasks'],
  // extensions are built on the public contract too
  apps: ['@decorum/core', '@decorum/core/plugin'],
  skills: ['@decorum/core', '@decorum/core/plugin'],
  tasks: ['@decorum/core', '@decorum/core/plugin', '@decorum/files'],
  // what speaks to servers
  client: [...CORE_ENTRIES, INTERNAL],
  openapi: ['@decorum/core', '@decorum/core/plugin', '@decorum/schema'],
  // it chooses what the kernel lists, which is no contract for others
  search: [...CORE_ENTRIES, INTERNAL],
  testing: [
    ...CORE_ENTRIES,
    INTERNAL,
    '@decorum/client',
    '@decorum/client/internal',
    '@decorum/http',
    '@decorum/http/node',
  ],
  nestjs: [...CORE_ENTRIES, INTERNAL, '@decorum/schema/internal', '@decorum/http', '@decorum/http/node'],
  'create-decorum': [],
  cli: [
    ...CORE_ENTRIES,
    INTERNAL,
    '@decorum/client',
    '@decorum/client/internal',
    '@decorum/http',
    '@decorum/http/node',
    '@decorum/http/cluster',
    'create-decorum',
  ],
};

const ENTRIES = new Set([
  // other examples and tests serve it too
  '@decorum/example-weather/weather',
  '@decorum/example-weather/weather-api',
  ...PACKAGES.map((name) => `@decorum/${name}`),
  '@decorum/core/plugin',
  '@decorum/core/transport',
  '@decorum/http/node',
  '@decorum/http/fetch',
  '@decorum/http/lambda',
  '@decorum/http/cluster',
  '@decorum/auth-server/store-contract',
  '@decorum/tasks/store-contract',
  '@decorum/testing/contracts',
  '@decorum/testing/jest',
  '@decorum/testing/vitest',
]);
/** What browsers load. It is published with its libraries in it. */
const BUNDLED = 'packages/cli/src/dev/cards/page/';
const CORE = 'packages/core/src/';
const core = SOURCES.filter(({ file }) => file.startsWith(CORE));
const layerOf = (file: string) => file.slice(CORE.length).split('/')[0] as string;
const place = ({ file }: Source, { line, specifier }: Import) => `${file}:${line} imports ${specifier}`;

describe('layers of core', () => {
  it('are all in the table', () => {
    const unknown = new Set(core.map(({ file }) => layerOf(file)).filter((layer) => !(layer in LAYERS)));
    expectNone(
      'New folder or root file in packages/core/src. List its allowed imports in LAYERS (test/architecture/layers.test.ts), and add it to ARCHITECTURE.md.',
      [...unknown],
    );
  });

  it('import only downward', () => {
    const upward = core.flatMap((source) => {
      const from = layerOf(source.file);
      const allowed = LAYERS[from] ?? [];
      return source.imports
        .filter(({ file, typesOnly }) => {
          if (file === undefined || !file.startsWith(CORE)) return false;
          const to = layerOf(file);
          return to !== from && !allowed.includes(to) && !(typesOnly && allowed.includes(`${to} (types)`));
        })
        .map((each) => `${place(source, each)} (${from} may import: ${allowed.join(', ') || 'nothing'})`);
    });
    expectNone(
      'This import violates the layers of ARCHITECTURE.md. Move the code to the layer that has its dependencies, or pass them as parameters.',
      upward,
    );
  });

  it('leave protocol pure: it imports neither Node nor packages, except schema', () => {
    const impure = core
      .filter(({ file }) => layerOf(file) === 'protocol')
      .flatMap((source) =>
        source.imports
          .filter(({ file, specifier }) => file === undefined && specifier !== '@decorum/schema/internal')
          .map((each) => place(source, each)),
      );
    expectNone('protocol/ must not import packages or Node modules. Pass dependencies as parameters.', impure);
  });

  it('keep the eras out of the rest of protocol', () => {
    const inside = (file: string, part: string) => file.startsWith(`${CORE}${part}`);
    const joined = core.flatMap((source) =>
      source.imports
        .filter(({ file }) =>
          APART.some(
            ([from, to]) =>
              file !== undefined && inside(file, to) && inside(source.file, from) && !inside(source.file, to),
          ),
        )
        .map((each) => place(source, each)),
    );
    expectNone('Eras may import revisions and exchanges, but not the other way round. Reverse the import.', joined);
  });
});

describe('layers of schema', () => {
  const folder = 'packages/schema/src/';
  const rankOf = (file: string) => SCHEMA_LAYERS.indexOf(file.slice(folder.length).split('/')[0] as string);
  const schema = SOURCES.filter(({ file }) => file.startsWith(folder));

  it('are all listed, and import only downward', () => {
    const wrong = schema.flatMap((source) =>
      source.imports
        .filter(({ file }) => file !== undefined && file.startsWith(folder) && rankOf(file) > rankOf(source.file))
        .map((each) => place(source, each)),
    );
    const unknown = schema.filter(({ file }) => rankOf(file) === -1).map(({ file }) => file);
    expectNone('Add the layer to SCHEMA_LAYERS, or move the code to the layer that has its dependencies.', [
      ...unknown,
      ...wrong,
    ]);
  });

  it('know nothing about MCP', () => {
    const found = schema.filter(({ text }) => /mcp|modelcontextprotocol|json-?rpc/i.test(text));
    expectNone(
      'The schema package works without MCP. Let core pass in what it needs.',
      found.map(({ file }) => file),
    );
  });
});

/** Finds all string literals in `words`, as `file:line word`. */
function literals(sources: readonly Source[], words: ReadonlySet<string>): string[] {
  const found: string[] = [];
  for (const { file, tree } of sources) {
    visit(tree, (node) => {
      const isText = ts.isStringLiteralLike(node) && !ts.isImportDeclaration(node.parent);
      if (isText && words.has(node.text)) found.push(`${file}:${lineOf(tree, node.getStart(tree))} '${node.text}'`);
    });
  }
  return found;
}

describe('single sources of truth', () => {
  /** Without testing: it is a client, and clients choose an era. */
  const servers = SOURCES.filter(({ file }) => /^packages\/(?:core|http)\//.test(file));

  it('only protocol/ branches on the era of a request', () => {
    const outside = servers.filter(({ file }) => !file.startsWith(`${CORE}protocol/`));
    const asked = outside.flatMap(({ file, tree }) => {
      const lines: string[] = [];
      visit(tree, (node) => {
        if (ts.isPropertyAccessExpression(node) && node.name.text === 'era')
          lines.push(`${file}:${lineOf(tree, node.getStart(tree))} .era`);
      });
      return lines;
    });
    expectNone('Add a member that names the behavior to the revision or the peer, and branch on that.', [
      ...asked,
      ...literals(outside, new Set(['stateful', 'stateless'])),
    ]);
  });

  it('only protocol/methods.ts and the method handlers name methods', () => {
    const table = SOURCES.find(({ file }) => file === `${CORE}protocol/methods.ts`);
    const methods = new Set(
      [...(table?.text ?? '').matchAll(/^ {2}'?([a-z]+(?:\/[a-zA-Z/]+)?)'?: \{/gm)].map(([, name]) => name as string),
    );
    expect(methods.size).toBe(12);
    methods.add('initialize').add('tools/call').add('subscriptions/listen');
    // servers send it too
    methods.delete('ping');
    const elsewhere = servers.filter(({ file }) => file !== table?.file && !file.startsWith(`${CORE}kernel/methods/`));
    expectNone(
      'Add a trait to the method in protocol/methods.ts, and branch on the trait.',
      literals(elsewhere, methods),
    );
  });

  it('only the hosts of http import Fastify and node:http', () => {
    const unbound = SOURCES.filter(
      ({ file }) =>
        /^packages\/(?:core|http|auth)\//.test(file) && !/^packages\/http\/src\/(?:hosts|fast)\//.test(file),
    );
    const bound = unbound.flatMap((source) =>
      source.imports
        .filter(({ specifier }) => /^(?:fastify(?:-plugin)?|node:(?:http2?|https|net|tls))$/.test(specifier))
        .map((each) => place(source, each)),
    );
    expectNone('The endpoint is independent of the HTTP host. Move the code to packages/http/src/hosts.', bound);
  });
});

describe('hosts of http', () => {
  const SRC = 'packages/http/src/';
  /** Files with steps of a request. */
  const STEPS =
    /^(?:endpoint\/(?:guard|routes|body|endpoint)|auth\/(?:authenticate|challenge|gate)|(?:exchange|sessions|streams)\/.+)\.ts$/;

  it('take no step of a request themselves: they call `admit` and `receive` of the pipeline', () => {
    const hosts = SOURCES.filter(({ file }) => file.startsWith(`${SRC}hosts/`));
    const taken = hosts.flatMap((source) =>
      source.imports
        .filter(({ file, typesOnly }) => !typesOnly && file?.startsWith(SRC) && STEPS.test(file.slice(SRC.length)))
        // each host extends the reader of bodies
        .filter(({ file }) => !(source.file.endsWith('body.ts') && file === `${SRC}endpoint/body.ts`))
        .map((each) => place(source, each)),
    );
    expectNone(
      'Call `admit` or `receive` of packages/http/src/endpoint/pipeline.ts, and put the decision there.',
      taken,
    );
    const reached = hosts.flatMap(({ file, tree }) =>
      [...tree.text.matchAll(/\.(?:guard|gate|legacy)\b/g)].map(([field]) => `${file} reads ${field}`),
    );
    expectNone('The pipeline calls the guard, the gate and HTTP+SSE.', reached);
  });
});

describe('packages', () => {
  it('are all listed in DIRECTION', () => {
    expect(Object.keys(DIRECTION).sort()).toEqual(PACKAGES);
  });

  it('import each other in one direction and through public entries', () => {
    const wrong = SOURCES.flatMap((source) => {
      const allowed = DIRECTION[source.file.split('/')[1] as string] ?? [];
      return source.imports
        .filter(({ specifier }) => specifier.startsWith('@decorum/') && !allowed.includes(specifier))
        .map((each) => `${place(source, each)} (may import: ${allowed.join(', ') || 'no sibling'})`);
    });
    expectNone(
      'auth may import http and core, http may import core, testing may import core and load http on demand, core may import schema, and schema imports none of them. Move the code, or export it from the package below.',
      wrong,
    );
  });

  it('are imported through public entries everywhere else', () => {
    const wrong = OTHERS.flatMap((source) =>
      source.imports
        .filter(({ specifier }) => specifier.startsWith('@decorum/') && !ENTRIES.has(specifier))
        // tests may look inside
        .filter(({ specifier }) => !(specifier.endsWith('/internal') && /(?:^|\/)test\//.test(source.file)))
        .map((each) => place(source, each)),
    );
    expectNone(`Import only ${[...ENTRIES].join(', ')}.`, wrong);
  });

  it('are never imported by file path', () => {
    const home = (file: string) => /^(?:packages|examples)\/[^/]+\/|^[^/]+\//.exec(file)?.[0] ?? '';
    const wrong = [...SOURCES, ...OTHERS].flatMap((source) =>
      source.imports
        .filter(({ file }) => file !== undefined && home(file) !== home(source.file) && /\/src\//.test(file))
        // examples have no entries that a test could import
        .filter(({ file = '' }) => home(source.file) !== 'test/' || !file.startsWith('examples/'))
        .map((each) => place(source, each)),
    );
    expectNone("Import the other package by name, not by a path into its 'src'.", wrong);
  });

  it('declare their dependencies', () => {
    const wrong = SOURCES.flatMap((source) => {
      const folder = source.file.split('/').slice(0, 2).join('/');
      const manifest = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')) as {
        dependencies?: object;
        devDependencies?: object;
        peerDependencies?: object;
      };
      const declared = {
        ...manifest.dependencies,
        ...manifest.peerDependencies,
        ...(source.file.startsWith(BUNDLED) && manifest.devDependencies),
      };
      const packageOf = (specifier: string) => /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier;
      return source.imports
        .filter(({ specifier, file }) => file === undefined && !specifier.startsWith('node:'))
        .filter(({ specifier }) => !(packageOf(specifier) in declared))
        .map((each) => `${place(source, each)}, which ${folder}/package.json does not list`);
    });
    expectNone('Add it to `dependencies` of the package. Import Node modules with `node:`.', wrong);
  });
});

describe('imports', () => {
  it('form no cycle, types included', () => {
    const graph = new Map(SOURCES.map(({ file, imports }) => [file, imports.flatMap((each) => each.file ?? [])]));
    expectNone('Import cycle. Move the shared code into a separate file.', cyclesOf(graph));
  });
});

/** Finds cycles by a depth-first walk. Reports one for each back edge. */
function cyclesOf(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>();
  const cycles: string[] = [];
  const walk = (file: string, path: readonly string[]) => {
    const start = path.indexOf(file);
    if (start !== -1) cycles.push([...path.slice(start), file].join(' → '));
    if (start !== -1 || done.has(file)) return;
    for (const next of graph.get(file) ?? []) walk(next, [...path, file]);
    done.add(file);
  };
  for (const file of graph.keys()) walk(file, []);
  return cycles;
}
