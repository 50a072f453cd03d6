import { spawnSync } from 'node:child_process';

/** The package managers that a project can be made for. */
export const INSTALLERS = ['npm', 'pnpm', 'yarn'] as const;

/** One of `INSTALLERS`. */
export type InstallerName = (typeof INSTALLERS)[number];

/** A package manager and its commands. */
export interface Installer {
  readonly name: InstallerName;
  /** Undefined if it isn't installed. */
  readonly version: string | undefined;
  /** The command that runs a script: `npm run`. */
  readonly run: string;
  /** The command that runs a program of the project: `npx`. */
  readonly exec: string;
  /** The arguments of a first installation. */
  readonly install: readonly string[];
  /** For the Dockerfile: the files to copy first, and the commands to install everything and prune devDependencies. */
  readonly docker: { readonly manifests: string; readonly ci: string; readonly prune: string };
}

/** The package manager that started this process, according to its user agent. */
function caller(): { name: string; version: string | undefined } {
  const [, name = 'npm', version] = /^(\w+)\/(\d+\.\d+\.\d+\S*)/.exec(process.env['npm_config_user_agent'] ?? '') ?? [];
  return { name, version };
}

/** The package manager that started this process, or npm. */
export function currentInstaller(): InstallerName {
  return INSTALLERS.find((each) => each === caller().name) ?? 'npm';
}

/** Whether to start programs through a shell: on Windows, package managers are scripts. */
export const NEEDS_SHELL = process.platform === 'win32';

const askVersion = (name: InstallerName) => spawnSync(name, ['--version'], { encoding: 'utf8', shell: NEEDS_SHELL });

/** What an installed package manager prints when it doesn't start. */
export const complaintOf = (name: InstallerName): string => askVersion(name).stderr?.trim() ?? '';

function versionOf(name: InstallerName): string | undefined {
  const current = caller();
  if (current.name === name && current.version !== undefined) return current.version;
  const { stdout } = askVersion(name);
  return /^\d+\.\d+\.\d+\S*/m.exec(stdout ?? '')?.[0];
}

const NPM = {
  name: 'npm',
  run: 'npm run',
  exec: 'npx',
  // no audit and no funding messages: the project is new, so advisories can wait
  install: ['install', '--no-audit', '--no-fund'],
  docker: { manifests: 'package.json package-lock.json', ci: 'npm ci', prune: 'npm prune --omit=dev' },
} as const;

function pnpm(version: string | undefined): Omit<Installer, 'version'> {
  // the images of Node.js don't contain pnpm
  const run = `npx --yes pnpm@${version ?? 10}`;
  return {
    name: 'pnpm',
    run: 'pnpm run',
    exec: 'pnpm exec',
    // in continuous integration it would insist on a lockfile
    install: ['install', '--no-frozen-lockfile'],
    docker: {
      manifests: 'package.json pnpm-lock.yaml pnpm-workspace.yaml',
      ci: `${run} install --frozen-lockfile`,
      prune: `${run} prune --prod`,
    },
  };
}

/** Since version 2, yarn is a different program with the same name. */
export const isModernYarn = ({ name, version }: Pick<Installer, 'name' | 'version'>): boolean =>
  name === 'yarn' && version !== undefined && !/^[01]\./.test(version);

function yarn(version: string | undefined): Omit<Installer, 'version'> {
  const base = { name: 'yarn', run: 'yarn run', exec: 'yarn' } as const;
  if (isModernYarn({ name: 'yarn', version })) {
    const run = `npx --yes @yarnpkg/cli-dist@${version}`;
    return {
      ...base,
      // in continuous integration it would insist on a lockfile
      install: ['install', '--no-immutable'],
      docker: {
        manifests: 'package.json yarn.lock .yarnrc.yml',
        ci: `${run} install --immutable`,
        prune: `${run} workspaces focus --production`,
      },
    };
  }
  const run = `npx --yes yarn@${version ?? '1.22.22'}`;
  return {
    ...base,
    install: ['install', '--non-interactive'],
    docker: {
      manifests: 'package.json yarn.lock .yarnrc',
      ci: `${run} install --frozen-lockfile --non-interactive`,
      prune: `${run} install --production --frozen-lockfile --non-interactive`,
    },
  };
}

/**
 * A package manager of some version.
 * @param version defaults to the one that is installed
 */
export function installerOf(name: InstallerName, version = versionOf(name)): Installer {
  if (name === 'npm') return { ...NPM, version };
  return { ...(name === 'pnpm' ? pnpm(version) : yarn(version)), version };
}
