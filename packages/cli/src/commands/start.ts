import { availableParallelism } from 'node:os';

import { Command } from 'commander';
import { CommandFailure, EXIT } from 'create-decorum';

import { operandsOf } from '../operands.js';

interface Given {
  readonly stdio?: true;
  readonly http?: true;
  readonly envFile?: string;
  readonly workers?: string;
}

const ENVIRONMENT = `
Environment, for servers that the entry exports (a program that serves by
itself reads its own):
  PORT           port to listen on, 0 for any that is free (default: 3000)
  HOST           address to listen on (default: 127.0.0.1)
  ALLOWED_HOSTS  names that clients use for the server, separated by commas;
                 required if other machines can connect`;

/** `decorum start` */
export function startCommand(): Command {
  const command = new Command('start')
    .summary('Serves a built program in production')
    .description('Serves a built program in production, or a TypeScript file as it is')
    .argument('[entry]', 'file to run (default: the built src/{main,server,index}.ts)')
    .argument('[args...]', 'after --: arguments of the program')
    .option('--stdio', 'serve over stdin and stdout')
    .option('--http', 'serve over HTTP (the default)')
    .option('--workers <number>', 'run this many processes that share a port and sessions; auto: one per core')
    .option('--env-file <file>', 'read variables from a file; those already set win')
    .addHelpText('after', ENVIRONMENT);
  return command.action(async () => {
    const { stdio, http, envFile, workers } = command.opts<Given>();
    const { entry, args } = operandsOf(command.args);
    if (stdio && http) throw new CommandFailure('Pass either --stdio or --http, not both.', EXIT.usage);
    if (stdio && workers !== undefined)
      throw new CommandFailure(
        '--workers needs HTTP: over stdio, a program has one client. Leave out one of them.',
        EXIT.usage,
      );
    const count = workers === undefined ? undefined : countOf(workers);
    // imported here, because other commands don't need it
    const { start } = await import('../start/start.js');
    await start(entry, {
      transport: stdio ? 'stdio' : 'http',
      isChosen: stdio ?? http ?? false,
      envFile,
      workers: count,
      args,
    });
  });
}

const MAX_WORKERS = 256;

/** The number of workers. */
function countOf(text: string): number {
  const count = text === 'auto' ? availableParallelism() : Number(text);
  if (/^(?:auto|\d+)$/.test(text) && count >= 1 && count <= MAX_WORKERS) return count;
  const remedy = `Pass a whole number from 1 to ${MAX_WORKERS}, or "auto" for one per core.`;
  throw new CommandFailure(`--workers is "${text}". ${remedy}`, EXIT.usage);
}
