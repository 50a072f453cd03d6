import { createRequire } from 'node:module';
import { basename } from 'node:path';

import type { Options } from '@swc/core';

import type { Format } from './format.js';
import { softenImports } from './metadata-imports.js';
import { type Project, projectOf } from './project.js';
import { privateDecoratorError } from './private-decorators.js';
import { placeAt, type SourceError, sourceError } from './source-error.js';

/** Loads the compiler and the parser on demand: if the hooks run in a thread, this thread rarely needs them. */
const require = createRequire(import.meta.url);

type CompilerOptions = Project['options'];

/** Before ES2022, class fields were assignments. */
const ASSIGNING_TARGETS = /^es(?:3|5|6|20(?:1\d|2[01]))$/i;

function jsxOf({ jsx, jsxImportSource, jsxFactory, jsxFragmentFactory }: CompilerOptions) {
  if (jsx === undefined) return {};
  return {
    react: {
      runtime: /^react-jsx/i.test(jsx) ? ('automatic' as const) : ('classic' as const),
      development: /dev$/i.test(jsx),
      ...(jsxImportSource !== undefined && { importSource: jsxImportSource }),
      ...(jsxFactory !== undefined && { pragma: jsxFactory }),
      ...(jsxFragmentFactory !== undefined && { pragmaFrag: jsxFragmentFactory }),
    },
  };
}

function transformOf(options: CompilerOptions): NonNullable<NonNullable<Options['jsc']>['transform']> {
  const isLegacy = options.experimentalDecorators === true;
  return {
    ...(isLegacy
      ? { legacyDecorator: true, decoratorMetadata: options.emitDecoratorMetadata === true }
      : { decoratorVersion: '2023-11' as const }),
    useDefineForClassFields: options.useDefineForClassFields ?? !ASSIGNING_TARGETS.test(options.target ?? ''),
    verbatimModuleSyntax: options.verbatimModuleSyntax === true,
    ...jsxOf(options),
  };
}

function swcOptions(file: string, format: Format): Options {
  const { options } = projectOf(file);
  return {
    filename: file,
    // relative, because Node.js resolves it against the URL of the file
    sourceFileName: basename(file),
    sourceMaps: 'inline',
    inlineSourcesContent: false,
    configFile: false,
    swcrc: false,
    module:
      format === 'module'
        ? { type: 'es6' }
        : {
            type: 'commonjs',
            // lists the names of the exports, for `bridge`
            exportInteropAnnotation: true,
            importInterop: options.esModuleInterop === false ? 'none' : 'swc',
            // keeps `import()`, with which CommonJS loads ES modules. Only `module: commonjs` compiles it
            ignoreDynamic: !/^commonjs$/i.test(options.module ?? ''),
          },
    jsc: {
      target: 'es2022',
      parser: { syntax: 'typescript', decorators: true, tsx: file.endsWith('x') },
      transform: transformOf(options),
      keepClassNames: true,
      // `softenImports` would take a comment that mentions a type for a use of it
      minify: { format: { comments: false } },
      experimental: { keepImportAttributes: true },
    },
  };
}

/**
 * Compiles TypeScript as its tsconfig says, with an inline source map.
 * @throws {SourceError} for a syntax error
 */
export function compile(file: string, source: string, format: Format): string {
  const { options } = projectOf(file);
  const lost = options.experimentalDecorators === true ? privateDecoratorError(file, source) : undefined;
  if (lost !== undefined) throw lost;
  try {
    const { transformSync } = require('@swc/core') as typeof import('@swc/core');
    const { code } = transformSync(source, swcOptions(file, format));
    // with verbatimModuleSyntax, users mark type imports themselves
    const isVerbatim = options.verbatimModuleSyntax === true;
    return format === 'module' && !isVerbatim ? softenImports(code) : code;
  } catch (error) {
    throw explained(file, source, error as Error);
  }
}

/** Replaces the compiler's error, which has a frame and a native stack, with one that has a position. */
function explained(file: string, source: string, error: Error): Error {
  const found = syntaxErrorIn(file, source);
  if (found) return found;
  const [, reason = error.message] = /^\s*[x×]\s*(.+)/m.exec(error.message) ?? [];
  const [, line = 1, column = 1] = /:(\d+):(\d+)\]/.exec(error.message) ?? [];
  return sourceError(reason, source, { file, line: Number(line), column: Number(column) });
}

/**
 * The first syntax error in a file. This includes errors that the compiler leaves to Node.js, which only knows the
 * compiled file: a name that is declared twice, for example.
 */
export function syntaxErrorIn(file: string, source: string): SourceError | undefined {
  const { parseSync } = require('oxc-parser') as typeof import('oxc-parser');
  const [first] = parseSync(file, source, { showSemanticErrors: true }).errors;
  return first && sourceError(first.message, source, placeAt(file, source, first.labels[0]?.start ?? 0));
}
