import { existsSync } from 'node:fs';

import { Command, Option } from 'commander';
import { CommandFailure, EXIT } from 'create-decorum';

import { collect } from '../headers.js';
import { operandsOf } from '../operands.js';

interface Given {
  readonly scope: 'user' | 'project';
  readonly config?: string;
  readonly name?: string;
  readonly env?: readonly string[];
  readonly url?: string;
  readonly dev?: true;
  readonly force?: true;
  readonly dryRun?: true;
  readonly print?: true;
}

const CLIENTS = `
Clients: claude-desktop, claude-code, cursor, vscode, windsurf, codex,
gemini-cli, zed, goose`;

/** Options that say where the server is. */
export const locationOptions = (): readonly Option[] => [
  new Option('--scope <scope>', 'configuration to change').choices(['user', 'project']).default('user'),
  new Option('--config <file>', 'another file to change'),
  new Option('--name <name>', 'name of the server (default: that of the package)'),
  new Option('--dry-run', 'print the change, and write nothing'),
];

/** `decorum install` */
export function installCommand(): Command {
  const command = new Command('install')
    .summary('Adds the server to a client on this machine')
    .description('Adds the server to the configuration of a client on this machine')
    .usage('[options] <client> [entry] [-- args...]')
    .argument('[operands...]');
  for (const option of locationOptions()) command.addOption(option);
  command
    .option('--env <name=value>', 'variable of the server; can be repeated', collect)
    .option('--url <url>', 'a server that is served there, instead of a program')
    .option('--dev', 'run the source and follow your edits')
    .option('--force', 'replace a server with this name, and try nothing')
    .option('--print', 'print what to add; without <client>: for any client')
    .addHelpText('after', CLIENTS);
  return command.action(async () => await run(command.args, command.opts<Given>()));
}

async function run(operands: readonly string[], given: Given): Promise<void> {
  const { clientOf, isClientId } = await import('../install/location.js');
  const { again } = await import('../install/config-file.js');
  const { carryOut, diffOf, plan } = await import('../install/install.js');
  const { print } = await import('../install/print.js');
  const { scope, config, name, url, dev = false, force = false, dryRun = false } = given;
  const [first, ...others] = operands;
  const isForAny = given.print === true && first !== undefined && !isClientId(first) && existsSync(first);
  const id = isForAny ? undefined : first;
  const { entry, args } = operandsOf(isForAny ? operands : others);
  if (url !== undefined && (dev || entry !== undefined || given.env)) {
    throw new CommandFailure(
      '--url is for a server that runs already: leave out the entry, --dev and --env.',
      EXIT.usage,
    );
  }
  const server = {
    name,
    entry,
    args,
    dev,
    url: url === undefined ? undefined : checkedUrl(url),
    env: envOf(given.env),
  };
  if (given.print) return void process.stdout.write(print(id === undefined ? undefined : clientOf(id), server));
  const options = { ...server, scope, config, force };
  const planned = plan(clientOf(id), options);
  for (const warning of planned.warnings) process.stderr.write(`${warning}\n`);
  if (dryRun) return void process.stdout.write(diffOf(planned));
  if (url === undefined && !planned.isDone && !force) {
    const { requireAnswer } = await import('../install/try.js');
    await requireAnswer(server, server.env);
  }
  // the client may have written its file while the program was tried
  process.stdout.write(again(() => carryOut(plan(clientOf(id), options))));
}

function checkedUrl(given: string): string {
  if (/^https?:/i.test(given) && URL.canParse(given)) return given;
  throw new CommandFailure(
    `--url is "${given}". Pass an http or https URL, such as http://127.0.0.1:3000/mcp.`,
    EXIT.usage,
  );
}

/** The variables in `--env`. */
function envOf(lines: readonly string[] = []): Readonly<Record<string, string>> {
  const pairs = lines.map((line) => {
    const [, name, value = ''] = /^([A-Za-z_]\w*)=([^]*)$/.exec(line) ?? [];
    if (name !== undefined) return [name, value];
    // what follows may be a secret, and errors end up in logs
    const shown = line.includes('=') ? `for "${line.slice(0, line.indexOf('='))}"` : 'without "="';
    throw new CommandFailure(`There is an --env ${shown}. Write NAME=value.`, EXIT.usage);
  });
  return Object.fromEntries(pairs) as Record<string, string>;
}
