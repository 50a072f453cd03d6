import { Command } from 'commander';
import { CommandFailure, EXIT } from 'create-decorum';

import { operandsOf } from '../operands.js';

interface Given {
  readonly stdio?: true;
  readonly http?: true;
  readonly envFile?: string;
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
    .description('Serves a built program in production, or a TypeScript file as it is')
    .argument('[entry]', 'file to run (default: the built src/{main,server,index}.ts)')
    .argument('[args...]', 'after --: arguments of the program')
    .option('--stdio', 'serve over stdin and stdout')
    .option('--http', 'serve over HTTP (the default)')
    .option('--env-file <file>', 'read variables from a file; those already set win')
    .addHelpText('after', ENVIRONMENT);
  return command.action(async () => {
    const { stdio, http, envFile } = command.opts<Given>();
    const { entry, args } = operandsOf(command.args);
    if (stdio && http) throw new CommandFailure('Pass either --stdio or --http, not both.', EXIT.usage);
    // imported here, because other commands don't need it
    const { start } = await import('../start/start.js');
    await start(entry, { transport: stdio ? 'stdio' : 'http', isChosen: stdio ?? http ?? false, envFile, args });
  });
}
