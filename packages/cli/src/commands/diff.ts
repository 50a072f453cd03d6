import { Command } from 'commander';

import { collect, headersOf } from '../headers.js';

interface Given {
  readonly against?: string;
  readonly header?: readonly string[];
  readonly envFile?: string;
  readonly json?: true;
}

/** Milliseconds that a running server may take to answer. */
const TIMEOUT_MS = 30_000;

/** `decorum diff` */
export function diffCommand(): Command {
  return new Command('diff')
    .summary('Tells which changes break clients')
    .description('Compares the server with decorum.lock.json, and tells what breaks its clients')
    .argument('[entry]', 'file of the program (default: first of src/{main,server,index}.ts)')
    .option('--against <target>', 'another lock file, or the URL of a running server')
    .option('--header <line>', "send 'name: value' to the URL (repeatable)", collect)
    .option('--env-file <file>', 'read variables from a file; those already set win')
    .option('--json', 'print the differences as JSON')
    .addHelpText('after', '\nExits with 1 if a change breaks clients, and with 3 without a lock file.')
    .action(async (entry: string | undefined, { against, header = [], envFile, json }: Given) => {
      const headers = headersOf(header);
      // imported here, because other commands don't need them
      const [{ diff, exitCodeOf, linesOf }, { jsonText }, { plainText }, { readEnv }] = await Promise.all([
        import('../contract/diff.js'),
        import('../inspect/print.js'),
        import('create-decorum'),
        import('../start/env-file.js'),
      ]);
      readEnv(envFile);
      const found = await diff(entry, { against, headers, timeoutMs: TIMEOUT_MS });
      if (json) process.stdout.write(`${jsonText(found, 2)}\n`);
      else for (const line of linesOf(found)) process.stdout.write(`${plainText(line)}\n`);
      process.exitCode = exitCodeOf(found);
    });
}
