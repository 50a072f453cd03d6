import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from '@jest/globals';

import ts from 'typescript';

import { expectNone, type Import, lineOf, OTHERS, PACKAGES, ROOT, type Source, SOURCES, visit } from './source.js';

/** Inside core, a folder or root file may import these. Nothing points upward. */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  protocol: [],
  text: [],
  metadata: ['protocol'],
  decorators: ['metadata', 'protocol', 'schema (types)'],
  schema: ['metadata', 'protocol'],
  registry: ['schema', 'metadata', 'protocol'],
  kernel: ['registry', 'schema', 'protocol', 'text'],
  transports: ['kernel', 'protocol'],
  interceptors: ['kernel', 'protocol', 'text'],
  'hooks.ts': [],
  'providers.ts': ['transports', 'kernel', 'registry', 'metadata', 'protocol'],
  'options.ts': ['providers.ts', 'kernel', 'registry', 'metadata', 'protocol'],
  'server.ts': [
    'options.ts',
    'providers.ts',
    'hooks.ts',
    'transports',
    'kernel',
    'registry',
    'schema',
    'metadata',
    'protocol',
    'schema (types)',
    'decorators (types)',
  ],
  'transport.ts': ['transports', 'kernel', 'protocol'],
  'index.ts': [
    'server.ts',
    'options.ts',
    'providers.ts',
    'decorators',
    'interceptors',
    'transports',
    'kernel',
    'registry',
    'schema',
    'metadata',
    'protocol',
  ],
};

/** Parts of protocol that never import each other. */
const APART: readonly (readonly [from: string, to: string])[] = [
  ['protocol/revisions/', 'protocol/eras/'],
  ['protocol/', 'protocol/eras/'],
];

/** What a package may import of its siblings, each by its public entry. */
const DIRECTION: Readonly<Record<string, readonly string[]>> = {
  'uri-template': [],
  core: ['@decorum/uri-template'],
  http: ['@decorum/core', '@decorum/core/transport'],
  testing: ['@decorum/core', '@decorum/core/transport'],
};

const ENTRIES = new Set([
  ...PACKAGES.map((name) => `@decorum/${name}`),
  '@decorum/core/transport',
  '@decorum/http/node',
  '@decorum/http/fetch',
]);
const CORE = 'packages/core/src/';
const core = SOURCES.filter(({ file }) => file.startsWith(CORE));
const layerOf = (file: string) => file.slice(CORE.length).split('/')[0] as string;
const place = ({ file }: Source, { line, specifier }: Import) => `${file}:${line} imports ${specifier}`;

describe('layers of core', () => {
  it('are all in the table', () => {
    const unknown = new Set(core.map(({ file }) => layerOf(file)).filter((layer) => !(layer in LAYERS)));
    expectNone(
      'A new folder or root file of packages/core/src: say in LAYERS (test/architecture/layers.test.ts) what it may import, and draw it in ARCHITECTURE.md.',
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
      'An import against the layers of ARCHITECTURE.md. Move the code to the layer that knows what it needs, or pass what is needed in as a parameter.',
      upward,
    );
  });

  it('leave protocol pure: it imports neither packages nor Node', () => {
    const impure = core
      .filter(({ file }) => layerOf(file) === 'protocol')
      .flatMap((source) => source.imports.filter(({ file }) => file === undefined).map((each) => place(source, each)));
    expectNone('protocol/ imports nothing outside itself. Pass in what it needs.', impure);
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
    expectNone('Eras know revisions and exchanges, which do not know eras. Turn the import round.', joined);
  });
});

/** Every place of these sources where a text literal is one of `words`, as `file:line word`. */
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

describe('what is known in one place', () => {
  /** testing is a client, which chooses an era. */
  const servers = SOURCES.filter(({ file }) => /^packages\/(?:core|http)\//.test(file));

  it('the era of a request: nothing outside protocol/ branches on it', () => {
    const outside = servers.filter(({ file }) => !file.startsWith(`${CORE}protocol/`));
    const asked = outside.flatMap(({ file, tree }) => {
      const lines: string[] = [];
      visit(tree, (node) => {
        if (ts.isPropertyAccessExpression(node) && node.name.text === 'era')
          lines.push(`${file}:${lineOf(tree, node.getStart(tree))} .era`);
      });
      return lines;
    });
    expectNone('Give the revision or the peer a member that names the behavior, and ask for that.', [
      ...asked,
      ...literals(outside, new Set(['stateful', 'stateless'])),
    ]);
  });

  it('what is true of a method: protocol/methods.ts, beside the code that handles it', () => {
    const table = SOURCES.find(({ file }) => file === `${CORE}protocol/methods.ts`);
    const methods = new Set(
      [...(table?.text ?? '').matchAll(/^ {2}'?([a-z]+(?:\/[a-zA-Z/]+)?)'?: \{/gm)].map(([, name]) => name as string),
    );
    expect(methods.size).toBe(14);
    methods.add('initialize');
    // a question of servers too
    methods.delete('ping');
    const elsewhere = servers.filter(({ file }) => file !== table?.file && !file.startsWith(`${CORE}kernel/methods/`));
    expectNone(
      'Say it as a trait of the method in protocol/methods.ts, and read the trait.',
      literals(elsewhere, methods),
    );
  });

  it('Fastify and node:http: the bindings of http', () => {
    const bound = SOURCES.filter(({ file }) => !file.startsWith('packages/http/src/bindings/')).flatMap((source) =>
      source.imports
        .filter(({ specifier }) => /^(?:fastify(?:-plugin)?|node:(?:http2?|https|net|tls))$/.test(specifier))
        .map((each) => place(source, each)),
    );
    expectNone('The endpoint knows small requests and responders only. Move it to packages/http/src/bindings.', bound);
  });
});

describe('packages', () => {
  it('are all in the table of directions', () => {
    expect(Object.keys(DIRECTION).sort()).toEqual(PACKAGES);
  });

  it('import each other in one direction, by public entries', () => {
    const wrong = SOURCES.flatMap((source) => {
      const allowed = DIRECTION[source.file.split('/')[1] as string] ?? [];
      return source.imports
        .filter(({ specifier }) => specifier.startsWith('@decorum/') && !allowed.includes(specifier))
        .map((each) => `${place(source, each)} (may import: ${allowed.join(', ') || 'no sibling'})`);
    });
    expectNone('http and testing import core, and core imports neither. Move the code, or export it from core.', wrong);
  });

  it('are used by their public entries elsewhere', () => {
    const wrong = OTHERS.flatMap((source) =>
      source.imports
        .filter(({ specifier }) => specifier.startsWith('@decorum/') && !ENTRIES.has(specifier))
        .map((each) => place(source, each)),
    );
    expectNone(`Import only ${[...ENTRIES].join(', ')}.`, wrong);
  });

  it('are not entered through the file system', () => {
    const home = (file: string) => /^(?:packages|examples)\/[^/]+\/|^[^/]+\//.exec(file)?.[0] ?? '';
    const wrong = [...SOURCES, ...OTHERS].flatMap((source) =>
      source.imports
        .filter(({ file }) => file !== undefined && home(file) !== home(source.file) && /\/src\//.test(file))
        .map((each) => place(source, each)),
    );
    expectNone("Import the other package by its name and public entry, not by a path into its 'src'.", wrong);
  });

  it('declare what they import', () => {
    const wrong = SOURCES.flatMap((source) => {
      const folder = source.file.split('/').slice(0, 2).join('/');
      const manifest = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')) as {
        dependencies?: object;
        peerDependencies?: object;
      };
      const declared = { ...manifest.dependencies, ...manifest.peerDependencies };
      const packageOf = (specifier: string) => /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier;
      return source.imports
        .filter(({ specifier, file }) => file === undefined && !specifier.startsWith('node:'))
        .filter(({ specifier }) => !(packageOf(specifier) in declared))
        .map((each) => `${place(source, each)}, which ${folder}/package.json does not list`);
    });
    expectNone('Add it to `dependencies` of the package (Node modules are written with `node:`).', wrong);
  });
});

describe('imports', () => {
  it('form no cycle, types included', () => {
    const graph = new Map(SOURCES.map(({ file, imports }) => [file, imports.flatMap((each) => each.file ?? [])]));
    expectNone('Import cycles. Move what both need into a file of its own.', cyclesOf(graph));
  });
});

/** One cycle per file that a depth-first walk comes back to. */
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
