import { basename } from 'node:path';

import { Command, Option } from 'commander';

import { type Answers, complete } from './ask.js';
import { installDependencies, requireInstaller } from './install.js';
import { currentInstaller, INSTALLERS, type InstallerName, installerOf } from './installers.js';
import { targetOf } from './project-name.js';
import { type ProjectOptions, renderProject, TEMPLATES, TEST_RUNNERS } from './template.js';
import { tarballsIn } from './tarballs.js';
import { requireEmpty, type Written, writeProject } from './write.js';

interface Options extends Partial<Omit<Answers, 'folder'>> {
  readonly packageManager?: InstallerName;
  readonly packages?: string;
  readonly install: boolean;
  readonly force?: boolean;
  readonly yes?: boolean;
}

/** What `npm run dev` does. Even a stdio project serves HTTP, so that people can try it; .mcp.json uses stdio. */
const DEV = 'serves http://127.0.0.1:3000/mcp and follows your edits';

/** The users of a project that is its own authorization server. */
const USERS = 'data/users.json';

function nextSteps({ issuer, installer }: ProjectOptions, isInstalled: boolean): string {
  const steps: [command: string, what: string][] = [
    ...(isInstalled ? [] : [[`${installer.name} install`, 'installs the dependencies'] as [string, string]]),
    ...(issuer === 'own' ? [['cp .env.example .env', 'then set ISSUER in it'] as [string, string]] : []),
    [`${installer.run} dev`, DEV],
  ];
  const width = Math.max(...steps.map(([command]) => command.length));
  return steps.map(([command, what]) => `  ${command.padEnd(width)}    ${what}\n`).join('');
}

/** What is said of the first user, whose password is nowhere else but in .env. */
function signIn(password: string | undefined, { written }: Written): string {
  if (password === undefined || !written.includes(USERS)) return '';
  return `  sign in as alice, with the password ${password} (it is in .env, too)\n`;
}

function report(project: ProjectOptions, { written, kept }: Written, isInstalled: boolean): string {
  const { folder, shown, packageName } = project.target;
  const name = basename(folder);
  const summary = `${written.length} files${isInstalled ? ', dependencies installed' : ''}`;
  return [
    `✔ ${shown === '.' ? name : shown}: ${summary}\n`,
    packageName === name ? '' : `  its package is called ${packageName}\n`,
    kept.length === 0 ? '' : `  kept as they were: ${kept.join(', ')}\n`,
    nextSteps(project, isInstalled),
  ].join('');
}

async function create(folder: string | undefined, options: Options): Promise<void> {
  const { install, force, yes, packages, packageManager, ...given } = options;
  const answers = await complete({ folder, ...given }, yes ?? false, (each) => {
    const place = targetOf(each);
    if (!force) requireEmpty(place);
  });
  const target = targetOf(answers.folder);
  const installer = installerOf(packageManager ?? currentInstaller());
  if (install) requireInstaller(installer);
  const tarballs = packages === undefined ? undefined : tarballsIn(packages);
  const project = { ...answers, target, installer, tarballs };
  const rendered = renderProject(project);
  const written = writeProject(target, rendered);
  if (install) {
    process.stderr.write(`Installing dependencies with ${installer.name} …\n`);
    await installDependencies(target, installer);
  }
  process.stdout.write(report(project, written, install) + signIn(rendered.password, written));
}

/**
 * The command that creates a project: `create-decorum` and `decorum new`.
 * @param name its name in the help
 */
export function createCommand(name: string): Command {
  const templates = Object.keys(TEMPLATES);
  return new Command(name)
    .summary('Creates an MCP server with its test')
    .description('Creates an MCP server with its test, ready to run')
    .argument('[folder]', 'name or path of the project (asked for; else mcp-server)')
    .addOption(new Option('-t, --template <name>', 'what to start from').choices(templates))
    .option('--issuer <where>', 'for secured: embedded, own, or an issuer URL')
    .addOption(new Option('--test <runner>', 'what runs the tests').choices(TEST_RUNNERS))
    .addOption(new Option('--pm, --package-manager <name>', 'by default the one you run').choices(INSTALLERS))
    .option('--packages <folder>', 'install Decorum from the tarballs there')
    .option('--no-install', "don't install the dependencies")
    .option('--force', 'add files to a folder that has some, and overwrite none')
    .option('-y, --yes', 'ask nothing: minimal, vitest')
    .option('--debug', 'print the stack of an error')
    .action(create)
    .exitOverride();
}
