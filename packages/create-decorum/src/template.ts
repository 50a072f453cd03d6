import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { composeManifest, type ManifestPart, ourPackages, settingsOf, TARBALLS } from './manifest.js';
import type { Installer } from './installers.js';
import type { Target } from './project-name.js';
import { newSecrets } from './secrets.js';
import { closureOf, type Tarball } from './tarballs.js';

/** The templates and their descriptions. */
export const TEMPLATES = {
  minimal: 'one tool, over stdio',
  http: 'a tool, a resource and a prompt, over HTTP',
  secured: 'over HTTP, for users who sign in',
  nestjs: 'in a NestJS application, over HTTP',
} as const;

/** The name of a template. */
export type TemplateName = keyof typeof TEMPLATES;

/** The test runners that a project can have. */
export const TEST_RUNNERS = ['vitest', 'jest'] as const;

/** The options of a new project. */
export interface ProjectOptions {
  readonly target: Target;
  readonly template: TemplateName;
  readonly test: (typeof TEST_RUNNERS)[number];
  /** `embedded`, `own`, or the URL of an issuer; undefined for templates without one. */
  readonly issuer: string | undefined;
  readonly installer: Installer;
  /** The tarballs of `--packages`. */
  readonly tarballs: ReadonlyMap<string, Tarball> | undefined;
}

/** The files of a project by their path in it, and the tarballs that it installs. */
export interface Project {
  readonly files: ReadonlyMap<string, string>;
  readonly tarballs: readonly Tarball[];
  /** The password of the first user, if there is one. */
  readonly password: string | undefined;
}

const FOLDER = fileURLToPath(new URL('../templates/', import.meta.url));

/** Files whose real name npm leaves out of packages. */
const RENAMED: Readonly<Record<string, string>> = { _gitignore: '.gitignore', _env: '.env' };

function pathsIn(folder: string, inside = ''): string[] {
  return readdirSync(join(folder, inside), { withFileTypes: true }).flatMap((entry) => {
    const path = inside === '' ? entry.name : `${inside}/${entry.name}`;
    return entry.isDirectory() ? pathsIn(folder, path) : [path];
  });
}

/** The files of one of the folders in `templates`. */
function filesOf(name: string): [path: string, text: string][] {
  const folder = join(FOLDER, name);
  return pathsIn(folder).map((path) => [RENAMED[path] ?? path, readFileSync(join(folder, path), 'utf8')]);
}

/** The values of the `{{word}}` placeholders in files. */
function wordsOf(
  { target, installer, issuer = '' }: ProjectOptions,
  tarballs: readonly Tarball[],
): Record<string, string> {
  return {
    issuer,
    name: target.serverName,
    pm: installer.name,
    run: installer.run,
    exec: installer.exec,
    ...installer.docker,
    copyPackages: tarballs.length > 0 ? `COPY ${TARBALLS} ./${TARBALLS}\n` : '',
  };
}

/** The folders whose files make a project. Later ones replace files of earlier ones. */
function foldersOf({ template, test, issuer }: ProjectOptions): string[] {
  const variant = issuer === undefined ? [] : [`${template}-${issuer === 'embedded' ? issuer : 'own'}`];
  return ['shared', template, ...variant, test];
}

const isTest = (path: string) => path.endsWith('.test.ts');

/** Renders a project without writing it. */
export function renderProject(options: ProjectOptions): Project {
  const { target, test, installer, issuer } = options;
  const sources = foldersOf(options).flatMap(filesOf);
  const parts = sources.filter(([path]) => path === 'package.json').map(([, text]) => JSON.parse(text) as ManifestPart);
  const tarballs = options.tarballs ? closureOf(ourPackages(parts), options.tarballs) : [];
  const manifest = { packageName: target.packageName, installer, tarballs };
  const secrets = issuer === 'embedded' ? newSecrets() : undefined;
  const words: Record<string, string | undefined> = { ...wordsOf(options, tarballs), ...secrets };
  const files = new Map<string, string>();
  for (const [path, text] of sources) {
    const filled = text.replaceAll(/\{\{(\w+)\}\}/g, (placeholder, word: string) => words[word] ?? placeholder);
    files.set(path, isTest(path) && test === 'jest' ? filled.replace("'vitest'", "'@jest/globals'") : filled);
  }
  for (const [path, text] of Object.entries(settingsOf(manifest))) files.set(path, text);
  files.set('package.json', composeManifest(parts, manifest));
  // there is nothing to say in it yet
  if (issuer === 'own') files.delete('.env');
  return { files, tarballs, password: secrets?.password };
}
