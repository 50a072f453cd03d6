import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

import { CommandFailure, type Installer, installerOf, type InstallerName } from 'create-decorum';
import semver from 'semver';

import { shown } from '../entry.js';
import { type Manifest, readManifest } from '../mcpb/dependencies.js';
import { published } from '../mcpb/published.js';

/** What an image is made of. */
export interface ImageOptions {
  /** Folder of the project. */
  readonly project: string;
  /** Absolute path of the JavaScript that the image starts. */
  readonly file: string;
  /** The arguments of `decorum build` in the image. */
  readonly args: readonly string[];
  /** The bundle that the image starts, if it does. */
  readonly bundle?: { readonly reads: readonly string[] };
}

/** The versions of Node.js to choose from: those with security fixes first. */
const NODE_VERSIONS = ['24', '22', '20'];

const LOCKFILES: Readonly<Record<string, InstallerName>> = { 'pnpm-lock.yaml': 'pnpm', 'yarn.lock': 'yarn' };

/** Files that package managers read beside their lockfiles, if there are any. */
const SETTINGS = ['pnpm-workspace.yaml', '.npmrc', '.yarnrc', '.yarnrc.yml'];

/** Exits with 0 while the server answers. A server without the plugin `health()` answers with 404. */
const HEALTH =
  'fetch(`http://127.0.0.1:${process.env.PORT || 3000}/healthz`).then(({ status }) => process.exit(status < 500 ? 0 : 1), () => process.exit(1))';

/** Whether a project serves over HTTP. */
const isForHttp = ({ dependencies = {} }: Manifest) =>
  ['@decorum/http', '@decorum/nestjs'].some((name) => name in dependencies);

function nodeFor({ engines }: Manifest): string {
  // npm ignores a range that is none
  const range = semver.validRange(engines?.node) ?? '*';
  return NODE_VERSIONS.find((each) => semver.intersects(`${each}.x`, range)) ?? (NODE_VERSIONS[0] as string);
}

interface Installation {
  readonly files: readonly string[];
  readonly installer: Installer;
}

/** @throws {CommandFailure} if there is no lockfile, without which images differ from each other */
function installationOf(project: string, { packageManager = '' }: Manifest): Installation {
  const has = (file: string) => existsSync(join(project, file));
  const [lockfile = 'package-lock.json', name = 'npm'] = Object.entries(LOCKFILES).find(([file]) => has(file)) ?? [];
  if (!has(lockfile)) {
    const remedy =
      'Install the dependencies here first, with `npm install`. In a workspace, write the Dockerfile yourself.';
    throw new CommandFailure(`${shown(project)} has no lockfile, which an image needs. ${remedy}`);
  }
  const [, wanted, version] = /^(\w+)@([\d.]+)/.exec(packageManager) ?? [];
  const installer = installerOf(name, wanted === name ? version : undefined);
  return { files: ['package.json', lockfile, ...SETTINGS].filter(has), installer };
}

/** The folders of dependencies in files: `"file:packages/decorum-core.tgz"`. */
function localFolders(project: string, files: readonly string[]): readonly string[] {
  const text = files.map((file) => readFileSync(join(project, file), 'utf8')).join('\n');
  return [...new Set([...text.matchAll(/file:(?:\.\/)?([\w.-]+)\//g)].map(([, folder = '']) => folder))];
}

/** What the last stage copies besides the packages. */
function copied({ project, file, bundle }: ImageOptions): readonly string[] {
  const [outDir = ''] = pathOf(project, file).split('/');
  if (bundle) return [`${outDir}/bundle`, ...bundle.reads];
  const { paths } = published(project, readManifest(project).files ?? []);
  return ['package.json', 'node_modules', outDir, ...paths.filter((each) => each.split('/')[0] !== outDir)];
}

/** Paths with spaces are more than one in the short form. */
function copy(from: string, to: string, flags = ''): string {
  return `COPY ${flags}${/\s/.test(from) ? JSON.stringify([from, to]).replace('","', '", "') : `${from} ${to}`}`;
}

/** A word of a shell's command. */
const word = (text: string) => (/^[\w./@:=+-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`);

const pathOf = (project: string, file: string) => relative(project, file).replaceAll('\\', '/');

/** The Dockerfile of a project: a stage that builds it, and one with only what it needs to run. */
export function dockerfileOf(options: ImageOptions): string {
  const { project, file, args, bundle } = options;
  const manifest = readManifest(project);
  const { files, installer } = installationOf(project, manifest);
  const image = `FROM node:${nodeFor(manifest)}-slim`;
  const http = isForHttp(manifest);
  const lines = [
    `${image} AS build`,
    'WORKDIR /app',
    `COPY ${files.join(' ')} ./`,
    ...localFolders(project, files).map((folder) => copy(folder, `./${folder}`)),
    `RUN ${installer.docker.ci}`,
    'COPY . .',
    `RUN npx --no -- decorum build${args.map((each) => ` ${word(each)}`).join('')}`,
    ...(bundle ? [] : [`RUN ${installer.docker.prune}`]),
    '',
    image,
    'WORKDIR /app',
    ...(http ? ['# list the names by which clients reach the server; any other is refused'] : []),
    `ENV NODE_ENV=production${http ? ' HOST=0.0.0.0 PORT=3000 ALLOWED_HOSTS=localhost,127.0.0.1' : ''}`,
    ...copied(options).map((path) => copy(`/app/${path}`, `./${path}`, '--from=build ')),
    'USER node',
    ...(http
      ? ['EXPOSE 3000', `HEALTHCHECK --interval=30s --timeout=3s --start-period=10s CMD ${healthCommand()}`]
      : []),
    `CMD ["node", ${JSON.stringify(pathOf(project, file))}]`,
  ];
  return `${lines.join('\n')}\n`;
}

const healthCommand = () => JSON.stringify(['node', '-e', HEALTH]).replaceAll('","', '", "');

/** What isn't sent to the Docker daemon: what the build makes itself, and secrets. */
export const DOCKERIGNORE = ['.git', '.env*', '!.env.example', 'node_modules', 'dist', '*.log', '*.mcpb', ''].join(
  '\n',
);
