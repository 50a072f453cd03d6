import { Command, InvalidArgumentError } from 'commander';
import { CommandFailure, EXIT } from 'create-decorum';

import { operandsOf } from '../operands.js';

interface Options {
  readonly stdio?: boolean;
  readonly port?: number;
  readonly drain: number;
  readonly inspect?: string | true;
  readonly check?: boolean;
  readonly cwd?: string;
}

function port(value: string): number {
  const number = Number(value);
  if (/^\d+$/.test(value) && number <= 65_535) return number;
  throw new InvalidArgumentError('Pass a number from 0 to 65535.');
}

function seconds(value: string): number {
  const number = Number(value);
  if (/^\d+(\.\d+)?$/.test(value) && number <= 86_400) return number;
  throw new InvalidArgumentError('Pass a number of seconds.');
}

function inspectAddress(given: string | true | undefined): string | undefined {
  if (given === undefined) return undefined;
  if (given === true) return '127.0.0.1:9229';
  return given.includes(':') ? given : `127.0.0.1:${given}`;
}

/** Clients start commands in other folders, and not all of them can be told which one. */
function enter(folder: string): void {
  try {
    process.chdir(folder);
  } catch (error) {
    throw new CommandFailure(`There is no folder ${folder}.`, EXIT.usage, error);
  }
}

/** `decorum dev` */
export function devCommand(): Command {
  const command = new Command('dev')
    .summary('Serves a program and follows your edits')
    .description('Serves a program and follows your edits: its clients stay connected')
    .argument('[entry]', 'file that exports a server, or serves (default: first of src/{main,server,index}.ts)')
    .argument('[args...]', 'after --: arguments of the program')
    .option('--stdio', 'serve over stdin and stdout')
    .option('--port <number>', "port to serve HTTP on (default: the program's, PORT or 3000)", port)
    .option('--drain <seconds>', 'time for calls in flight to end in the old program', seconds, 10)
    .option('--inspect [address]', 'let a debugger attach to the program (default: 127.0.0.1:9229)')
    .option('--check', "print type errors of the project's own TypeScript")
    .option('--cwd <folder>', 'folder of the project (default: the current one)');
  return command.action(async () => {
    const { stdio = false, port: chosenPort, drain, inspect, check = false, cwd } = command.opts<Options>();
    if (cwd !== undefined) enter(cwd);
    const { entry, args } = operandsOf(command.args);
    // imported here, because other commands don't need it
    const { dev } = await import('../dev/dev.js');
    await dev({ entry, args, stdio, port: chosenPort, drainMs: drain * 1000, inspect: inspectAddress(inspect), check });
  });
}
