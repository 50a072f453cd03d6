import { Command } from 'commander';
import { CommandFailure, EXIT } from 'create-decorum';

import { builtEntries } from '../build/built.js';
import { ENTRIES, findEntry } from '../entry.js';
import { start, type StartOptions } from '../start/start.js';

interface Given {
  readonly stdio?: true;
  readonly http?: true;
  readonly envFile?: string;
}

/** `decorum start` */
export function startCommand(): Command {
  return new Command('start')
    .description('Serves a built program, or a TypeScript file as it is')
    .argument('[entry]', 'file to run; default: the built src/{main,server,index}.ts')
    .argument('[args...]', 'arguments of the program, after --')
    .option('--stdio', 'serve over stdin and stdout')
    .option('--http', 'serve over HTTP (the default)')
    .option('--env-file <file>', 'read variables from a file; those already set win')
    .addHelpText('after', ENVIRONMENT)
    .action(async (entry: string | undefined, args: readonly string[], given: Given) => {
      await start(findEntry(entry, [...builtEntries(), ...ENTRIES]), optionsOf(given, args));
    });
}

const ENVIRONMENT = `
Environment, for servers that the entry exports (a program that serves
by itself reads its own):
  PORT           port to listen on, 0 for any that is free; default: 3000
  HOST           address to listen on; default: 127.0.0.1
  ALLOWED_HOSTS  names that clients use for the server, separated by commas;
                 required to listen on a public address`;

function optionsOf({ stdio, http, envFile }: Given, args: readonly string[]): StartOptions {
  if (stdio && http) throw new CommandFailure('Pass either --stdio or --http, not both.', EXIT.usage);
  return { transport: stdio ? 'stdio' : 'http', isChosen: stdio ?? http ?? false, envFile, args };
}
